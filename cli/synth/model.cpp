#include "cli/synth/model.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "cli/output_file.h"
#include "cli/synth/family.h"
#include "cli/synth/random_rows.h"
#include "gguf/error.h"
#include "gguf/writer.h"
#include "parallel/plan_print.h"

namespace tandem::cli {

namespace fs = std::filesystem;

using gguf::TensorInfo;

namespace {

// Rows are made and written in pieces of about this many bytes.
constexpr int64_t piece_bytes = 4 << 20;
constexpr std::string_view frequencies = "rope_freqs.weight";

// A number for each of something, not a matrix to multiply with: also where it stands in rows of
// one.
bool is_vector(const TensorInfo& tensor) { return tensor.dims == 1 || tensor.row_length() == 1; }

// Norms and scales are around 1, biases around 0, and logarithms of decays below it.
std::vector<float> vector_values(const SyntheticModel& model, const TensorInfo& tensor) {
    if (tensor.name == frequencies) return model.frequencies;
    float mean = 1;
    if (tensor.name.ends_with(".bias")) mean = 0;
    if (tensor.name.ends_with(".ssm_a")) mean = -1;
    std::vector<float> values =
        normals(mix(model.seed) + hash(tensor.name), size_t(tensor.elements()));
    for (float& value : values) value = mean + 0.1f * value;
    return values;
}

const synth::Family& find_family(const Preset& preset) {
    for (const synth::Family* family : synth::families_table())
        if (family->architecture == preset.architecture) return *family;
    throw Error("no family of synthetic models is called " + std::string(preset.architecture));
}

Error cannot_write(const std::string& name, const std::string& why) {
    return Error("cannot write " + name + ": " + why);
}

// Removes a file that has not become what it should be.
class Unfinished {
  public:
    // Beside the one that it is to become, which messages call `name`.
    Unfinished(const fs::path& target, const std::string& name)
        : path_(target.string() + "." + std::to_string(::getpid()) + ".incomplete"), name_(name) {
        const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0) throw cannot_write(name_, std::strerror(errno));
        ::close(file);
    }
    Unfinished(const Unfinished&) = delete;
    ~Unfinished() {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }
    const fs::path& path() const { return path_; }
    void rename_to(const fs::path& target) const {
        std::error_code error;
        fs::rename(path_, target, error);
        if (error) throw cannot_write(name_, error.message());
    }

  private:
    const fs::path path_;
    const std::string name_;
};

bool is_synthetic(const fs::path& path) {
    try {
        const gguf::File file = gguf::File::open(path, gguf::Content::Directory);
        return file.metadata().text("general.name").value_or("").ends_with(synth::end_of_names);
    } catch (const Error&) {
        return false;
    }
}

// Why a finished file must not take the place of what has its name: it takes that of a file only,
// not of a folder or a device, nor of a model that someone would miss. Empty where it may.
std::string objection(const fs::path& target) {
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(target, ignored);
    if (!fs::exists(status)) return {};
    if (fs::is_symlink(status)) return "it is a link that leads nowhere";
    if (!fs::is_regular_file(status)) return "it is there, and not a regular file";
    if (::access(target.c_str(), W_OK) != 0) return std::strerror(errno);
    if (is_model(target) && !is_synthetic(target)) return "it is a model that synth did not make";
    return {};
}

// Where the file goes that messages call `name`: behind all links.
fs::path place_of(const fs::path& path, const std::string& name) {
    std::error_code error;
    fs::path target = fs::weakly_canonical(path, error);
    const std::string why = error ? error.message() : objection(target);
    if (!why.empty()) throw cannot_write(name, why);
    return target;
}

void require_room(const fs::path& file, const std::string& name, int64_t bytes) {
    std::error_code error;
    const auto space = fs::space(file, error);
    if (!error && space.available < uintmax_t(bytes))
        throw cannot_write(name, "it needs " + parallel::in_bytes(double(bytes)) +
                                     ", and its disk has " +
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
    const synth::Family& family = find_family(preset);
    synth::Outline outline(preset, recipe, layers > 0 ? layers : preset.blocks);
    outline.matrix("token_embd", preset.embd, preset.vocab);
    family.model(outline);
    for (int64_t i = 0; i < outline.blocks; ++i) {
        outline.begin_block(i);
        family.block(outline, i);
    }
    outline.end_blocks();
    outline.vector("output_norm", preset.embd);
    if (!preset.tied) outline.matrix("output", preset.embd, preset.vocab);
    return {.metadata = std::move(outline.metadata),
            .tensors = std::move(outline.tensors),
            .frequencies = std::move(outline.frequencies),
            .seed = seed};
}

void write(const SyntheticModel& model, const fs::path& path, const WriteProgress& progress) {
    const std::string name = path.string();
    const fs::path target = place_of(path, name);
    const Unfinished file(target, name);
    write_into(model, file.path(), name, progress);
    file.rename_to(target);
}

void write_into(const SyntheticModel& model, const fs::path& file, const std::string& name,
                const WriteProgress& progress) {
    int64_t done = 0;
    const int64_t total = model.bytes();
    require_room(file, name, total);
    gguf::Writer writer(file, model.metadata, model.tensors, name);
    std::vector<std::byte> piece;
    for (const TensorInfo& tensor : model.tensors) {
        if (is_vector(tensor)) {
            const std::vector<float> values = vector_values(model, tensor);
            writer.write(std::as_bytes(std::span(values)));
            done += tensor.bytes();
            continue;
        }
        const RandomRows rows(tensor.dtype, tensor.row_length(), model.from_bf16);
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
}

}  // namespace tandem::cli
