// DeepSeek-V2, V3 and R1 (2024), and Kimi-K2, which has their shape.
#include "cli/synth/family.h"

namespace tandem::cli::synth::families {

namespace {

constexpr Preset presets[] = {
    {.name = "deepseek-v2-lite",
     .title = "DeepSeek V2 Lite 16B",
     .size = "16B",
     .architecture = "deepseek2",
     .blocks = 27,
     .embd = 2048,
     .heads = 16,
     .kv_heads = 1,
     .ffn = 10944,
     .vocab = 102400,
     .vocabulary = Vocabulary::DeepSeekLlm,
     .context = 163840,
     .experts =
         {.count = 64, .used = 6, .width = 1408, .shared = 2816, .dense_blocks = 1, .scale = 1},
     .latent = {.keys = 512, .plain = 128, .rotary = 64, .values = 128}},
    {.name = "deepseek-v3",
     .alias = "deepseek-r1",
     .title = "DeepSeek V3 671B",
     .size = "671B",
     .architecture = "deepseek2",
     .blocks = 61,
     .embd = 7168,
     .heads = 128,
     .kv_heads = 1,
     .ffn = 18432,
     .vocab = 129280,
     .vocabulary = Vocabulary::DeepSeek3,
     .context = 163840,
     .experts = {.count = 256,
                 .used = 8,
                 .width = 2048,
                 .shared = 2048,
                 .dense_blocks = 3,
                 .groups = 8,
                 .used_groups = 4,
                 .scale = 2.5},
     .latent = {.queries = 1536, .keys = 512, .plain = 128, .rotary = 64, .values = 128}},
    {.name = "kimi-k2",
     .title = "Kimi K2 1T",
     .size = "1T",
     .architecture = "deepseek2",
     .blocks = 61,
     .embd = 7168,
     .heads = 64,
     .kv_heads = 1,
     .ffn = 18432,
     .vocab = 163840,
     .vocabulary = Vocabulary::Kimi,
     .context = 131072,
     .experts = {.count = 384,
                 .used = 8,
                 .width = 2048,
                 .shared = 2048,
                 .dense_blocks = 1,
                 .scale = 2.827},
     .latent = {.queries = 1536, .keys = 512, .plain = 128, .rotary = 64, .values = 128}},
};

// V2 chooses by softmax among all; V3 by sigmoid, with a bias.
bool has_selection_bias(const Preset& preset) { return preset.latent.queries > 0; }

void model(Outline& outline) {
    const auto& experts = outline.preset.experts;
    outline.set_latent_attention();
    outline.set_yarn(40, 4096);
    outline.set_real("rope.scaling.yarn_log_multiplier",
                     has_selection_bias(outline.preset) ? 0.1 : 0.0707);
    outline.set("expert_shared_count", experts.shared / experts.width);
    if (experts.groups > 0) {
        outline.set("expert_group_count", experts.groups);
        outline.set("expert_group_used_count", experts.used_groups);
    }
    if (!has_selection_bias(outline.preset)) return;
    outline.set("expert_gating_func", 2);
    outline.set_true("expert_weights_norm");
}

void block(Outline& outline, int64_t index) {
    const Preset& preset = outline.preset;
    outline.norms({"attn_norm", "ffn_norm"});
    outline.latent_attention();
    if (index < preset.experts.dense_blocks) return outline.dense(preset.ffn);
    outline.experts();
    if (has_selection_bias(preset)) outline.selection_bias();
    outline.shared_expert();
}

}  // namespace

extern const Family deepseek2{
    .architecture = "deepseek2", .presets = presets, .model = model, .block = block};

}  // namespace tandem::cli::synth::families
