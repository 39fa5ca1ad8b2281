// Llama (Meta 2023 to 2024), and Mistral and Mixtral, which have its shape.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "cli/synth/family.h"

namespace tandem::cli::synth::families {

namespace {

constexpr Preset presets[] = {
    {.name = "llama2-7b",
     .title = "Llama 2 7B",
     .size = "7B",
     .architecture = "llama",
     .blocks = 32,
     .embd = 4096,
     .heads = 32,
     .kv_heads = 32,
     .head_size = 128,
     .ffn = 11008,
     .vocab = 32000,
     .vocabulary = Vocabulary::Spm,
     .rope_base = 10000,
     .context = 4096},
    {.name = "llama2-13b",
     .title = "Llama 2 13B",
     .size = "13B",
     .architecture = "llama",
     .blocks = 40,
     .embd = 5120,
     .heads = 40,
     .kv_heads = 40,
     .head_size = 128,
     .ffn = 13824,
     .vocab = 32000,
     .vocabulary = Vocabulary::Spm,
     .rope_base = 10000,
     .context = 4096},
    {.name = "llama2-70b",
     .title = "Llama 2 70B",
     .size = "70B",
     .architecture = "llama",
     .blocks = 80,
     .embd = 8192,
     .heads = 64,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 28672,
     .vocab = 32000,
     .vocabulary = Vocabulary::Spm,
     .rope_base = 10000,
     .context = 4096},
    {.name = "llama-1b",
     .alias = "llama-3.2-1b",
     .title = "Llama 3.2 1B",
     .size = "1B",
     .architecture = "llama",
     .blocks = 16,
     .embd = 2048,
     .heads = 32,
     .kv_heads = 8,
     .head_size = 64,
     .ffn = 8192,
     .vocab = 128256,
     .vocabulary = Vocabulary::Llama3,
     .rope_base = 500000,
     .context = 131072,
     .tied = true,
     .rope_factor = 32},
    {.name = "llama-3b",
     .alias = "llama-3.2-3b",
     .title = "Llama 3.2 3B",
     .size = "3B",
     .architecture = "llama",
     .blocks = 28,
     .embd = 3072,
     .heads = 24,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 8192,
     .vocab = 128256,
     .vocabulary = Vocabulary::Llama3,
     .rope_base = 500000,
     .context = 131072,
     .tied = true,
     .rope_factor = 32},
    {.name = "llama-8b",
     .alias = "llama-3.1-8b",
     .title = "Llama 3.1 8B",
     .size = "8B",
     .architecture = "llama",
     .blocks = 32,
     .embd = 4096,
     .heads = 32,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 14336,
     .vocab = 128256,
     .vocabulary = Vocabulary::Llama3,
     .rope_base = 500000,
     .context = 131072,
     .rope_factor = 8},
    {.name = "llama-70b",
     .alias = "llama-3.3-70b",
     .title = "Llama 3.3 70B",
     .size = "70B",
     .architecture = "llama",
     .blocks = 80,
     .embd = 8192,
     .heads = 64,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 28672,
     .vocab = 128256,
     .vocabulary = Vocabulary::Llama3,
     .rope_base = 500000,
     .context = 131072,
     .rope_factor = 8},
    {.name = "llama-405b",
     .alias = "llama-3.1-405b",
     .title = "Llama 3.1 405B",
     .size = "405B",
     .architecture = "llama",
     .blocks = 126,
     .embd = 16384,
     .heads = 128,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 53248,
     .vocab = 128256,
     .vocabulary = Vocabulary::Llama3,
     .rope_base = 500000,
     .context = 131072,
     .rope_factor = 8},
    {.name = "mistral-7b",
     .title = "Mistral 7B v0.3",
     .size = "7B",
     .architecture = "llama",
     .blocks = 32,
     .embd = 4096,
     .heads = 32,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 14336,
     .vocab = 32768,
     .vocabulary = Vocabulary::Spm,
     .rope_base = 1000000,
     .context = 32768},
    {.name = "mistral-nemo",
     .alias = "mistral-12b",
     .title = "Mistral Nemo 12B",
     .size = "13B",
     .architecture = "llama",
     .blocks = 40,
     .embd = 5120,
     .heads = 32,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 14336,
     .vocab = 131072,
     .vocabulary = Vocabulary::Tekken,
     .rope_base = 1000000,
     .context = 131072},
    {.name = "mistral-small",
     .alias = "mistral-24b",
     .title = "Mistral Small 24B",
     .size = "13B",
     .architecture = "llama",
     .blocks = 40,
     .embd = 5120,
     .heads = 32,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 32768,
     .vocab = 131072,
     .vocabulary = Vocabulary::Tekken,
     .rope_base = 100000000,
     .context = 32768},
    {.name = "mixtral-8x7b",
     .title = "Mixtral 8x7B",
     .size = "8x7B",
     .architecture = "llama",
     .blocks = 32,
     .embd = 4096,
     .heads = 32,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 14336,
     .vocab = 32000,
     .vocabulary = Vocabulary::Spm,
     .rope_base = 1000000,
     .context = 32768,
     .experts = {.count = 8, .used = 2, .width = 14336}},
    {.name = "mixtral-8x22b",
     .title = "Mixtral 8x22B",
     .size = "8x22B",
     .architecture = "llama",
     .blocks = 56,
     .embd = 6144,
     .heads = 48,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 16384,
     .vocab = 32768,
     .vocabulary = Vocabulary::Spm,
     .rope_base = 1000000,
     .context = 65536,
     .experts = {.count = 8, .used = 2, .width = 16384}},
};

// Llama 3's: long wavelengths are stretched by the factor, short ones kept, with a ramp between
// (Grattafiori et al. 2024).
std::vector<float> stretched(const Preset& preset) {
    constexpr double low = 1, high = 4, original = 8192;
    const int64_t count = preset.head_size / 2;
    std::vector<float> factors;
    for (int64_t i = 0; i < count; ++i) {
        const double wavelength =
            2 * std::numbers::pi * std::pow(preset.rope_base, double(i) / double(count));
        const double u = std::clamp((original / wavelength - low) / (high - low), 0.0, 1.0);
        factors.push_back(float(1 / ((1 - u) / preset.rope_factor + u)));
    }
    return factors;
}

void model(Outline& outline) {
    outline.set_real("attention.layer_norm_rms_epsilon", 1e-5);
    if (outline.preset.rope_factor == 0) return;
    outline.frequencies = stretched(outline.preset);
    outline.vector("rope_freqs", outline.preset.head_size / 2);
}

void block(Outline& outline, int64_t) {
    outline.norms({"attn_norm", "ffn_norm"});
    outline.attention();
    if (outline.preset.experts.count > 0)
        outline.experts();
    else
        outline.dense(outline.preset.ffn);
}

}  // namespace

extern const Family llama{
    .architecture = "llama", .presets = presets, .model = model, .block = block};

}  // namespace tandem::cli::synth::families
