// Which tensor of a model gets which type: what a name such as "Q4_K_M" stands for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/synth/presets.h"
#include "gguf/file.h"

namespace tandem::cli {

struct Recipe {
    std::string_view name;  // "Q4_K_M", or that of a type
    gguf::DType dtype;      // of most matrices
    // Of the values and the inputs of the feed-forward network's last matrix, in some blocks; the
    // same as dtype where there is no mixture.
    gguf::DType better;
    enum class Where { Nowhere, First, Spread } where = Where::Nowhere;
    // True: in models with experts the type is theirs, and all else is Q8_0, as published.
    bool experts_alone = false;
};

// A mixture, or any type that tandem reads. Throws Error naming those that exist.
Recipe find_recipe(std::string_view name);

// The type of a matrix; vectors and routers stay F32.
gguf::DType choose_type(const Recipe& recipe, const Preset& preset, int64_t blocks,
                        const gguf::TensorInfo& tensor);

// What general.file_type says, and how tables of measurements name it: "Q4_K - Medium".
uint32_t file_type(const Recipe& recipe);
std::string file_type_name(int64_t file_type);

}  // namespace tandem::cli
