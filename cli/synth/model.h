// A model with random weights and the dimensions of a published one: its directory, and the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/synth/presets.h"
#include "cli/synth/recipe.h"
#include "gguf/file.h"

namespace tandem::cli {

struct SyntheticModel {
    gguf::Metadata metadata;
    std::vector<gguf::TensorInfo> tensors;
    std::vector<float> frequencies;  // of rope_freqs.weight
    uint64_t seed = 0;
    bool from_bf16 = false;  // numbers of F32 and F16 matrices are among those of BF16

    int64_t bytes() const;  // of all tensors
};

// `what` is a preset and a type, "llama-1b:Q4_K_M"; `layers` cuts the number of blocks (0: all).
// Throws Error for what does not exist, naming what does.
SyntheticModel design(std::string_view what, int64_t layers, uint64_t seed);
SyntheticModel design(const Preset& preset, const Recipe& recipe, int64_t layers, uint64_t seed);

// Bytes written, and all of them; false to give up.
using WriteProgress = std::function<bool(int64_t done, int64_t total)>;
// Creates or replaces the file, which appears only when it is complete. Throws Error, also where
// the disk has no room for it, where a model is there that was not made so, and "interrupted".
void write(const SyntheticModel& model, const std::filesystem::path& path,
           const WriteProgress& progress = {});
// The same, into a file that is there already and stays whatever happens; messages call it `name`.
void write_into(const SyntheticModel& model, const std::filesystem::path& file,
                const std::string& name, const WriteProgress& progress = {});

}  // namespace tandem::cli
