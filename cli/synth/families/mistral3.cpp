// Ministral 3 (Mistral 2025).
#include "cli/synth/family.h"

namespace tandem::cli::synth::families {

namespace {

constexpr Preset presets[] = {
    {.name = "ministral-3-3b",
     .title = "Ministral 3 3B",
     .size = "3B",
     .architecture = "mistral3",
     .blocks = 26,
     .embd = 3072,
     .heads = 32,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 9216,
     .vocab = 131072,
     .vocabulary = Vocabulary::Tekken,
     .rope_base = 1000000,
     .context = 262144,
     .tied = true},
    {.name = "ministral-3-8b",
     .title = "Ministral 3 8B",
     .size = "8B",
     .architecture = "mistral3",
     .blocks = 34,
     .embd = 4096,
     .heads = 32,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 14336,
     .vocab = 131072,
     .vocabulary = Vocabulary::Tekken,
     .rope_base = 1000000,
     .context = 262144},
    {.name = "ministral-3-14b",
     .title = "Ministral 3 14B",
     .size = "14B",
     .architecture = "mistral3",
     .blocks = 40,
     .embd = 5120,
     .heads = 32,
     .kv_heads = 8,
     .head_size = 128,
     .ffn = 16384,
     .vocab = 131072,
     .vocabulary = Vocabulary::Tekken,
     .rope_base = 1000000,
     .context = 262144},
};

void model(Outline& outline) {
    outline.set_real("attention.layer_norm_rms_epsilon", 1e-5);
    outline.set_yarn(16, 16384);
    outline.set_real("rope.scaling.yarn_beta_fast", 32);
    outline.set_real("rope.scaling.yarn_beta_slow", 1);
    outline.set_real("rope.scaling.yarn_log_multiplier", 1);
    outline.set_real("attention.temperature_scale", 0.1);
}

void block(Outline& outline, int64_t) {
    outline.norms({"attn_norm", "ffn_norm"});
    outline.attention();
    outline.dense(outline.preset.ffn);
}

}  // namespace

extern const Family mistral3{
    .architecture = "mistral3", .presets = presets, .model = model, .block = block};

}  // namespace tandem::cli::synth::families
