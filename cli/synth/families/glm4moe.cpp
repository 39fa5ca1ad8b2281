// GLM-4.5 to 4.7 (Zhipu AI 2025), without the block that drafts.
#include "cli/synth/family.h"

namespace tandem::cli::synth::families {

namespace {

constexpr Preset presets[] = {
    {.name = "glm-4.5-air",
     .alias = "glm4-air",
     .title = "GLM-4.5 Air 106B-A12B",
     .size = "106B.A12B",
     .architecture = "glm4moe",
     .blocks = 46,
     .embd = 4096,
     .heads = 96,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 10944,
     .vocab = 151552,
     .vocabulary = Vocabulary::Glm,
     .rope_base = 1000000,
     .context = 131072,
     .biased = true,
     .experts =
         {.count = 128, .used = 8, .width = 1408, .shared = 1408, .dense_blocks = 1, .scale = 1}},
    {.name = "glm-4.5",
     .title = "GLM-4.5 355B-A32B",
     .size = "355B.A32B",
     .architecture = "glm4moe",
     .blocks = 92,
     .embd = 5120,
     .heads = 96,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 12288,
     .vocab = 151552,
     .vocabulary = Vocabulary::Glm,
     .rope_base = 1000000,
     .context = 131072,
     .biased = true,
     .head_norms = true,
     .experts =
         {.count = 160, .used = 8, .width = 1536, .shared = 1536, .dense_blocks = 3, .scale = 2.5}},
};

void model(Outline& outline) {
    outline.set_real("attention.layer_norm_rms_epsilon", 1e-5);
    outline.set("rope.dimension_count", outline.preset.head_size / 2);
    outline.set("expert_shared_count", 1);
    outline.set("expert_gating_func", 2);
    outline.set_true("expert_weights_norm");
}

void block(Outline& outline, int64_t index) {
    const Preset& preset = outline.preset;
    outline.norms({"attn_norm", "post_attention_norm"});
    outline.attention();
    if (preset.head_norms) outline.head_norms(preset.head_size);
    if (index < preset.experts.dense_blocks) return outline.dense(preset.ffn);
    outline.experts();
    outline.selection_bias();
    outline.shared_expert();
}

}  // namespace

extern const Family glm4moe{
    .architecture = "glm4moe", .presets = presets, .model = model, .block = block};

}  // namespace tandem::cli::synth::families
