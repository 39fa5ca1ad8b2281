// Kimi-Linear (Moonshot AI 2025).
#include "cli/synth/family.h"

namespace tandem::cli::synth::families {

namespace {

constexpr Preset presets[] = {
    {.name = "kimi-linear-48b-a3b",
     .alias = "kimi-linear",
     .title = "Kimi Linear 48B-A3B",
     .size = "48B.A3B",
     .architecture = "kimi-linear",
     .blocks = 27,
     .embd = 2304,
     .heads = 32,
     .kv_heads = 1,
     .ffn = 9216,
     .vocab = 163840,
     .vocabulary = Vocabulary::Kimi,
     .context = 1048576,
     .experts = {.count = 256,
                 .used = 8,
                 .width = 1024,
                 .shared = 1024,
                 .dense_blocks = 1,
                 .scale = 2.446},
     .latent = {.keys = 512, .plain = 128, .rotary = 64, .values = 128}},
};

constexpr int64_t head_size = 128, taps = 4;  // of delta attention

bool is_latent(int64_t index) { return index % 4 == 3 || index == 26; }

void model(Outline& outline) {
    outline.set_real("attention.layer_norm_rms_epsilon", 1e-5);
    std::vector<int64_t> kv_heads;
    for (int64_t i = 0; i < outline.blocks; ++i) kv_heads.push_back(is_latent(i));
    outline.set("attention.head_count_kv", std::move(kv_heads));
    outline.set_latent_attention();
    outline.set("ssm.conv_kernel", taps);
    outline.set("kda.head_dim", head_size);
    outline.set("expert_shared_count", 1);
    outline.set("expert_gating_func", 2);
    outline.set_true("expert_weights_norm");
}

void delta_attention(Outline& outline) {
    const int64_t embd = outline.preset.embd, heads = outline.preset.heads;
    for (const char* name : {"attn_q", "attn_k", "attn_v"})
        outline.matrix(name, embd, heads * head_size);
    for (const char* name : {"ssm_conv1d_q", "ssm_conv1d_k", "ssm_conv1d_v"})
        outline.plain_stack(name, taps, 1, heads * head_size);
    for (const std::string pair : {"ssm_f", "ssm_g"}) {
        outline.matrix(pair + "_a", embd, head_size);
        outline.matrix(pair + "_b", head_size, heads * head_size);
    }
    outline.matrix("ssm_beta", embd, heads);
    outline.plain("ssm_a", 1, heads, "");
    outline.vector("ssm_dt", heads * head_size, ".bias");
    outline.vector("ssm_norm", head_size);
    outline.matrix("attn_output", heads * head_size, embd);
}

void block(Outline& outline, int64_t index) {
    const Preset& preset = outline.preset;
    outline.norms({"attn_norm", "ffn_norm"});
    if (is_latent(index))
        outline.latent_attention();
    else
        delta_attention(outline);
    if (index < preset.experts.dense_blocks) return outline.dense(preset.ffn);
    outline.experts();
    outline.selection_bias();
    outline.shared_expert();
}

}  // namespace

extern const Family kimi_linear{
    .architecture = "kimi-linear", .presets = presets, .model = model, .block = block};

}  // namespace tandem::cli::synth::families
