// Qwen3.5, dense (Qwen team 2026).
#include "cli/synth/family.h"

namespace tandem::cli::synth::families {

namespace {

constexpr Preset presets[] = {
    {.name = "qwen3.5-0.8b",
     .title = "Qwen3.5 0.8B",
     .size = "0.8B",
     .architecture = "qwen35",
     .blocks = 24,
     .embd = 1024,
     .heads = 8,
     .kv_heads = 2,
     .head_size = 256,
     .ffn = 3584,
     .vocab = 248320,
     .vocabulary = Vocabulary::Qwen35,
     .rope_base = 10000000,
     .context = 262144,
     .tied = true,
     .value_heads = 16},
    {.name = "qwen3.5-2b",
     .title = "Qwen3.5 2B",
     .size = "2B",
     .architecture = "qwen35",
     .blocks = 24,
     .embd = 2048,
     .heads = 8,
     .kv_heads = 2,
     .head_size = 256,
     .ffn = 6144,
     .vocab = 248320,
     .vocabulary = Vocabulary::Qwen35,
     .rope_base = 10000000,
     .context = 262144,
     .tied = true,
     .value_heads = 16},
    {.name = "qwen3.5-4b",
     .title = "Qwen3.5 4B",
     .size = "4B",
     .architecture = "qwen35",
     .blocks = 32,
     .embd = 2560,
     .heads = 16,
     .kv_heads = 4,
     .head_size = 256,
     .ffn = 9216,
     .vocab = 248320,
     .vocabulary = Vocabulary::Qwen35,
     .rope_base = 10000000,
     .context = 262144,
     .tied = true,
     .value_heads = 32},
    {.name = "qwen3.5-9b",
     .title = "Qwen3.5 9B",
     .size = "9B",
     .architecture = "qwen35",
     .blocks = 32,
     .embd = 4096,
     .heads = 16,
     .kv_heads = 4,
     .head_size = 256,
     .ffn = 12288,
     .vocab = 248320,
     .vocabulary = Vocabulary::Qwen35,
     .rope_base = 10000000,
     .context = 262144,
     .value_heads = 32},
    {.name = "qwen3.5-27b",
     .title = "Qwen3.5 27B",
     .size = "27B",
     .architecture = "qwen35",
     .blocks = 64,
     .embd = 5120,
     .heads = 24,
     .kv_heads = 4,
     .head_size = 256,
     .ffn = 17408,
     .vocab = 248320,
     .vocabulary = Vocabulary::Qwen35,
     .rope_base = 10000000,
     .context = 262144,
     .value_heads = 48},
};

void model(Outline& outline) {
    outline.set_delta_net();
    outline.set("rope.dimension_sections", {11, 11, 10, 0});
}

void block(Outline& outline, int64_t index) {
    outline.norms({"attn_norm", "post_attention_norm"});
    if (index % 4 == 3) {
        outline.attention(true);
        outline.head_norms(outline.preset.head_size);
    } else {
        outline.delta_net(false);
    }
    outline.dense(outline.preset.ffn);
}

}  // namespace

extern const Family qwen35{
    .architecture = "qwen35", .presets = presets, .model = model, .block = block};

}  // namespace tandem::cli::synth::families
