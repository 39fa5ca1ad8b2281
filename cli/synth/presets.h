// Dimensions of published models, by which random ones are made and known ones are recognised.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "gguf/metadata.h"

namespace tandem::cli {

// How texts become tokens: the vocabulary that goes with the model.
enum class Vocabulary { Spm, Llama3, Tekken, Qwen };

struct Preset {
    std::string_view name;   // "llama-1b"
    std::string_view alias;  // another name of it, or empty
    std::string_view title;  // "Llama 3.2 1B"
    std::string_view size;   // class of size, as tables of measurements name it: "1B"
    std::string_view architecture;
    int64_t blocks, embd, heads, kv_heads, head_size, ffn;
    int64_t experts, used;  // 0 without experts, whose width is then `ffn`
    int64_t vocab;
    Vocabulary vocabulary;
    double rope_base;
    double rope_factor;  // of Llama 3's stretched frequencies; 0: none
    int64_t context;
    bool tied;  // the head reads the embedding table
};

std::span<const Preset> presets();
// Dots, dashes, underscores and case do not count. Throws Error naming those that exist.
const Preset& find_preset(std::string_view name);
// The class of size of a file's model, "8B"; "?B" for one that is not in the table.
std::string_view size_class(const gguf::Metadata& metadata);

}  // namespace tandem::cli
