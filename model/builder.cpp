#include "model/builder.h"

#include <algorithm>
#include <cmath>

#include "gguf/error.h"

namespace tandem::model {

namespace {

constexpr int64_t most_blocks = 512;  // as in the other engines that read these files

std::string in_words(const Shape& axes) {
    std::string text;
    for (Axis axis : axes) {
        if (!text.empty()) text += ", ";
        text += std::string(role(axis)) + " " + std::to_string(axis->extent);
    }
    return text.empty() ? "one value" : text;
}

std::string in_words(const gguf::TensorInfo& tensor) {
    std::string text;
    for (int i = 0; i < tensor.dims; ++i)
        text += (i > 0 ? " x " : "") + std::to_string(tensor.extents[size_t(i)]);
    return text;
}

// True if the first axes, one or more, have that many elements together.
bool begins_with(const Shape& axes, int64_t count) {
    int64_t product = 1;
    for (Axis axis : axes) {
        product *= axis->extent;
        if (product == count) return true;
    }
    return false;
}

// The same of the last axes, not all of them.
bool ends_with(const Shape& axes, int64_t count) {
    return begins_with({axes.rbegin(), axes.rend() - 1}, count);
}

// "blk.3.attn_q" of "blk.3.attn_q.weight"
std::string without_suffix(const std::string& path) {
    std::string_view suffix = ".weight";
    return path.ends_with(suffix) ? path.substr(0, path.size() - suffix.size()) : path;
}

}  // namespace

Builder::Builder(const gguf::File& file, const Options& options, Graph& graph)
    : file(file), options(options), keys(file), graph(graph) {
    const gguf::TensorInfo* table = file.find("token_embd.weight");
    if (!table)
        throw Error(file.path() + ": tensor token_embd.weight is missing: " +
                    (file.tensors().empty() ? "the file holds a vocabulary only, no model"
                                            : "the file is not a complete model"));
    if (table->extents[1] > Hyperparameters::largest_extent)
        throw Error(file.path() + ": tensor token_embd.weight has " +
                    std::to_string(table->extents[1]) + " rows, expected at most " +
                    std::to_string(Hyperparameters::largest_extent));
    if (options.context < 1 || options.context > Hyperparameters::largest_extent)
        throw Error("a context of " + std::to_string(options.context) +
                    " tokens is not possible; choose 1 to " +
                    std::to_string(Hyperparameters::largest_extent));
    embd = graph.axis("embd", keys.extent("embedding_length"));
    vocab = graph.axis("vocab", table->extents[1]);
    epsilon = keys.real("attention.layer_norm_rms_epsilon");
    if (!(epsilon >= 0) || !std::isfinite(epsilon))
        throw Error(file.path() + ": key " + keys.architecture() +
                    ".attention.layer_norm_rms_epsilon is " + std::to_string(epsilon) +
                    ", expected a number from 0");
    if (!keys.boolean("attention.causal", true))
        throw Error(file.path() + ": key " + keys.architecture() +
                    ".attention.causal is false: the model makes embeddings and writes no text");
}

Tensor Builder::positions() { return graph.input("positions"); }

int Builder::layers() const {
    int64_t count = keys.integer("block_count");
    if (count < 1 || count > most_blocks)
        throw Error(file.path() + ": key " + keys.architecture() + ".block_count is " +
                    std::to_string(count) + ", expected 1 to " + std::to_string(most_blocks));
    return int(count) - drafts_;
}

Axis Builder::slots() { return graph.axis("slots", options.slots); }

bool Builder::is_left_out(std::string_view path) const {
    // The scales of activations are for engines that round those to NVFP4.
    if (path.ends_with(".input_scale")) return true;
    return std::any_of(left_out_.begin(), left_out_.end(), [&](const std::string& beginning) {
        return path.substr(0, beginning.size()) == beginning;
    });
}

void Builder::leave_out_drafts() {
    int64_t drafts = keys.integer("nextn_predict_layers", 0);
    if (drafts < 0 || drafts >= layers())
        throw Error(file.path() + ": key " + keys.architecture() + ".nextn_predict_layers is " +
                    std::to_string(drafts) + " of " + std::to_string(layers()) + " blocks");
    drafts_ = int(drafts);
    for (int64_t i = 0; i < drafts; ++i) leave_out("blk." + std::to_string(layers() + i) + ".");
}

int64_t Builder::even_head_size() const {
    return embd->extent / keys.extent_of_layer("attention.head_count", 0);
}

int64_t Builder::head_size() const { return keys.extent("attention.key_length", even_head_size()); }

Layer Builder::layer(int index) {
    graph.begin_layer(index);
    return Layer(*this, index);
}

std::vector<Tensor> Builder::weights(const std::string& path, const Layout& rows,
                                     const Shape& columns) {
    const gguf::TensorInfo* tensor = file.find(path);
    if (!tensor)
        throw Error(file.path() + ": tensor " + path + " is missing (expected " +
                    in_words(columns) + " x " + in_words(rows.outer) + ")");
    // A vector's elements are its rows.
    int64_t row_length = columns.empty() ? 1 : tensor->extents[0];
    int64_t stored_rows = tensor->elements() / row_length;
    int dims = tensor->dims;  // some files keep extents of 1 behind the last
    while (dims > 1 && tensor->extents[size_t(dims - 1)] == 1) --dims;
    std::vector<graph::Part> parts = separate(rows);
    bool stacked = dims <= 2 || rows.outer.empty() ||
                   begins_with(rows.outer, tensor->extents[size_t(dims - 1)]);
    if (columns.empty() && dims >= 2)
        stacked = stacked && std::ranges::all_of(parts, [&](const graph::Part& part) {
                      return part.axes.size() < 2 || ends_with(part.axes, tensor->extents[0]);
                  });
    if (row_length != elements(columns) || stored_rows != graph::rows(rows) || !stacked) {
        std::string expected = columns.empty() ? "" : "rows of " + in_words(columns) + ", ";
        throw Error(file.path() + ": tensor " + path + " is " + in_words(*tensor) + ", expected " +
                    expected + std::to_string(graph::rows(rows)) + " rows" +
                    (rows.parts.empty() ? " (" + in_words(rows.outer) + ")" : ""));
    }
    if (columns.empty() && !gguf::is_plain(tensor->dtype))
        throw Error(file.path() + ": tensor " + path + " is a vector of type " +
                    std::string(gguf::name(tensor->dtype)) + ", expected F32, F16 or BF16");
    std::vector<Tensor> found;
    for (size_t i = 0; i < parts.size(); ++i) {
        std::string name = without_suffix(path);
        if (parts.size() > 1) name += "." + std::to_string(i);
        found.push_back(
            graph.weight(name, tensor->dtype, parts[i].axes, columns,
                         {.tensor = path, .first = parts[i].first, .strides = parts[i].strides}));
    }
    return found;
}

Tensor Builder::weight(const std::string& path, const Shape& rows, const Shape& columns) {
    return weights(path, Layout(rows), columns)[0];
}

Tensor Builder::vector(const std::string& path, const Shape& axes) {
    return weights(path, Layout(axes), {})[0];
}

void Builder::require(std::string_view path) const {
    if (!has(path)) throw Error(file.path() + ": tensor " + std::string(path) + " is missing");
}

std::string Layer::path(std::string_view name) const {
    return "blk." + std::to_string(index) + "." + std::string(name);
}

Axis Layer::axis(std::string_view role, int64_t extent) {
    return model.graph.axis(path(role), extent);
}

bool Layer::has(std::string_view name) const { return model.has(path(name)); }

void Layer::require(std::string_view name) const { model.require(path(name)); }

Tensor Layer::weight(std::string_view name, const Shape& rows, const Shape& columns) {
    return model.weight(path(name) + ".weight", rows, columns);
}

Tensor Layer::vector(std::string_view name, const Shape& axes) {
    return model.vector(path(name), axes);
}

AttentionAxes Layer::attention_axes(int64_t head_size) {
    const Hyperparameters& keys = model.keys;
    int64_t heads = keys.extent_of_layer("attention.head_count", index);
    int64_t kv_heads = keys.extent_of_layer("attention.head_count_kv", index, heads);
    if (heads % kv_heads != 0)
        throw Error(model.file.path() + ": block " + std::to_string(index) + " has " +
                    std::to_string(heads) + " heads and " + std::to_string(kv_heads) +
                    " kv heads, expected a multiple");
    int64_t size = head_size > 0 ? head_size : model.head_size();
    int64_t value_size =
        head_size > 0 ? size : keys.extent("attention.value_length", model.even_head_size());
    AttentionAxes axes{.kv_heads = axis("kv_heads", kv_heads),
                       .q_per_kv = axis("q_per_kv", heads / kv_heads),
                       .d = axis("d", size)};
    axes.dv = value_size == size ? axes.d : axis("dv", value_size);
    return axes;
}

int64_t Layer::ffn_width() const {
    return model.keys.extent_of_layer("feed_forward_length", index);
}

Tensor Layer::cells(std::string_view name, gguf::DType dtype, const Shape& heads, Axis size,
                    int64_t window) {
    const Options& options = model.options;
    // A step writes its tokens before its first one looks back.
    int64_t ring = std::min(options.context, window + options.step - 1);
    Axis cells = window > 0 ? model.graph.axis("window_cells", ring)
                            : model.graph.axis("cells", options.context);
    int64_t block = gguf::traits(dtype).block;
    if (size->extent % block != 0)
        throw Error(model.file.path() + ": a cache of type " + std::string(gguf::name(dtype)) +
                    " needs heads of a multiple of " + std::to_string(block) +
                    " elements, these have " + std::to_string(size->extent) + "; choose f16");
    return model.graph.state(path(name), dtype, Shape{model.slots()} + heads + Shape{cells},
                             {size});
}

Tensor Layer::cells(std::string_view name, const Shape& heads, Axis size) {
    return cells(name, model.options.key_type, heads, size, 0);
}

Cache Layer::cache(const AttentionAxes& axes, int64_t window) {
    Shape heads{axes.kv_heads};
    return {cells("k_cache", model.options.key_type, heads, axes.d, window),
            cells("v_cache", model.options.value_type, heads, axes.dv, window)};
}

}  // namespace tandem::model
