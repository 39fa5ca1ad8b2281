// Gemma 3 (Google 2025).
#include "cli/synth/family.h"

namespace tandem::cli::synth::families {

namespace {

constexpr Preset presets[] = {
    {.name = "gemma3-270m",
     .alias = "gemma-3-270m-it",
     .title = "Gemma 3 270M",
     .size = "270M",
     .architecture = "gemma3",
     .blocks = 18,
     .embd = 640,
     .heads = 4,
     .kv_heads = 1,
     .head_size = 256,
     .ffn = 2048,
     .vocab = 262144,
     .vocabulary = Vocabulary::Gemma3,
     .rope_base = 1000000,
     .context = 32768,
     .tied = true,
     .window = {.tokens = 512, .period = 6}},
    {.name = "gemma3-1b",
     .alias = "gemma-3-1b-it",
     .title = "Gemma 3 1B",
     .size = "1B",
     .architecture = "gemma3",
     .blocks = 26,
     .embd = 1152,
     .heads = 4,
     .kv_heads = 1,
     .head_size = 256,
     .ffn = 6912,
     .vocab = 262144,
     .vocabulary = Vocabulary::Gemma3,
     .rope_base = 1000000,
     .context = 32768,
     .tied = true,
     .window = {.tokens = 512, .period = 6}},
    {.name = "gemma3-4b",
     .alias = "gemma-3-4b-it",
     .title = "Gemma 3 4B",
     .size = "4B",
     .architecture = "gemma3",
     .blocks = 34,
     .embd = 2560,
     .heads = 8,
     .kv_heads = 4,
     .head_size = 256,
     .ffn = 10240,
     .vocab = 262144,
     .vocabulary = Vocabulary::Gemma3,
     .rope_base = 1000000,
     .context = 131072,
     .tied = true,
     .window = {.tokens = 1024, .period = 6}},
    {.name = "gemma3-12b",
     .alias = "gemma-3-12b-it",
     .title = "Gemma 3 12B",
     .size = "12B",
     .architecture = "gemma3",
     .blocks = 48,
     .embd = 3840,
     .heads = 16,
     .kv_heads = 8,
     .head_size = 256,
     .ffn = 15360,
     .vocab = 262144,
     .vocabulary = Vocabulary::Gemma3,
     .rope_base = 1000000,
     .context = 131072,
     .tied = true,
     .window = {.tokens = 1024, .period = 6}},
    {.name = "gemma3-27b",
     .alias = "gemma-3-27b-it",
     .title = "Gemma 3 27B",
     .size = "27B",
     .architecture = "gemma3",
     .blocks = 62,
     .embd = 5376,
     .heads = 32,
     .kv_heads = 16,
     .head_size = 128,
     .ffn = 21504,
     .vocab = 262144,
     .vocabulary = Vocabulary::Gemma3,
     .rope_base = 1000000,
     .context = 131072,
     .tied = true,
     .window = {.tokens = 1024, .period = 6}},
};

void model(Outline& outline) {
    outline.set("attention.sliding_window", outline.preset.window.tokens);
    if (outline.preset.context <= 32768) return;
    outline.set_text("rope.scaling.type", "linear");
    outline.set_real("rope.scaling.factor", 8);
}

void block(Outline& outline, int64_t) {
    outline.norms({"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"});
    outline.attention();
    outline.head_norms(outline.preset.head_size);
    outline.dense(outline.preset.ffn);
}

}  // namespace

extern const Family gemma3{
    .architecture = "gemma3", .presets = presets, .model = model, .block = block};

}  // namespace tandem::cli::synth::families
