#include "cli/synth/model.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "cli/synth/random_rows.h"
#include "cli/synth/vocabulary.h"
#include "gguf/error.h"
#include "gguf/writer.h"
#include "parallel/plan_print.h"

namespace tandem::cli {

using gguf::Metadata;
using gguf::TensorInfo;

namespace {

// Rows are made and written in pieces of about this many bytes.
constexpr int64_t piece_bytes = 4 << 20;
constexpr std::string_view frequencies = "rope_freqs.weight";

struct Designer {
    const Preset& preset;
    const Recipe recipe;
    int64_t blocks;
    std::vector<TensorInfo> tensors;

    void vector(std::string name, int64_t length) {
        tensors.push_back({.name = std::move(name), .dims = 1, .extents = {length, 1, 1, 1}});
    }
    void matrix(std::string name, int64_t columns, int64_t rows, int64_t experts = 0) {
        TensorInfo tensor{.name = std::move(name),
                          .dims = experts > 0 ? 3 : 2,
                          .extents = {columns, rows, std::max<int64_t>(1, experts), 1}};
        tensor.dtype = choose_type(recipe, preset, blocks, tensor);
        tensors.push_back(std::move(tensor));
    }

    void block(int64_t number) {
        const std::string prefix = "blk." + std::to_string(number) + ".";
        const int64_t embd = preset.embd;
        const int64_t q = preset.heads * preset.head_size, kv = preset.kv_heads * preset.head_size;
        vector(prefix + "attn_norm.weight", embd);
        matrix(prefix + "attn_q.weight", embd, q);
        matrix(prefix + "attn_k.weight", embd, kv);
        matrix(prefix + "attn_v.weight", embd, kv);
        if (preset.architecture != "llama") {
            vector(prefix + "attn_q_norm.weight", preset.head_size);
            vector(prefix + "attn_k_norm.weight", preset.head_size);
        }
        matrix(prefix + "attn_output.weight", q, embd);
        vector(prefix + "ffn_norm.weight", embd);
        std::string kind = ".weight";
        if (preset.experts > 0) {
            tensors.push_back({.name = prefix + "ffn_gate_inp.weight",
                               .dims = 2,
                               .extents = {embd, preset.experts, 1, 1}});
            kind = "_exps.weight";
        }
        matrix(prefix + "ffn_gate" + kind, embd, preset.ffn, preset.experts);
        matrix(prefix + "ffn_up" + kind, embd, preset.ffn, preset.experts);
        matrix(prefix + "ffn_down" + kind, preset.ffn, embd, preset.experts);
    }

    void all() {
        matrix("token_embd.weight", preset.embd, preset.vocab);
        if (preset.rope_factor > 0) vector(std::string(frequencies), preset.head_size / 2);
        for (int64_t i = 0; i < blocks; ++i) block(i);
        vector("output_norm.weight", preset.embd);
        if (!preset.tied) matrix("output.weight", preset.embd, preset.vocab);
    }
};

Metadata make_metadata(const Preset& preset, const Recipe& recipe, int64_t blocks) {
    Metadata metadata;
    const std::string prefix = std::string(preset.architecture) + ".";
    auto number = [&](const char* key, int64_t value) {
        metadata.set_u32(prefix + key, uint32_t(value));
    };
    metadata.set_string("general.architecture", std::string(preset.architecture));
    metadata.set_string("general.type", "model");
    metadata.set_string("general.name", std::string(preset.title) + ", random weights");
    metadata.set_string("general.size_label", std::string(preset.size));
    metadata.set_u32("general.file_type", file_type(recipe));
    metadata.set_u32("general.quantization_version", 2);
    number("vocab_size", preset.vocab);
    number("context_length", preset.context);
    number("embedding_length", preset.embd);
    number("block_count", blocks);
    number("feed_forward_length", preset.ffn * std::max<int64_t>(1, preset.used));
    if (preset.experts > 0) {
        number("expert_count", preset.experts);
        number("expert_used_count", preset.used);
        // Mixtral's width of an expert is its feed_forward_length.
        if (preset.architecture == "llama")
            number("feed_forward_length", preset.ffn);
        else
            number("expert_feed_forward_length", preset.ffn);
    }
    number("attention.head_count", preset.heads);
    number("attention.head_count_kv", preset.kv_heads);
    number("attention.key_length", preset.head_size);
    number("attention.value_length", preset.head_size);
    number("rope.dimension_count", preset.head_size);
    metadata.set_f32(prefix + "rope.freq_base", float(preset.rope_base));
    metadata.set_f32(prefix + "attention.layer_norm_rms_epsilon",
                     preset.architecture == "llama" ? 1e-5f : 1e-6f);
    add_vocabulary(metadata, preset.vocabulary, preset.vocab);
    return metadata;
}

// Llama 3's: long wavelengths are stretched by the factor, short ones kept, with a ramp between
// (Grattafiori et al. 2024).
std::vector<float> stretched(const Preset& preset) {
    constexpr double low = 1, high = 4, original = 8192;
    const int64_t count = preset.head_size / 2;
    std::vector<float> factors;
    for (int64_t i = 0; i < count; ++i) {
        const double wavelength =
            2 * std::numbers::pi * std::pow(preset.rope_base, double(i) / double(count));
        const double u = std::clamp((original / wavelength - low) / (high - low), 0.0, 1.0);
        factors.push_back(float(1 / ((1 - u) / preset.rope_factor + u)));
    }
    return factors;
}

// Norms are around 1.
std::vector<float> vector_values(const SyntheticModel& model, const TensorInfo& tensor) {
    if (tensor.name == frequencies) return model.frequencies;
    std::vector<float> values =
        normals(mix(model.seed) + hash(tensor.name), size_t(tensor.elements()));
    for (float& value : values) value = 1 + 0.1f * value;
    return values;
}

// Removes a file that has not become what it should be.
class Unfinished {
  public:
    explicit Unfinished(std::filesystem::path path) : path_(std::move(path)) {}
    Unfinished(const Unfinished&) = delete;
    ~Unfinished() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }
    void rename_to(const std::filesystem::path& target) const {
        std::error_code error;
        std::filesystem::rename(path_, target, error);
        if (error) throw Error("cannot write " + target.string() + ": " + error.message());
    }

  private:
    std::filesystem::path path_;
};

// A finished file takes the place of what has its name: of a file only, not of a folder or a
// device.
void require_file(const std::filesystem::path& path) {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw Error("cannot write " + path.string() + ": it is there, and not a regular file");
}

void require_room(const std::filesystem::path& path, int64_t bytes) {
    std::error_code error;
    const auto space = std::filesystem::space(std::filesystem::absolute(path).parent_path(), error);
    if (!error && space.available < uintmax_t(bytes))
        throw Error("cannot write " + path.string() + ": it needs " +
                    parallel::in_bytes(double(bytes)) + ", and its disk has " +
                    parallel::in_bytes(double(space.available)) +
                    " left; fewer layers (--layers) need less");
}

}  // namespace

int64_t SyntheticModel::bytes() const {
    int64_t sum = 0;
    for (const TensorInfo& tensor : tensors) sum += tensor.bytes();
    return sum;
}

SyntheticModel design(std::string_view what, int64_t layers, uint64_t seed) {
    const size_t colon = what.find(':');
    if (colon == std::string_view::npos)
        throw Error("\"" + std::string(what) +
                    "\" is not a preset and a type, such as llama-1b:Q4_K_M");
    return design(find_preset(what.substr(0, colon)), find_recipe(what.substr(colon + 1)), layers,
                  seed);
}

SyntheticModel design(const Preset& preset, const Recipe& recipe, int64_t layers, uint64_t seed) {
    if (layers < 0 || layers > preset.blocks)
        throw Error("--layers " + std::to_string(layers) + ": " + std::string(preset.title) +
                    " has " + std::to_string(preset.blocks) + " layers");
    Designer designer{
        .preset = preset, .recipe = recipe, .blocks = layers > 0 ? layers : preset.blocks};
    designer.all();
    SyntheticModel model{.metadata = make_metadata(preset, designer.recipe, designer.blocks),
                         .tensors = std::move(designer.tensors),
                         .seed = seed};
    if (preset.rope_factor > 0) model.frequencies = stretched(preset);
    return model;
}

void write(const SyntheticModel& model, const std::filesystem::path& path,
           const WriteProgress& progress) {
    int64_t done = 0;
    const int64_t total = model.bytes();
    require_file(path);
    require_room(path, total);
    const Unfinished file(path.string() + ".incomplete");
    gguf::Writer writer(file.path(), model.metadata, model.tensors);
    std::vector<std::byte> piece;
    for (const TensorInfo& tensor : model.tensors) {
        if (tensor.dims == 1) {
            const std::vector<float> values = vector_values(model, tensor);
            writer.write(std::as_bytes(std::span(values)));
            done += tensor.bytes();
            continue;
        }
        const RandomRows rows(tensor.dtype, tensor.row_length());
        const uint64_t seed = mix(model.seed) + hash(tensor.name);
        const int64_t most = std::max<int64_t>(1, piece_bytes / rows.row_bytes());
        for (int64_t first = 0; first < tensor.rows(); first += most) {
            const int64_t count = std::min(most, tensor.rows() - first);
            piece.resize(size_t(count * rows.row_bytes()));
            for (int64_t i = 0; i < count; ++i)
                rows.fill(mix(seed + uint64_t(first + i)),
                          std::span(piece).subspan(size_t(i * rows.row_bytes()),
                                                   size_t(rows.row_bytes())));
            writer.write(piece);
            done += int64_t(piece.size());
            if (progress && !progress(done, total)) throw Error("interrupted");
        }
    }
    writer.finish();
    file.rename_to(path);
}

}  // namespace tandem::cli
