#include "model/architecture.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "gguf/fault.h"
#include "model/builder.h"

namespace tandem::model {

namespace {

// Converters that put several models into one file write the text model in ways of their own.
bool is_of_other_model(std::string_view tensor) {
    return std::ranges::any_of(
        std::array{"v.", "mm.", "a.", "mtp."},
        [&](std::string_view beginning) { return tensor.starts_with(beginning); });
}

void require_all_read(const gguf::File& file, const graph::Graph& graph, const Builder& builder) {
    std::set<std::string_view> read;
    for (const graph::Value& value : graph.values())
        if (value.kind == graph::Kind::Weight) read.insert(value.rows.tensor);
    for (const gguf::TensorInfo& tensor : file.tensors())
        if (!read.contains(tensor.name) && !builder.is_left_out(tensor.name))
            throw Error(file.path() + ": tensor " + tensor.name + " is not read by architecture " +
                        builder.keys.architecture() + ": " +
                        (is_of_other_model(tensor.name)
                             ? "it is of a model of pictures, of sounds or of drafts, which other "
                               "files keep apart; take one of these"
                             : "the answer would be wrong without it"));
}

}  // namespace

std::optional<int64_t> vocab_of(const gguf::File& file) {
    const gguf::TensorInfo* table = file.find("token_embd.weight");
    if (!table) return {};
    return table->extents[1];
}

std::unique_ptr<graph::Graph> build(const gguf::File& file, const Options& options) {
    std::string name = Hyperparameters(file).architecture();
    std::string known;
    for (const Architecture* architecture : arch_table()) {
        if (architecture->name == name) {
            auto graph = std::make_unique<graph::Graph>();
            Builder builder(file, options, *graph);
            architecture->build(builder);
            require_all_read(file, *graph, builder);
            return graph;
        }
        known += (known.empty() ? "" : ", ") + std::string(architecture->name);
    }
    throw Error(file.path() + ": architecture " + gguf::in_quotes(name) +
                " is not supported; supported are " + known);
}

}  // namespace tandem::model
