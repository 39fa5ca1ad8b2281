// Qwen3 with experts (Qwen team 2025).
#include "cli/synth/family.h"

namespace tandem::cli::synth::families {

namespace {

constexpr Preset presets[] = {
    {.name = "qwen3-30b-a3b",
     .alias = "qwen3-30b",
     .title = "Qwen3 30B-A3B",
     .size = "30B.A3B",
     .architecture = "qwen3moe",
     .blocks = 48,
     .embd = 2048,
     .heads = 32,
     .kv_heads = 4,
     .head_size = 128,
     .ffn = 6144,
     .vocab = 151936,
     .vocabulary = Vocabulary::Qwen,
     .rope_base = 1000000,
     .context = 40960,
     .experts = {.count = 128, .used = 8, .width = 768}},
    {.name = "qwen3-235b-a22b",
     .alias = "qwen3-235b",
     .title = "Qwen3 235B-A22B",
     .size = "235B.A22B",
     .architecture = "qwen3moe",
     .blocks = 94,
     .embd = 4096,
     .heads = 64,
     .kv_heads = 4,
     .head_size = 128,
     .ffn = 12288,
     .vocab = 151936,
     .vocabulary = Vocabulary::Qwen,
     .rope_base = 1000000,
     .context = 40960,
     .experts = {.count = 128, .used = 8, .width = 1536}},
    {.name = "qwen3-coder-480b",
     .alias = "qwen3-480b",
     .title = "Qwen3 Coder 480B-A35B",
     .size = "480B.A35B",
     .architecture = "qwen3moe",
     .blocks = 62,
     .embd = 6144,
     .heads = 96,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 8192,
     .vocab = 151936,
     .vocabulary = Vocabulary::Qwen,
     .rope_base = 10000000,
     .context = 262144,
     .experts = {.count = 160, .used = 8, .width = 2560}},
};

void model(Outline&) {}

void block(Outline& outline, int64_t) {
    outline.norms({"attn_norm", "ffn_norm"});
    outline.attention();
    outline.head_norms(outline.preset.head_size);
    outline.experts();
}

}  // namespace

extern const Family qwen3moe{
    .architecture = "qwen3moe", .presets = presets, .model = model, .block = block};

}  // namespace tandem::cli::synth::families
