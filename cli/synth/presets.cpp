#include "cli/synth/presets.h"

#include <cctype>
#include <string>

#include "gguf/error.h"

namespace tandem::cli {

namespace {

using enum Vocabulary;

// Columns as in Preset. Sources: the checkpoints' own configurations.
constexpr Preset table[] = {
    {"llama2-7b", "", "Llama 2 7B", "7B", "llama", 32, 4096, 32, 32, 128, 11008, 0, 0, 32000, Spm,
     1e4, 0, 4096, false},
    {"llama2-13b", "", "Llama 2 13B", "13B", "llama", 40, 5120, 40, 40, 128, 13824, 0, 0, 32000,
     Spm, 1e4, 0, 4096, false},
    {"llama2-70b", "", "Llama 2 70B", "70B", "llama", 80, 8192, 64, 8, 128, 28672, 0, 0, 32000, Spm,
     1e4, 0, 4096, false},
    {"llama-1b", "llama-3.2-1b", "Llama 3.2 1B", "1B", "llama", 16, 2048, 32, 8, 64, 8192, 0, 0,
     128256, Llama3, 5e5, 32, 131072, true},
    {"llama-3b", "llama-3.2-3b", "Llama 3.2 3B", "3B", "llama", 28, 3072, 24, 8, 128, 8192, 0, 0,
     128256, Llama3, 5e5, 32, 131072, true},
    {"llama-8b", "llama-3.1-8b", "Llama 3.1 8B", "8B", "llama", 32, 4096, 32, 8, 128, 14336, 0, 0,
     128256, Llama3, 5e5, 8, 131072, false},
    {"llama-70b", "llama-3.3-70b", "Llama 3.3 70B", "70B", "llama", 80, 8192, 64, 8, 128, 28672, 0,
     0, 128256, Llama3, 5e5, 8, 131072, false},
    {"llama-405b", "llama-3.1-405b", "Llama 3.1 405B", "405B", "llama", 126, 16384, 128, 8, 128,
     53248, 0, 0, 128256, Llama3, 5e5, 8, 131072, false},
    {"mistral-7b", "", "Mistral 7B v0.3", "7B", "llama", 32, 4096, 32, 8, 128, 14336, 0, 0, 32768,
     Spm, 1e6, 0, 32768, false},
    {"mistral-nemo", "mistral-12b", "Mistral Nemo 12B", "13B", "llama", 40, 5120, 32, 8, 128, 14336,
     0, 0, 131072, Tekken, 1e6, 0, 131072, false},
    {"mistral-small", "mistral-24b", "Mistral Small 24B", "13B", "llama", 40, 5120, 32, 8, 128,
     32768, 0, 0, 131072, Tekken, 1e8, 0, 32768, false},
    {"mixtral-8x7b", "", "Mixtral 8x7B", "8x7B", "llama", 32, 4096, 32, 8, 128, 14336, 8, 2, 32000,
     Spm, 1e6, 0, 32768, false},
    {"mixtral-8x22b", "", "Mixtral 8x22B", "8x22B", "llama", 56, 6144, 48, 8, 128, 16384, 8, 2,
     32768, Spm, 1e6, 0, 65536, false},
    {"qwen3-0.6b", "", "Qwen3 0.6B", "0.6B", "qwen3", 28, 1024, 16, 8, 128, 3072, 0, 0, 151936,
     Qwen, 1e6, 0, 40960, true},
    {"qwen3-1.7b", "", "Qwen3 1.7B", "1.7B", "qwen3", 28, 2048, 16, 8, 128, 6144, 0, 0, 151936,
     Qwen, 1e6, 0, 40960, true},
    {"qwen3-4b", "", "Qwen3 4B", "4B", "qwen3", 36, 2560, 32, 8, 128, 9728, 0, 0, 151936, Qwen, 1e6,
     0, 40960, true},
    {"qwen3-8b", "", "Qwen3 8B", "8B", "qwen3", 36, 4096, 32, 8, 128, 12288, 0, 0, 151936, Qwen,
     1e6, 0, 40960, false},
    {"qwen3-14b", "", "Qwen3 14B", "14B", "qwen3", 40, 5120, 40, 8, 128, 17408, 0, 0, 151936, Qwen,
     1e6, 0, 40960, false},
    {"qwen3-32b", "", "Qwen3 32B", "32B", "qwen3", 64, 5120, 64, 8, 128, 25600, 0, 0, 151936, Qwen,
     1e6, 0, 40960, false},
    {"qwen3-30b-a3b", "qwen3-30b", "Qwen3 30B-A3B", "30B.A3B", "qwen3moe", 48, 2048, 32, 4, 128,
     768, 128, 8, 151936, Qwen, 1e6, 0, 40960, false},
    {"qwen3-235b-a22b", "qwen3-235b", "Qwen3 235B-A22B", "235B.A22B", "qwen3moe", 94, 4096, 64, 4,
     128, 1536, 128, 8, 151936, Qwen, 1e6, 0, 40960, false},
    {"qwen3-coder-480b", "qwen3-480b", "Qwen3 Coder 480B-A35B", "480B.A35B", "qwen3moe", 62, 6144,
     96, 8, 128, 2560, 160, 8, 151936, Qwen, 1e7, 0, 262144, false},
};

std::string plain(std::string_view name) {
    std::string letters;
    for (char c : name)
        if (std::isalnum(static_cast<unsigned char>(c)))
            letters += char(std::tolower(static_cast<unsigned char>(c)));
    return letters;
}

}  // namespace

std::span<const Preset> presets() { return table; }

const Preset& find_preset(std::string_view name) {
    std::string known;
    for (const Preset& preset : table) {
        if (plain(preset.name) == plain(name) ||
            (!preset.alias.empty() && plain(preset.alias) == plain(name)))
            return preset;
        known += (known.empty() ? "" : ", ") + std::string(preset.name);
    }
    throw Error("there is no preset \"" + std::string(name) + "\": choose one of " + known);
}

std::string_view size_class(const gguf::Metadata& metadata) {
    const std::string architecture = metadata.text("general.architecture").value_or("");
    auto number = [&](const char* key) {
        return metadata.integer(architecture + "." + key).value_or(0);
    };
    for (const Preset& preset : table)
        if (preset.architecture == architecture && preset.blocks == number("block_count") &&
            preset.embd == number("embedding_length") && preset.experts == number("expert_count") &&
            // Models of one shape differ in their vocabularies.
            (preset.size != "7B" || metadata.texts("tokenizer.ggml.tokens").size() < 40000))
            return preset.size;
    return "?B";
}

}  // namespace tandem::cli
