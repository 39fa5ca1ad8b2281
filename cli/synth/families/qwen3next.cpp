// Qwen3-Next (Qwen team 2025).
#include "cli/synth/family.h"

namespace tandem::cli::synth::families {

namespace {

constexpr Preset presets[] = {
    {.name = "qwen3-next-80b-a3b",
     .alias = "qwen3-next-80b",
     .title = "Qwen3 Next 80B-A3B",
     .size = "80B.A3B",
     .architecture = "qwen3next",
     .blocks = 48,
     .embd = 2048,
     .heads = 16,
     .kv_heads = 2,
     .head_size = 256,
     .ffn = 5120,
     .vocab = 151936,
     .vocabulary = Vocabulary::Qwen,
     .rope_base = 10000000,
     .context = 262144,
     .experts = {.count = 512, .used = 10, .width = 512, .shared = 512},
     .value_heads = 32},
};

void model(Outline& outline) {
    outline.set_delta_net();
    outline.set("expert_shared_feed_forward_length", outline.preset.experts.shared);
}

void block(Outline& outline, int64_t index) {
    outline.norms({"attn_norm", "post_attention_norm", "ffn_gate_inp_shexp"});
    if (index % 4 == 3) {
        outline.attention(true);
        outline.head_norms(outline.preset.head_size);
    } else {
        outline.delta_net(true);
    }
    outline.experts();
    outline.shared_expert();
}

}  // namespace

extern const Family qwen3next{
    .architecture = "qwen3next", .presets = presets, .model = model, .block = block};

}  // namespace tandem::cli::synth::families
