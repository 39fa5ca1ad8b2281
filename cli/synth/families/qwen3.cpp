// Qwen3, dense (Qwen team 2025).
#include "cli/synth/family.h"

namespace tandem::cli::synth::families {

namespace {

constexpr Preset presets[] = {
    {.name = "qwen3-0.6b",
     .title = "Qwen3 0.6B",
     .size = "0.6B",
     .architecture = "qwen3",
     .blocks = 28,
     .embd = 1024,
     .heads = 16,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 3072,
     .vocab = 151936,
     .vocabulary = Vocabulary::Qwen,
     .rope_base = 1000000,
     .context = 40960,
     .tied = true},
    {.name = "qwen3-1.7b",
     .title = "Qwen3 1.7B",
     .size = "1.7B",
     .architecture = "qwen3",
     .blocks = 28,
     .embd = 2048,
     .heads = 16,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 6144,
     .vocab = 151936,
     .vocabulary = Vocabulary::Qwen,
     .rope_base = 1000000,
     .context = 40960,
     .tied = true},
    {.name = "qwen3-4b",
     .title = "Qwen3 4B",
     .size = "4B",
     .architecture = "qwen3",
     .blocks = 36,
     .embd = 2560,
     .heads = 32,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 9728,
     .vocab = 151936,
     .vocabulary = Vocabulary::Qwen,
     .rope_base = 1000000,
     .context = 40960,
     .tied = true},
    {.name = "qwen3-8b",
     .title = "Qwen3 8B",
     .size = "8B",
     .architecture = "qwen3",
     .blocks = 36,
     .embd = 4096,
     .heads = 32,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 12288,
     .vocab = 151936,
     .vocabulary = Vocabulary::Qwen,
     .rope_base = 1000000,
     .context = 40960},
    {.name = "qwen3-14b",
     .title = "Qwen3 14B",
     .size = "14B",
     .architecture = "qwen3",
     .blocks = 40,
     .embd = 5120,
     .heads = 40,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 17408,
     .vocab = 151936,
     .vocabulary = Vocabulary::Qwen,
     .rope_base = 1000000,
     .context = 40960},
    {.name = "qwen3-32b",
     .title = "Qwen3 32B",
     .size = "32B",
     .architecture = "qwen3",
     .blocks = 64,
     .embd = 5120,
     .heads = 64,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 25600,
     .vocab = 151936,
     .vocabulary = Vocabulary::Qwen,
     .rope_base = 1000000,
     .context = 40960},
};

void model(Outline&) {}

void block(Outline& outline, int64_t) {
    outline.norms({"attn_norm", "ffn_norm"});
    outline.attention();
    outline.head_norms(outline.preset.head_size);
    outline.dense(outline.preset.ffn);
}

}  // namespace

extern const Family qwen3{
    .architecture = "qwen3", .presets = presets, .model = model, .block = block};

}  // namespace tandem::cli::synth::families
