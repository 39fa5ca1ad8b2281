// Made-up vocabularies of the right kind and size, good enough for any engine to load the file: all
// bytes, a few merges, tokens that stand in for words, and the special tokens in their places.
#pragma once

#include "gguf/metadata.h"

namespace tandem::cli {

// How texts become tokens, by the models that brought it.
enum class Vocabulary {
    Spm,
    Gemma3,
    Gemma4,
    Llama3,
    Tekken,
    Qwen,
    Qwen35,
    O200k,
    Glm,
    Kimi,
    DeepSeekLlm,
    DeepSeek3
};

// Adds the tokenizer.* keys.
void add_vocabulary(gguf::Metadata& metadata, Vocabulary kind, int64_t size);

}  // namespace tandem::cli
