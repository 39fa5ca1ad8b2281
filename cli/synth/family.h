// What the files of one architecture hold. Each family is a file of families/.
#pragma once

#include <span>

#include "cli/synth/outline.h"
#include "cli/synth/presets.h"

namespace tandem::cli::synth {

struct Family {
    std::string_view architecture;  // value of general.architecture
    std::span<const Preset> presets;
    // Keys of its own, and tensors outside of blocks but for the tables of embeddings.
    void (*model)(Outline& outline);
    // The tensors of a block.
    void (*block)(Outline& outline, int64_t index);
};

// All of them, in alphabetical order; made from the files of families/.
std::span<const Family* const> families_table();

}  // namespace tandem::cli::synth
