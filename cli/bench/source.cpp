#include "cli/bench/source.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/interrupts.h"
#include "cli/progress.h"
#include "cli/synth/model.h"
#include "cli/synth/presets.h"
#include "cli/synth/recipe.h"
#include "gguf/error.h"

namespace tandem::cli {

namespace fs = std::filesystem;

namespace {

// Not in /tmp where there is a choice: it is often in memory.
fs::path roomy_folder() {
    const fs::path usual = fs::temp_directory_path(), roomy = "/var/tmp";
    return usual == "/tmp" && ::access(roomy.c_str(), W_OK) == 0 ? roomy : usual;
}

std::string type_of_most_weights(const gguf::File& file) {
    std::map<gguf::DType, int64_t> bytes;
    for (const gguf::TensorInfo& tensor : file.tensors()) bytes[tensor.dtype] += tensor.bytes();
    auto most = std::max_element(bytes.begin(), bytes.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == bytes.end()) return "";
    const std::string name(gguf::name(most->first));
    return file_type_name(file_type(find_recipe(name)));
}

}  // namespace

gguf::File open_synthetic(const std::string& what, int64_t layers, const Interrupts& interrupts) {
    const SyntheticModel model = design(what, layers, 0);
    const fs::path path = roomy_folder() / ("tandem-" + std::to_string(::getpid()) + ".gguf");
    Progress progress("making " + what);
    write(model, path, [&](int64_t done, int64_t total) {
        progress.show(done, total);
        return !interrupts.pending();
    });
    try {
        gguf::File file = gguf::File::open(path);
        fs::remove(path);
        return file;
    } catch (...) {
        fs::remove(path);
        throw;
    }
}

std::string describe_model(const gguf::File& file) {
    const gguf::Metadata& metadata = file.metadata();
    const std::string architecture = metadata.text("general.architecture").value_or("?");
    const auto type = metadata.integer("general.file_type");
    return architecture + " " + std::string(size_class(metadata)) + " " +
           (type ? file_type_name(*type) : "(guessed) " + type_of_most_weights(file));
}

}  // namespace tandem::cli
