// Made-up vocabularies of the right kind and size, good enough for any engine to load the file: all
// bytes, a few merges, tokens that stand in for words, and the special tokens in their places.
#pragma once

#include "cli/synth/presets.h"
#include "gguf/metadata.h"

namespace tandem::cli {

// Adds the tokenizer.* keys.
void add_vocabulary(gguf::Metadata& metadata, Vocabulary kind, int64_t size);

}  // namespace tandem::cli
