// Gemma 4 (Google 2026).
#include <algorithm>

#include "cli/synth/family.h"

namespace tandem::cli::synth::families {

namespace {

constexpr Preset presets[] = {
    {.name = "gemma4-e2b",
     .alias = "gemma-4-e2b-it",
     .title = "Gemma 4 E2B",
     .size = "E2B",
     .architecture = "gemma4",
     .blocks = 35,
     .embd = 1536,
     .heads = 8,
     .kv_heads = 1,
     .head_size = 256,
     .ffn = 6144,
     .vocab = 262144,
     .vocabulary = Vocabulary::Gemma4,
     .rope_base = 1000000,
     .context = 131072,
     .tied = true,
     .window = {.tokens = 512, .period = 5, .full_kv_heads = 1},
     .per_layer = 256,
     .cacheless = 20,
     .cacheless_ffn = 12288},
    {.name = "gemma4-e4b",
     .alias = "gemma-4-e4b-it",
     .title = "Gemma 4 E4B",
     .size = "E4B",
     .architecture = "gemma4",
     .blocks = 42,
     .embd = 2560,
     .heads = 8,
     .kv_heads = 2,
     .head_size = 256,
     .ffn = 10240,
     .vocab = 262144,
     .vocabulary = Vocabulary::Gemma4,
     .rope_base = 1000000,
     .context = 131072,
     .tied = true,
     .window = {.tokens = 512, .period = 6, .full_kv_heads = 2},
     .per_layer = 256,
     .cacheless = 18,
     .cacheless_ffn = 10240},
    {.name = "gemma4-26b-a4b",
     .alias = "gemma4-26b",
     .title = "Gemma 4 26B-A4B",
     .size = "26B.A4B",
     .architecture = "gemma4",
     .blocks = 30,
     .embd = 2816,
     .heads = 16,
     .kv_heads = 8,
     .head_size = 256,
     .ffn = 2112,
     .vocab = 262144,
     .vocabulary = Vocabulary::Gemma4,
     .rope_base = 1000000,
     .context = 262144,
     .tied = true,
     .experts = {.count = 128, .used = 8, .width = 704},
     .window = {.tokens = 1024, .period = 6, .full_kv_heads = 2}},
    {.name = "gemma4-31b",
     .alias = "gemma-4-31b-it",
     .title = "Gemma 4 31B",
     .size = "31B",
     .architecture = "gemma4",
     .blocks = 60,
     .embd = 5376,
     .heads = 32,
     .kv_heads = 16,
     .head_size = 256,
     .ffn = 21504,
     .vocab = 262144,
     .vocabulary = Vocabulary::Gemma4,
     .rope_base = 1000000,
     .context = 262144,
     .tied = true,
     .window = {.tokens = 1024, .period = 6, .full_kv_heads = 4}},
};

constexpr int64_t full_head_size = 512;  // where there is no window

bool sees_all(const Preset& preset, int64_t index) {
    return index % preset.window.period == preset.window.period - 1;
}

int64_t kv_heads_of(const Preset& preset, int64_t index) {
    return sees_all(preset, index) ? preset.window.full_kv_heads : preset.kv_heads;
}

// Blocks with keys and values of their own: the first ones.
int64_t with_caches(const Outline& outline) {
    return std::min(outline.blocks, outline.preset.blocks - outline.preset.cacheless);
}

void model(Outline& outline) {
    const Preset& preset = outline.preset;
    const int64_t blocks = outline.blocks, own = with_caches(outline);
    std::vector<int64_t> slides, kv_heads, ffn;
    for (int64_t i = 0; i < blocks; ++i) {
        slides.push_back(!sees_all(preset, i));
        kv_heads.push_back(kv_heads_of(preset, i));
        ffn.push_back(i < own ? preset.ffn : preset.cacheless_ffn);
    }
    outline.set("attention.key_length", full_head_size);
    outline.set("attention.value_length", full_head_size);
    outline.set("rope.dimension_count", full_head_size);
    outline.set("attention.key_length_swa", preset.head_size);
    outline.set("attention.value_length_swa", preset.head_size);
    outline.set("rope.dimension_count_swa", preset.head_size);
    outline.set_real("rope.freq_base_swa", 10000);
    outline.set("attention.head_count_kv", std::move(kv_heads));
    outline.set("attention.sliding_window", preset.window.tokens);
    outline.set("attention.sliding_window_pattern", std::move(slides));
    outline.set("attention.shared_kv_layers", blocks - own);
    outline.set("feed_forward_length", std::move(ffn));
    outline.set("embedding_length_per_layer_input", preset.per_layer);
    outline.set_real("final_logit_softcapping", 30);

    // A quarter of each head is rotated; an angle divided by as much as this is 0.
    outline.frequencies.assign(full_head_size / 2, 1e30f);
    std::fill_n(outline.frequencies.begin(), full_head_size / 8, 1.0f);
    outline.vector("rope_freqs", full_head_size / 2);
    if (preset.per_layer == 0) return;
    outline.matrix("per_layer_token_embd", preset.per_layer * blocks, preset.vocab);
    outline.matrix("per_layer_model_proj", preset.embd, preset.per_layer * blocks);
    outline.vector("per_layer_proj_norm", preset.per_layer);
}

void attention(Outline& outline, int64_t index) {
    const Preset& preset = outline.preset;
    const bool full = sees_all(preset, index);
    const int64_t head_size = full ? full_head_size : preset.head_size;
    const int64_t kv = kv_heads_of(preset, index) * head_size;
    outline.matrix("attn_q", preset.embd, preset.heads * head_size);
    outline.vector("attn_q_norm", head_size);
    if (index < with_caches(outline)) {
        outline.matrix("attn_k", preset.embd, kv);
        outline.vector("attn_k_norm", head_size);
        // Keys that see everything are their own values in the large models.
        if (!full || preset.per_layer > 0) outline.matrix("attn_v", preset.embd, kv);
    }
    outline.matrix("attn_output", preset.heads * head_size, preset.embd);
}

// Gate and up lie in one tensor.
void experts(Outline& outline) {
    const int64_t embd = outline.preset.embd;
    const int64_t count = outline.preset.experts.count, width = outline.preset.experts.width;
    outline.plain("ffn_gate_inp", embd, count);
    outline.matrix("ffn_gate_up_exps", embd, 2 * width, count);
    outline.matrix("ffn_down_exps", width, embd, count);
}

void block(Outline& outline, int64_t index) {
    const Preset& preset = outline.preset;
    outline.norms({"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"});
    attention(outline, index);
    outline.dense(index < with_caches(outline) ? preset.ffn : preset.cacheless_ffn);
    if (preset.experts.count > 0) {
        outline.norms({"pre_ffw_norm_2", "post_ffw_norm_1", "post_ffw_norm_2"});
        experts(outline);
        outline.vector("ffn_gate_inp", preset.embd, ".scale");
    }
    if (preset.per_layer > 0) {
        outline.matrix("inp_gate", preset.embd, preset.per_layer);
        outline.matrix("proj", preset.per_layer, preset.embd);
        outline.vector("post_norm", preset.embd);
    }
    outline.vector("layer_output_scale", 1);
}

}  // namespace

extern const Family gemma4{
    .architecture = "gemma4", .presets = presets, .model = model, .block = block};

}  // namespace tandem::cli::synth::families
