// gpt-oss (OpenAI 2025).
#include "cli/synth/family.h"

namespace tandem::cli::synth::families {

namespace {

constexpr Preset presets[] = {
    {.name = "gpt-oss-20b",
     .title = "gpt-oss 20B",
     .size = "20B",
     .architecture = "gpt-oss",
     .blocks = 24,
     .embd = 2880,
     .heads = 64,
     .kv_heads = 8,
     .head_size = 64,
     .ffn = 2880,
     .vocab = 201088,
     .vocabulary = Vocabulary::O200k,
     .rope_base = 150000,
     .context = 131072,
     .biased = true,
     .experts = {.count = 32, .used = 4, .width = 2880},
     .window = {.tokens = 128, .period = 2}},
    {.name = "gpt-oss-120b",
     .title = "gpt-oss 120B",
     .size = "120B",
     .architecture = "gpt-oss",
     .blocks = 36,
     .embd = 2880,
     .heads = 64,
     .kv_heads = 8,
     .head_size = 64,
     .ffn = 2880,
     .vocab = 201088,
     .vocabulary = Vocabulary::O200k,
     .rope_base = 150000,
     .context = 131072,
     .biased = true,
     .experts = {.count = 128, .used = 4, .width = 2880},
     .window = {.tokens = 128, .period = 2}},
};

void model(Outline& outline) {
    outline.set_real("attention.layer_norm_rms_epsilon", 1e-5);
    outline.set("attention.sliding_window", outline.preset.window.tokens);
    outline.set_yarn(32, 4096);
}

void block(Outline& outline, int64_t) {
    const Preset& preset = outline.preset;
    outline.norms({"attn_norm", "post_attention_norm"});
    outline.attention();
    outline.vector("attn_output", preset.embd, ".bias");
    outline.vector("attn_sinks", preset.heads);
    outline.experts();
    const auto& experts = preset.experts;
    outline.vector("ffn_gate_inp", experts.count, ".bias");
    outline.plain("ffn_gate_exps", experts.width, experts.count, ".bias");
    outline.plain("ffn_up_exps", experts.width, experts.count, ".bias");
    outline.plain("ffn_down_exps", preset.embd, experts.count, ".bias");
}

}  // namespace

extern const Family gpt_oss{
    .architecture = "gpt-oss", .presets = presets, .model = model, .block = block};

}  // namespace tandem::cli::synth::families
