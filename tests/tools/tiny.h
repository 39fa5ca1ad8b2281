// A tiny model with random weights, for tests of what is done with models.
#pragma once

#include "cli/synth/model.h"
#include "gguf/folder.h"

namespace tandem::test {

inline cli::SyntheticModel design_tiny(const char* type = "F32") {
    const cli::Preset preset{.name = "tiny",
                             .title = "Tiny",
                             .size = "0.1M",
                             .architecture = "llama",
                             .blocks = 2,
                             .embd = 64,
                             .heads = 4,
                             .kv_heads = 2,
                             .head_size = 16,
                             .ffn = 96,
                             .vocab = 400,
                             .vocabulary = cli::Vocabulary::Spm,
                             .context = 256};
    return design(preset, cli::find_recipe(type), 0, 1);
}

inline gguf::File make_tiny(const Folder& folder, const char* type = "F32") {
    write(design_tiny(type), folder / "tiny.gguf");
    return gguf::File::open(folder / "tiny.gguf");
}

}  // namespace tandem::test
