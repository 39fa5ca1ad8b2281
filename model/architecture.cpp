#include "model/architecture.h"

#include "gguf/error.h"
#include "model/builder.h"

namespace tandem::model {

std::unique_ptr<graph::Graph> build(const gguf::File& file, const Options& options) {
    std::string name = Hyperparameters(file).architecture();
    std::string known;
    for (const Architecture* architecture : arch_table()) {
        if (architecture->name == name) {
            auto graph = std::make_unique<graph::Graph>();
            Builder builder(file, options, *graph);
            architecture->build(builder);
            return graph;
        }
        known += (known.empty() ? "" : ", ") + std::string(architecture->name);
    }
    throw Error(file.path() + ": architecture \"" + name + "\" is not supported; supported are " +
                known);
}

}  // namespace tandem::model
