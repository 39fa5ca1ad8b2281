// Qwen3.5 with experts (Qwen team 2026).
#include "cli/synth/family.h"

namespace tandem::cli::synth::families {

namespace {

constexpr Preset presets[] = {
    {.name = "qwen3.5-35b-a3b",
     .alias = "qwen3.5-35b",
     .title = "Qwen3.5 35B-A3B",
     .size = "35B.A3B",
     .architecture = "qwen35moe",
     .blocks = 40,
     .embd = 2048,
     .heads = 16,
     .kv_heads = 2,
     .head_size = 256,
     .ffn = 512,
     .vocab = 248320,
     .vocabulary = Vocabulary::Qwen35,
     .rope_base = 10000000,
     .context = 262144,
     .experts = {.count = 256, .used = 8, .width = 512, .shared = 512},
     .value_heads = 32},
    {.name = "qwen3.5-122b-a10b",
     .alias = "qwen3.5-122b",
     .title = "Qwen3.5 122B-A10B",
     .size = "122B.A10B",
     .architecture = "qwen35moe",
     .blocks = 48,
     .embd = 3072,
     .heads = 32,
     .kv_heads = 2,
     .head_size = 256,
     .ffn = 1024,
     .vocab = 248320,
     .vocabulary = Vocabulary::Qwen35,
     .rope_base = 10000000,
     .context = 262144,
     .experts = {.count = 256, .used = 8, .width = 1024, .shared = 1024},
     .value_heads = 64},
    {.name = "qwen3.5-397b-a17b",
     .alias = "qwen3.5-397b",
     .title = "Qwen3.5 397B-A17B",
     .size = "397B.A17B",
     .architecture = "qwen35moe",
     .blocks = 60,
     .embd = 4096,
     .heads = 32,
     .kv_heads = 2,
     .head_size = 256,
     .ffn = 1024,
     .vocab = 248320,
     .vocabulary = Vocabulary::Qwen35,
     .rope_base = 10000000,
     .context = 262144,
     .experts = {.count = 512, .used = 10, .width = 1024, .shared = 1024},
     .value_heads = 64},
};

void model(Outline& outline) {
    outline.set_delta_net();
    outline.set("expert_shared_feed_forward_length", outline.preset.experts.shared);
    outline.set("rope.dimension_sections", {11, 11, 10, 0});
}

void block(Outline& outline, int64_t index) {
    outline.norms({"attn_norm", "post_attention_norm", "ffn_gate_inp_shexp"});
    if (index % 4 == 3) {
        outline.attention(true);
        outline.head_norms(outline.preset.head_size);
    } else {
        outline.delta_net(false);
    }
    outline.experts();
    outline.shared_expert();
}

}  // namespace

extern const Family qwen35moe{
    .architecture = "qwen35moe", .presets = presets, .model = model, .block = block};

}  // namespace tandem::cli::synth::families
