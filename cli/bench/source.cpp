#include "cli/bench/source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
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

Error unusable(const std::string& folder, const std::string& why) {
    return Error("cannot write a synthetic model to " + folder + ": " + why +
                 "; set TMPDIR to a folder with room for it");
}

fs::path usual_folder() {
    std::error_code error;
    fs::path folder = fs::temp_directory_path(error);
    if (error) throw unusable("the folder for temporary files", error.message());
    return folder;
}

// Not in /tmp where there is a choice: it is often in memory.
fs::path roomy_folder() {
    const fs::path usual = usual_folder(), roomy = "/var/tmp";
    return usual == "/tmp" && ::access(roomy.c_str(), W_OK) == 0 ? roomy : usual;
}

// A file without a name, or one that loses it before anything is written where a file system has no
// such files, so that the disk is free again however the process ends.
class Nameless {
  public:
    explicit Nameless(const fs::path& folder) {
        number_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (number_ >= 0) return;
        std::string path = (folder / "tandem-XXXXXX").string();
        number_ = ::mkostemp(path.data(), O_CLOEXEC);
        if (number_ < 0) throw unusable(folder.string(), std::strerror(errno));
        ::unlink(path.c_str());
    }
    ~Nameless() { ::close(number_); }
    Nameless(const Nameless&) = delete;
    Nameless& operator=(const Nameless&) = delete;
    fs::path path() const { return "/proc/self/fd/" + std::to_string(number_); }

  private:
    int number_;
};

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
    const fs::path folder = roomy_folder();
    const std::string name = (folder / what).string();
    const Nameless nameless(folder);
    Progress progress("making " + what);
    write_into(model, nameless.path(), name, [&](int64_t done, int64_t total) {
        progress.show(done, total);
        return !interrupts.pending();
    });
    return gguf::File::open(nameless.path(), gguf::Content::Full, name);
}

std::string describe_model(const gguf::File& file) {
    const gguf::Metadata& metadata = file.metadata();
    const std::string architecture = metadata.text("general.architecture").value_or("?");
    const auto type = metadata.integer("general.file_type");
    return architecture + " " + std::string(size_class(metadata)) + " " +
           (type ? file_type_name(*type) : "(guessed) " + type_of_most_weights(file));
}

}  // namespace tandem::cli
