#include "cli/synth/outline.h"

#include <algorithm>

#include "cli/synth/vocabulary.h"

namespace tandem::cli::synth {

using gguf::TensorInfo;

namespace {

// Of every published model with delta nets.
constexpr int64_t key_heads = 16, delta_size = 128, taps = 4;

}  // namespace

Outline::Outline(const Preset& preset, const Recipe& recipe, int64_t blocks)
    : preset(preset), recipe(recipe), blocks(blocks) {
    metadata.set_string("general.architecture", std::string(preset.architecture));
    metadata.set_string("general.type", "model");
    metadata.set_string("general.name", std::string(preset.title) + std::string(end_of_names));
    metadata.set_string("general.size_label", std::string(preset.size));
    metadata.set_u32("general.file_type", file_type(recipe));
    metadata.set_u32("general.quantization_version", 2);
    set("vocab_size", preset.vocab);
    set("context_length", preset.context);
    set("embedding_length", preset.embd);
    set("block_count", blocks);
    set("feed_forward_length", preset.ffn);
    if (preset.experts.count > 0) {
        set("expert_count", preset.experts.count);
        set("expert_used_count", preset.experts.used);
        set("expert_feed_forward_length", preset.experts.width);
    }
    if (preset.experts.dense_blocks > 0)
        set("leading_dense_block_count", preset.experts.dense_blocks);
    if (preset.experts.scale > 0) set_real("expert_weights_scale", preset.experts.scale);
    set("attention.head_count", preset.heads);
    set("attention.head_count_kv", preset.kv_heads);
    if (preset.head_size > 0) {
        set("attention.key_length", preset.head_size);
        set("attention.value_length", preset.head_size);
        set("rope.dimension_count", preset.head_size);
    }
    set_real("rope.freq_base", preset.rope_base);
    set_real("attention.layer_norm_rms_epsilon", 1e-6);
    add_vocabulary(metadata, preset.vocabulary, preset.vocab);
}

void Outline::set(const std::string& key, int64_t value) {
    metadata.set_u32(std::string(preset.architecture) + "." + key, uint32_t(value));
}

void Outline::set(const std::string& key, std::vector<int64_t> values) {
    metadata.set(std::string(preset.architecture) + "." + key,
                 {.type = gguf::ValueType::I32, .array = true, .elements = std::move(values)});
}

void Outline::set_real(const std::string& key, double value) {
    metadata.set_f32(std::string(preset.architecture) + "." + key, float(value));
}

void Outline::set_text(const std::string& key, std::string_view value) {
    metadata.set_string(std::string(preset.architecture) + "." + key, std::string(value));
}

void Outline::set_true(const std::string& key) {
    metadata.set_bool(std::string(preset.architecture) + "." + key, true);
}

void Outline::begin_block(int64_t index) { prefix_ = "blk." + std::to_string(index) + "."; }

void Outline::vector(const std::string& name, int64_t length, const char* suffix) {
    tensors.push_back({.name = prefix_ + name + suffix, .dims = 1, .extents = {length, 1, 1, 1}});
}

void Outline::norms(std::initializer_list<const char*> names) {
    for (const char* name : names) vector(name, preset.embd);
}

void Outline::matrix(const std::string& name, int64_t columns, int64_t rows, int64_t stack) {
    TensorInfo tensor{.name = prefix_ + name + ".weight",
                      .dims = stack > 0 ? 3 : 2,
                      .extents = {columns, rows, std::max<int64_t>(1, stack), 1}};
    tensor.dtype = choose_type(recipe, preset, blocks, tensor);
    tensors.push_back(std::move(tensor));
}

void Outline::plain(const std::string& name, int64_t columns, int64_t rows, const char* suffix) {
    tensors.push_back(
        {.name = prefix_ + name + suffix, .dims = 2, .extents = {columns, rows, 1, 1}});
}

void Outline::plain_stack(const std::string& name, int64_t columns, int64_t rows, int64_t stack) {
    tensors.push_back(
        {.name = prefix_ + name + ".weight", .dims = 3, .extents = {columns, rows, stack, 1}});
}

void Outline::attention(bool gated) {
    const int64_t q = preset.heads * preset.head_size, kv = preset.kv_heads * preset.head_size;
    matrix("attn_q", preset.embd, gated ? 2 * q : q);
    matrix("attn_k", preset.embd, kv);
    matrix("attn_v", preset.embd, kv);
    matrix("attn_output", q, preset.embd);
    if (!preset.biased) return;
    vector("attn_q", q, ".bias");
    vector("attn_k", kv, ".bias");
    vector("attn_v", kv, ".bias");
}

void Outline::head_norms(int64_t head_size) {
    vector("attn_q_norm", head_size);
    vector("attn_k_norm", head_size);
}

void Outline::latent_attention() {
    const Preset::Latent& latent = preset.latent;
    const int64_t head = latent.plain + latent.rotary;
    if (latent.queries > 0) {
        matrix("attn_q_a", preset.embd, latent.queries);
        vector("attn_q_a_norm", latent.queries);
        matrix("attn_q_b", latent.queries, preset.heads * head);
    } else {
        matrix("attn_q", preset.embd, preset.heads * head);
    }
    matrix("attn_kv_a_mqa", preset.embd, latent.keys + latent.rotary);
    vector("attn_kv_a_norm", latent.keys);
    matrix("attn_k_b", latent.plain, latent.keys, preset.heads);
    matrix("attn_v_b", latent.keys, latent.values, preset.heads);
    matrix("attn_output", preset.heads * latent.values, preset.embd);
}

void Outline::set_latent_attention() {
    const Preset::Latent& latent = preset.latent;
    if (latent.queries > 0) set("attention.q_lora_rank", latent.queries);
    set("attention.kv_lora_rank", latent.keys);
    set("attention.key_length", latent.keys + latent.rotary);
    set("attention.value_length", latent.keys);
    set("attention.key_length_mla", latent.plain + latent.rotary);
    set("attention.value_length_mla", latent.values);
    set("rope.dimension_count", latent.rotary);
}

void Outline::delta_net(bool joined_gates) {
    const int64_t values = preset.value_heads * delta_size;
    const int64_t channels = 2 * key_heads * delta_size + values;
    matrix("attn_qkv", preset.embd, channels);
    matrix("attn_gate", preset.embd, values);
    if (joined_gates) {
        matrix("ssm_ba", preset.embd, 2 * preset.value_heads);
    } else {
        matrix("ssm_beta", preset.embd, preset.value_heads);
        matrix("ssm_alpha", preset.embd, preset.value_heads);
    }
    plain("ssm_conv1d", taps, channels);
    vector("ssm_dt", preset.value_heads, ".bias");
    vector("ssm_a", preset.value_heads, "");
    vector("ssm_norm", delta_size);
    matrix("ssm_out", values, preset.embd);
}

void Outline::set_delta_net() {
    set("ssm.conv_kernel", taps);
    set("ssm.state_size", delta_size);
    set("ssm.group_count", key_heads);
    set("ssm.time_step_rank", preset.value_heads);
    set("ssm.inner_size", preset.value_heads * delta_size);
    set("full_attention_interval", 4);
    set("rope.dimension_count", preset.head_size / 4);
}

void Outline::dense(int64_t width, const char* suffix) {
    matrix(std::string("ffn_gate") + suffix, preset.embd, width);
    matrix(std::string("ffn_up") + suffix, preset.embd, width);
    matrix(std::string("ffn_down") + suffix, width, preset.embd);
}

void Outline::experts() {
    const auto& experts = preset.experts;
    plain("ffn_gate_inp", preset.embd, experts.count);
    matrix("ffn_gate_exps", preset.embd, experts.width, experts.count);
    matrix("ffn_up_exps", preset.embd, experts.width, experts.count);
    matrix("ffn_down_exps", experts.width, preset.embd, experts.count);
}

void Outline::set_yarn(double factor, int64_t original_context) {
    set_text("rope.scaling.type", "yarn");
    set_real("rope.scaling.factor", factor);
    set("rope.scaling.original_context_length", original_context);
}

}  // namespace tandem::cli::synth
