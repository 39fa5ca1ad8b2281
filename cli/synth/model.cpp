#include "cli/synth/model.h"

#include <algorithm>
#include <string>

#include "cli/synth/family.h"
#include "cli/synth/random_rows.h"
#include "gguf/error.h"
#include "gguf/writer.h"
#include "parallel/plan_print.h"

namespace tandem::cli {

using gguf::TensorInfo;

namespace {

// Rows are made and written in pieces of about this many bytes.
constexpr int64_t piece_bytes = 4 << 20;
constexpr std::string_view frequencies = "rope_freqs.weight";

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
