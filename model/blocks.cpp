#include "model/blocks.h"

#include <array>
#include <cmath>

#include "gguf/error.h"
#include "gguf/fault.h"

namespace tandem::model {

Tensor embedding(Builder& model) {
    Tensor table = model.weight("token_embd.weight", {model.vocab}, {model.embd});
    return embed(table, model.graph.input("ids"));
}

void head(Builder& model, Tensor x, double soft_cap) {
    // Still where the last block is, so that only the wanted rows travel.
    Tensor h = model.graph.begin_head(x);
    model.graph.begin_layer(model.layers());
    h = rms_norm(h, model.vector("output_norm.weight", {model.embd}), model.epsilon);
    const char* table = model.has("output.weight") ? "output.weight" : "token_embd.weight";
    Tensor logits = linear(h, model.weight(table, {model.vocab}, {model.embd}));
    if (model.has("output.bias")) logits = add(logits, model.vector("output.bias", {model.vocab}));
    if (soft_cap > 0) logits = graph::soft_cap(logits, soft_cap);
    model.graph.set_result(logits);
}

namespace {

// How positions beyond the trained ones are reached: the file's word, "linear" without one.
std::string rope_scaling(const Builder& model) {
    std::string type = model.keys.text("rope.scaling.type", "linear");
    for (std::string_view known : {"none", "linear", "yarn", "longrope"})
        if (type == known) return type;
    throw Error(model.file.path() + ": key " + model.keys.architecture() +
                ".rope.scaling.type is " + gguf::in_quotes(type) +
                ", known are none, linear, yarn and longrope");
}

// 1 where the file gives none, or 0.
double rope_scale(const Builder& model) {
    for (std::string_view key : {"rope.scaling.factor", "rope.scale_linear"})
        if (model.keys.finite(key, 0) != 0) return model.keys.positive(key, 1);
    return 1;
}

void require_rotated(const Builder& model, const char* key, int64_t dims, int64_t head_size) {
    if (dims % 2 != 0 || dims > head_size)
        throw Error(model.file.path() + ": key " + model.keys.architecture() + "." + key + " is " +
                    std::to_string(dims) + ", expected an even number up to the head size " +
                    std::to_string(head_size));
}

int64_t original_context(const Builder& model) {
    return model.keys.extent("rope.scaling.original_context_length",
                             model.keys.extent("context_length"));
}

}  // namespace

Rope rope_parameters(const Builder& model, bool halves) {
    return rope_parameters(model, halves, model.head_size());
}

Rope rope_parameters(const Builder& model, bool halves, int64_t head_size) {
    const double base = model.keys.positive("rope.freq_base", 10000);
    return rope_parameters(model, halves, head_size, base);
}

Rope rope_parameters(const Builder& model, bool halves, int64_t head_size, double base) {
    const Hyperparameters& keys = model.keys;
    Rope rope{.dims = int(keys.extent("rope.dimension_count", head_size)),
              .base = base,
              .halves = halves};
    require_rotated(model, "rope.dimension_count", rope.dims, head_size);
    std::string type = rope_scaling(model);
    if (type != "none") rope.scale = rope_scale(model);
    rope.magnitude = keys.positive("rope.scaling.attn_factor", 1);
    if (type != "yarn") return rope;
    auto original = double(original_context(model));
    double fast = keys.positive("rope.scaling.yarn_beta_fast", 32);
    double slow = keys.positive("rope.scaling.yarn_beta_slow", 1);
    rope.extrapolation = 1;
    rope.low = std::max(0.0, std::floor(yarn_correction(rope, fast, original)));
    rope.high = std::min(rope.dims - 1.0, std::ceil(yarn_correction(rope, slow, original)));
    if (rope.scale > 1) rope.magnitude *= 1 + 0.1 * std::log(rope.scale);
    return rope;
}

Tensor rope_factors(Builder& model, const Rope& rope) {
    Shape pairs{model.graph.axis("rope_pairs", rope.dims / 2)};
    if (rope_scaling(model) == "longrope") {
        const char *set = "rope_factors_short.weight", *other = "rope_factors_long.weight";
        if (model.options.context > original_context(model)) std::swap(set, other);
        model.leave_out(other);
        return model.vector(set, pairs);
    }
    if (!model.has("rope_freqs.weight")) return {};
    return model.vector("rope_freqs.weight", pairs);
}

Rope windowed_rope(const Builder& model, const Rope& full, double base, int64_t head_size) {
    const Hyperparameters& keys = model.keys;
    int64_t dims = std::min<int64_t>(full.dims, head_size);
    Rope rope{.dims = int(keys.extent("rope.dimension_count_swa", dims)),
              .base = keys.positive("rope.freq_base_swa", base),
              .halves = full.halves,
              .magnitude = keys.positive("rope.scaling.attn_factor", 1)};
    require_rotated(model, "rope.dimension_count_swa", rope.dims, head_size);
    return rope;
}

double yarn_magnitude(const Rope& rope, double multiplier) {
    return rope.scale > 1 ? 1 + 0.1 * multiplier * std::log(rope.scale) : 1;
}

namespace {

// Pairs of the four dimensions of a position; zeros where the file has none.
std::array<int64_t, 4> position_sections(const Builder& model) {
    constexpr std::string_view key = "rope.dimension_sections";
    std::vector<int64_t> sections = model.keys.list(key);
    if (sections.size() == 1) sections.assign(4, sections[0]);
    sections.resize(4, 0);
    for (const int64_t pairs : sections)
        if (pairs < 0 || pairs > Hyperparameters::largest_extent)
            throw Error(model.file.path() + ": key " + model.keys.architecture() + "." +
                        std::string(key) + " has " + std::to_string(pairs) + ", expected 0 to " +
                        std::to_string(Hyperparameters::largest_extent));
    return {sections[0], sections[1], sections[2], sections[3]};
}

}  // namespace

bool has_position_sections(const Builder& model) {
    const auto sections = position_sections(model);
    return sections[0] > 0 && sections[1] > 0;
}

void require_text_positions(const Builder& model, Sections dealt) {
    if (dealt == Sections::InOrder && !has_position_sections(model)) return;
    const auto [t, h, w, last] = position_sections(model);
    const int64_t all = t + h + w + last, by_turns[] = {3 * t, 3 * h, 3 * w};
    for (int64_t pair = 0; all > 0 && pair < model.rope.dims / 2; ++pair) {
        const int64_t at = pair % all;
        if (at < (dealt == Sections::ByTurns ? by_turns[at % 3] : t + h + w)) continue;
        throw Error(model.file.path() + ": key " + model.keys.architecture() +
                    ".rope.dimension_sections gives pair " + std::to_string(pair) +
                    " to a fourth dimension, in which text has no positions");
    }
}

Tensor tempered(Layer& layer, Tensor q) {
    const Hyperparameters& keys = layer.model.keys;
    double beta = keys.finite("attention.temperature_scale", 0);
    if (beta == 0) return q;
    int64_t length = keys.extent("attention.temperature_length", original_context(layer.model));
    return temper(q, layer.model.positions(), beta, double(length));
}

int64_t window_of(const Layer& layer, int64_t period) {
    const Hyperparameters& keys = layer.model.keys;
    auto pattern = keys.list("attention.sliding_window_pattern");
    bool slides;
    if (pattern.size() > 1 || period == 0) {
        slides = keys.of_layer("attention.sliding_window_pattern", layer.index) != 0;
    } else {
        if (!pattern.empty()) period = pattern[0];
        if (period < 0)
            throw Error(layer.model.file.path() + ": key " + keys.architecture() +
                        ".attention.sliding_window_pattern is " + std::to_string(period) +
                        ", expected a number from 0");
        slides = period == 0 || layer.index % period < period - 1;
    }
    return slides ? keys.extent("attention.sliding_window") : 0;
}

Tensor norm(Layer& layer, Tensor x, std::string_view name, const Shape& axes) {
    Tensor weight = layer.vector(std::string(name) + ".weight", axes);
    return rms_norm(x, weight, layer.model.epsilon);
}

namespace {

// y times the block's scale `name`.scale, where the file has one. Converters write them beside
// weights of few exponent bits, such as NVFP4.
Tensor scaled(Layer& layer, Tensor y, std::string_view name) {
    std::string scale = std::string(name) + ".scale";
    return layer.has(scale) ? mul(y, layer.vector(scale, {})) : y;
}

Tensor biased(Layer& layer, Tensor y, std::string_view name, const Shape& rows) {
    std::string bias = std::string(name) + ".bias";
    return layer.has(bias) ? add(y, layer.vector(bias, rows)) : y;
}

}  // namespace

Tensor projection(Layer& layer, Tensor x, std::string_view name, const Shape& rows,
                  const Shape& columns) {
    Tensor y = scaled(layer, linear(x, layer.weight(name, rows, columns)), name);
    return biased(layer, y, name, rows);
}

std::vector<Tensor> projections(Layer& layer, Tensor x, std::string_view name, const Layout& rows,
                                const Shape& columns) {
    Builder& model = layer.model;
    std::string path = layer.path(name);
    std::vector<Tensor> all;
    for (const Tensor& weight : model.weights(path + ".weight", rows, columns))
        all.push_back(scaled(layer, linear(x, weight), name));
    if (!model.has(path + ".bias")) return all;
    std::vector<Tensor> biases = model.weights(path + ".bias", rows, {});
    for (size_t i = 0; i < all.size(); ++i) all[i] = add(all[i], biases[i]);
    return all;
}

Projections qkv(Layer& layer, Tensor h, const AttentionAxes& axes) {
    Shape query{axes.kv_heads, axes.q_per_kv, axes.d}, key{axes.kv_heads, axes.d};
    Shape value{axes.kv_heads, axes.dv}, columns{layer.model.embd};
    if (!layer.has("attn_qkv.weight"))
        return {projection(layer, h, "attn_q", query, columns),
                projection(layer, h, "attn_k", key, columns),
                projection(layer, h, "attn_v", value, columns)};
    Layout parts({}, {Layout(query), Layout(key), Layout(value)});
    auto all = projections(layer, h, "attn_qkv", parts, columns);
    return {all[0], all[1], all[2]};
}

Tensor rotate(Layer& layer, Tensor x) {
    return rope(x, layer.model.positions(), layer.model.rope, layer.model.rope_factors);
}

Tensor rotary_attention(Layer& layer, Tensor h, HeadNorms norms) {
    AttentionAxes axes = layer.attention_axes();
    auto [kv_heads, q_per_kv, d, dv] = axes;
    bool normed = norms == HeadNorms::Required ||
                  (norms == HeadNorms::Optional && layer.has("attn_q_norm.weight"));
    auto [q, k, v] = qkv(layer, h, axes);
    if (normed) {
        q = norm(layer, q, "attn_q_norm", {d});
        k = norm(layer, k, "attn_k_norm", {d});
    }
    q = rotate(layer, q);
    k = rotate(layer, k);
    Tensor mixed = attend(q, k, v, layer.cache(axes), 1 / std::sqrt(double(d->extent)));
    return projection(layer, mixed, "attn_output", {layer.model.embd}, {kv_heads, q_per_kv, dv});
}

Tensor dense_ffn(Layer& layer, Tensor h, int64_t width, std::string_view activation) {
    return gated_ffn(layer, h, layer.axis("ffn", width), activation, "");
}

Tensor gated_ffn(Layer& layer, Tensor h, Axis ffn, std::string_view activation,
                 std::string_view suffix) {
    Axis embd = layer.model.embd;
    auto product = [&](Tensor x, std::string name, const Shape& rows, const Shape& columns) {
        name += suffix;
        Tensor y = biased(layer, linear(x, layer.weight(name, rows, columns)), name, rows);
        return scaled(layer, y, name);
    };
    Tensor gate = product(h, "ffn_gate", {ffn}, {embd});
    Tensor up = product(h, "ffn_up", {ffn}, {embd});
    return product(glu(gate, up, activation), "ffn_down", {embd}, {ffn});
}

}  // namespace tandem::model
