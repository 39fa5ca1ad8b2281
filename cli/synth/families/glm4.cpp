// GLM-4-0414 (Zhipu AI 2025).
#include "cli/synth/family.h"

namespace tandem::cli::synth::families {

namespace {

constexpr Preset presets[] = {
    {.name = "glm4-9b",
     .alias = "glm-4-9b-0414",
     .title = "GLM-4 9B",
     .size = "9B",
     .architecture = "glm4",
     .blocks = 40,
     .embd = 4096,
     .heads = 32,
     .kv_heads = 2,
     .head_size = 128,
     .ffn = 13696,
     .vocab = 151552,
     .vocabulary = Vocabulary::Glm,
     .context = 32768,
     .biased = true},
    {.name = "glm4-32b",
     .alias = "glm-4-32b-0414",
     .title = "GLM-4 32B",
     .size = "32B",
     .architecture = "glm4",
     .blocks = 61,
     .embd = 6144,
     .heads = 48,
     .kv_heads = 2,
     .head_size = 128,
     .ffn = 23040,
     .vocab = 151552,
     .vocabulary = Vocabulary::Glm,
     .context = 32768},
};

void model(Outline& outline) {
    outline.set_real("attention.layer_norm_rms_epsilon", 1e-5);
    outline.set("rope.dimension_count", outline.preset.head_size / 2);
}

void block(Outline& outline, int64_t) {
    const Preset& preset = outline.preset;
    outline.norms({"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"});
    outline.attention();
    outline.matrix("ffn_up", preset.embd, 2 * preset.ffn);  // the gate's rows come first
    outline.matrix("ffn_down", preset.ffn, preset.embd);
}

}  // namespace

extern const Family glm4{
    .architecture = "glm4", .presets = presets, .model = model, .block = block};

}  // namespace tandem::cli::synth::families
