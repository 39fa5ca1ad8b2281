#include "checkpoints.h"

#include <string>
#include <vector>

#include "gguf/writer.h"

namespace tandem::test {

using gguf::DType;
using gguf::TensorInfo;

namespace {

// Quantisers take another type where rows are no whole blocks.
DType fitting(DType dtype, int64_t columns) {
    if (columns % gguf::traits(dtype).block == 0) return dtype;
    if (columns % 32 != 0) return DType::F16;
    return dtype == DType::Q6_K ? DType::Q8_0 : DType::Q5_0;
}

// Keys and tensors of a model, a word for each thing that families share.
class Checkpoint {
  public:
    Checkpoint(std::string architecture, int64_t layers, int64_t embd, int64_t vocab)
        : architecture_(std::move(architecture)), embd_(embd), layers_(layers) {
        metadata_.set_string("general.architecture", architecture_);
        set("block_count", layers);
        set("context_length", 131072);
        set("embedding_length", embd);
        set_real("attention.layer_norm_rms_epsilon", 1e-6f);
        add("token_embd", DType::Q4_K, embd, vocab);
        add("output_norm", DType::F32, embd);
        vocab_ = vocab;
    }

    void set(const std::string& key, int64_t value) {
        metadata_.set_u32(architecture_ + "." + key, uint32_t(value));
    }
    void set_real(const std::string& key, float value) {
        metadata_.set_f32(architecture_ + "." + key, value);
    }
    void set_array(const std::string& key, const std::vector<int64_t>& values) {
        metadata_.set(architecture_ + "." + key,
                      {.type = gguf::ValueType::I32, .array = true, .elements = values});
    }
    void set_heads(int64_t heads, int64_t kv_heads, int64_t d) {
        set("attention.head_count", heads);
        set("attention.head_count_kv", kv_heads);
        set("attention.key_length", d);
        set("attention.value_length", d);
    }
    void set_experts(int64_t count, int64_t used, int64_t width) {
        set("expert_count", count);
        set("expert_used_count", used);
        set("expert_feed_forward_length", width);
    }

    int64_t layers() const { return layers_; }
    int64_t embd() const { return embd_; }
    // Announces a block. Q4_K_M keeps every third, the first and the last eighth in Q6_K where it
    // matters most.
    void block(int64_t i) {
        prefix_ = "blk." + std::to_string(i) + ".";
        bool more = i < layers_ / 8 || i >= 7 * layers_ / 8 || (i - layers_ / 8) % 3 == 2;
        best_ = more ? DType::Q6_K : DType::Q4_K;
    }
    void untied() { add("output", DType::Q6_K, embd_, vocab_); }

    void vector(const std::string& name, int64_t count, const char* suffix = ".weight") {
        tensors_.push_back({.name = prefix_ + name + suffix,
                            .dtype = DType::F32,
                            .dims = 1,
                            .extents = {count, 1, 1, 1}});
    }
    void matrix(const std::string& name, int64_t columns, int64_t rows, int64_t stack = 1) {
        add(prefix_ + name, DType::Q4_K, columns, rows, stack);
    }
    void precise(const std::string& name, int64_t columns, int64_t rows, int64_t stack = 1) {
        add(prefix_ + name, best_, columns, rows, stack);
    }
    void plain(const std::string& name, int64_t columns, int64_t rows) {
        add(prefix_ + name, DType::F32, columns, rows);
    }
    void add(const std::string& name, DType dtype, int64_t columns, int64_t rows = 1,
             int64_t stack = 1) {
        tensors_.push_back({.name = name + ".weight",
                            .dtype = fitting(dtype, columns),
                            .dims = stack > 1  ? 3
                                    : rows > 1 ? 2
                                               : 1,
                            .extents = {columns, rows, stack, 1}});
    }

    void attention(int64_t heads, int64_t kv_heads, int64_t d, bool gated = false) {
        matrix("attn_q", embd_, heads * d * (gated ? 2 : 1));
        matrix("attn_k", embd_, kv_heads * d);
        precise("attn_v", embd_, kv_heads * d);
        matrix("attn_output", heads * d, embd_);
    }
    void head_norms(int64_t d) {
        vector("attn_q_norm", d);
        vector("attn_k_norm", d);
    }
    void dense(int64_t width, const char* suffix = "") {
        matrix(std::string("ffn_gate") + suffix, embd_, width);
        matrix(std::string("ffn_up") + suffix, embd_, width);
        precise(std::string("ffn_down") + suffix, width, embd_);
    }
    void experts(int64_t count, int64_t width, DType dtype = DType::Q4_K) {
        plain("ffn_gate_inp", embd_, count);
        add(prefix_ + "ffn_gate_exps", dtype, embd_, width, count);
        add(prefix_ + "ffn_up_exps", dtype, embd_, width, count);
        add(prefix_ + "ffn_down_exps", dtype == DType::Q4_K ? best_ : dtype, width, embd_, count);
    }
    // Grouped or tiled heads have the same tensors but for the gates.
    void delta_net(int64_t k_heads, int64_t v_heads, bool joined_gates) {
        int64_t channels = (2 * k_heads + v_heads) * 128;
        matrix("attn_qkv", embd_, channels);
        matrix("attn_gate", embd_, v_heads * 128);
        if (joined_gates) {
            plain("ssm_ba", embd_, 2 * v_heads);
        } else {
            plain("ssm_beta", embd_, v_heads);
            plain("ssm_alpha", embd_, v_heads);
        }
        plain("ssm_conv1d", 4, channels);
        vector("ssm_dt", v_heads, ".bias");
        vector("ssm_a", v_heads, "");
        vector("ssm_norm", 128);
        matrix("ssm_out", v_heads * 128, embd_);
    }
    void set_delta_net(int64_t k_heads, int64_t v_heads) {
        set("ssm.conv_kernel", 4);
        set("ssm.state_size", 128);
        set("ssm.group_count", k_heads);
        set("ssm.time_step_rank", v_heads);
        set("ssm.inner_size", v_heads * 128);
        set("rope.dimension_count", 64);
    }
    void latent_attention(int64_t heads, int64_t plain_size, int64_t rotary, int64_t value,
                          int64_t latent, int64_t narrow) {
        if (narrow > 0) {
            matrix("attn_q_a", embd_, narrow);
            vector("attn_q_a_norm", narrow);
            matrix("attn_q_b", narrow, heads * (plain_size + rotary));
        } else {
            matrix("attn_q", embd_, heads * (plain_size + rotary));
        }
        matrix("attn_kv_a_mqa", embd_, latent + rotary);
        vector("attn_kv_a_norm", latent);
        matrix("attn_k_b", plain_size, latent, heads);
        matrix("attn_v_b", latent, value, heads);
        matrix("attn_output", heads * value, embd_);
    }
    void set_latent_attention(int64_t plain_size, int64_t rotary, int64_t value, int64_t latent) {
        set("attention.kv_lora_rank", latent);
        set("attention.key_length", latent + rotary);
        set("attention.value_length", latent);
        set("attention.key_length_mla", plain_size + rotary);
        set("attention.value_length_mla", value);
        set("rope.dimension_count", rotary);
    }

    void write(const std::filesystem::path& path) {
        gguf::Writer(path, metadata_, tensors_).finish(true);
    }

  private:
    std::string architecture_, prefix_;
    int64_t embd_, vocab_ = 0, layers_;
    DType best_ = DType::Q4_K;
    gguf::Metadata metadata_;
    std::vector<TensorInfo> tensors_;
};

void norms(Checkpoint& file, std::initializer_list<const char*> names) {
    for (const char* name : names) file.vector(name, file.embd());
}

Checkpoint llama(int64_t layers, int64_t embd, int64_t heads, int64_t ffn) {
    Checkpoint file("llama", layers, embd, 128256);
    file.set("feed_forward_length", ffn);
    file.set_heads(heads, 8, 128);
    file.set_real("rope.freq_base", 5e5f);
    file.untied();
    file.vector("rope_freqs", 64);
    for (int64_t i = 0; i < layers; ++i) {
        file.block(i);
        norms(file, {"attn_norm", "ffn_norm"});
        file.attention(heads, 8, 128);
        file.dense(ffn);
    }
    return file;
}

Checkpoint qwen3moe(int64_t layers, int64_t embd, int64_t heads, int64_t width) {
    Checkpoint file("qwen3moe", layers, embd, 151936);
    file.set("feed_forward_length", width);
    file.set_heads(heads, 4, 128);
    file.set_experts(128, 8, width);
    file.set_real("rope.freq_base", 1e6f);
    file.untied();
    for (int64_t i = 0; i < layers; ++i) {
        file.block(i);
        norms(file, {"attn_norm", "ffn_norm"});
        file.attention(heads, 4, 128);
        file.head_norms(128);
        file.experts(128, width);
    }
    return file;
}

Checkpoint qwen3next() {
    Checkpoint file("qwen3next", 48, 2048, 151936);
    file.set("feed_forward_length", 5120);
    file.set("expert_shared_feed_forward_length", 512);
    file.set_heads(16, 2, 256);
    file.set_experts(512, 10, 512);
    file.set_delta_net(16, 32);
    file.untied();
    for (int64_t i = 0; i < 48; ++i) {
        file.block(i);
        norms(file, {"attn_norm", "post_attention_norm", "ffn_gate_inp_shexp"});
        if (i % 4 == 3) {
            file.attention(16, 2, 256, true);
            file.head_norms(256);
        } else {
            file.delta_net(16, 32, true);
        }
        file.experts(512, 512);
        file.dense(512, "_shexp");
    }
    return file;
}

Checkpoint qwen35_27b() {
    Checkpoint file("qwen35", 64, 5120, 248320);
    file.set("feed_forward_length", 17408);
    file.set_heads(24, 4, 256);
    file.set_delta_net(16, 48);
    file.untied();
    for (int64_t i = 0; i < 64; ++i) {
        file.block(i);
        norms(file, {"attn_norm", "post_attention_norm"});
        if (i % 4 == 3) {
            file.attention(24, 4, 256, true);
            file.head_norms(256);
        } else {
            file.delta_net(16, 48, false);
        }
        file.dense(17408);
    }
    return file;
}

Checkpoint qwen35_397b() {
    Checkpoint file("qwen35moe", 60, 4096, 248320);
    file.set("feed_forward_length", 1024);
    file.set("expert_shared_feed_forward_length", 1024);
    file.set_heads(32, 2, 256);
    file.set_experts(512, 10, 1024);
    file.set_delta_net(16, 64);
    file.untied();
    for (int64_t i = 0; i < 60; ++i) {
        file.block(i);
        norms(file, {"attn_norm", "post_attention_norm", "ffn_gate_inp_shexp"});
        if (i % 4 == 3) {
            file.attention(32, 2, 256, true);
            file.head_norms(256);
        } else {
            file.delta_net(16, 64, false);
        }
        file.experts(512, 1024);
        file.dense(1024, "_shexp");
    }
    return file;
}

Checkpoint gpt_oss(int64_t layers, int64_t experts) {
    Checkpoint file("gpt-oss", layers, 2880, 201088);
    file.set_heads(64, 8, 64);
    file.set_experts(experts, 4, 2880);
    file.set("attention.sliding_window", 128);
    file.untied();
    for (int64_t i = 0; i < layers; ++i) {
        file.block(i);
        norms(file, {"attn_norm", "post_attention_norm"});
        file.attention(64, 8, 64);
        file.vector("attn_q", 64 * 64, ".bias");
        file.vector("attn_k", 8 * 64, ".bias");
        file.vector("attn_v", 8 * 64, ".bias");
        file.vector("attn_output", 2880, ".bias");
        file.vector("attn_sinks", 64);
        file.experts(experts, 2880, DType::MXFP4);
        file.vector("ffn_gate_inp", experts, ".bias");
        for (const char* name : {"ffn_gate_exps", "ffn_up_exps", "ffn_down_exps"})
            file.vector(name, 2880 * experts, ".bias");
    }
    return file;
}

Checkpoint glm4moe(int64_t layers, int64_t dense_layers, int64_t embd, int64_t ffn, int64_t experts,
                   int64_t width, bool head_norms) {
    Checkpoint file("glm4moe", layers, embd, 151552);
    file.set("feed_forward_length", ffn);
    file.set_heads(96, 8, 128);
    file.set("rope.dimension_count", 64);
    file.set_experts(experts, 8, width);
    file.set("expert_shared_count", 1);
    file.set("leading_dense_block_count", dense_layers);
    file.untied();
    for (int64_t i = 0; i < layers; ++i) {
        file.block(i);
        norms(file, {"attn_norm", "post_attention_norm"});
        file.attention(96, 8, 128);
        if (head_norms) file.head_norms(128);
        if (i < dense_layers) {
            file.dense(ffn);
            continue;
        }
        file.experts(experts, width);
        file.vector("exp_probs_b", experts, ".bias");
        file.dense(width, "_shexp");
    }
    return file;
}

Checkpoint kimi_linear() {
    Checkpoint file("kimi-linear", 27, 2304, 163840);
    std::vector<int64_t> kv_heads;
    for (int64_t i = 0; i < 27; ++i) kv_heads.push_back(i % 4 == 3 || i == 26);
    file.set("attention.head_count", 32);
    file.set_array("attention.head_count_kv", kv_heads);
    file.set("feed_forward_length", 9216);
    file.set_latent_attention(128, 64, 128, 512);
    file.set("ssm.conv_kernel", 4);
    file.set("kda.head_dim", 128);
    file.set_experts(256, 8, 1024);
    file.set("expert_shared_count", 1);
    file.set("expert_gating_func", 2);
    file.set("leading_dense_block_count", 1);
    file.untied();
    for (int64_t i = 0; i < 27; ++i) {
        file.block(i);
        norms(file, {"attn_norm", "ffn_norm"});
        if (kv_heads[size_t(i)] == 1) {
            file.latent_attention(32, 128, 64, 128, 512, 0);
        } else {
            for (const char* name : {"attn_q", "attn_k", "attn_v"}) file.matrix(name, 2304, 4096);
            for (const char* name : {"ssm_conv1d_q", "ssm_conv1d_k", "ssm_conv1d_v"})
                file.plain(name, 4, 4096);
            for (const char* pair : {"ssm_f", "ssm_g"}) {
                file.matrix(std::string(pair) + "_a", 2304, 128);
                file.matrix(std::string(pair) + "_b", 128, 4096);
            }
            file.plain("ssm_beta", 2304, 32);
            file.vector("ssm_a", 32, "");
            file.vector("ssm_dt", 4096, ".bias");
            file.vector("ssm_norm", 128);
            file.matrix("attn_output", 4096, 2304);
        }
        if (i == 0) {
            file.dense(9216);
            continue;
        }
        file.experts(256, 1024);
        file.vector("exp_probs_b", 256, ".bias");
        file.dense(1024, "_shexp");
    }
    return file;
}

Checkpoint gemma4_26b() {
    Checkpoint file("gemma4", 30, 2816, 262144);
    std::vector<int64_t> slides, kv_heads;
    for (int64_t i = 0; i < 30; ++i) {
        slides.push_back(i % 6 != 5);
        kv_heads.push_back(i % 6 != 5 ? 8 : 2);
    }
    file.set_heads(16, 8, 512);
    file.set_array("attention.head_count_kv", kv_heads);
    file.set_array("attention.sliding_window_pattern", slides);
    file.set("attention.sliding_window", 1024);
    file.set("attention.key_length_swa", 256);
    file.set("attention.value_length_swa", 256);
    file.set("rope.dimension_count_swa", 256);
    file.set("feed_forward_length", 2112);
    file.set_experts(128, 8, 704);
    file.vector("rope_freqs", 256);
    for (int64_t i = 0; i < 30; ++i) {
        bool full = slides[size_t(i)] == 0;
        int64_t d = full ? 512 : 256, rows = kv_heads[size_t(i)] * d;
        file.block(i);
        norms(file, {"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm",
                     "pre_ffw_norm_2", "post_ffw_norm_1", "post_ffw_norm_2"});
        file.matrix("attn_q", 2816, 16 * d);
        file.matrix("attn_k", 2816, rows);
        if (!full) file.precise("attn_v", 2816, rows);
        file.matrix("attn_output", 16 * d, 2816);
        file.head_norms(d);
        file.dense(2112);
        file.experts(128, 704);
        file.vector("ffn_gate_inp", 2816, ".scale");
        file.vector("layer_output_scale", 1);
    }
    return file;
}

Checkpoint deepseek_v3() {
    Checkpoint file("deepseek2", 61, 7168, 129280);
    file.set("attention.head_count", 128);
    file.set("attention.head_count_kv", 1);
    file.set("attention.q_lora_rank", 1536);
    file.set("feed_forward_length", 18432);
    file.set_latent_attention(128, 64, 128, 512);
    file.set_experts(256, 8, 2048);
    file.set("expert_shared_count", 1);
    file.set("expert_group_count", 8);
    file.set("expert_group_used_count", 4);
    file.set("expert_gating_func", 2);
    file.set("leading_dense_block_count", 3);
    file.untied();
    for (int64_t i = 0; i < 61; ++i) {
        file.block(i);
        norms(file, {"attn_norm", "ffn_norm"});
        file.latent_attention(128, 128, 64, 128, 512, 1536);
        if (i < 3) {
            file.dense(18432);
            continue;
        }
        file.experts(256, 2048);
        file.vector("exp_probs_b", 256, ".bias");
        file.dense(2048, "_shexp");
    }
    return file;
}

struct Entry {
    const char* name;
    Checkpoint (*make)();
};
constexpr Entry entries[] = {
    {"llama-8b-q4_k_m", [] { return llama(32, 4096, 32, 14336); }},
    {"llama-70b-q4_k_m", [] { return llama(80, 8192, 64, 28672); }},
    {"qwen3-30b-a3b-q4_k_m", [] { return qwen3moe(48, 2048, 32, 768); }},
    {"qwen3-235b-a22b-q4_k_m", [] { return qwen3moe(94, 4096, 64, 1536); }},
    {"qwen3-next-80b-q4_k_m", qwen3next},
    {"qwen3.5-27b-q4_k_m", qwen35_27b},
    {"qwen3.5-397b-q4_k_m", qwen35_397b},
    {"gpt-oss-20b-mxfp4", [] { return gpt_oss(24, 32); }},
    {"gpt-oss-120b-mxfp4", [] { return gpt_oss(36, 128); }},
    {"glm-4.5-air-q4_k_m", [] { return glm4moe(46, 1, 4096, 10944, 128, 1408, false); }},
    {"glm-4.5-q4_k_m", [] { return glm4moe(92, 3, 5120, 12288, 160, 1536, true); }},
    {"kimi-linear-48b-q4_k_m", kimi_linear},
    {"gemma4-26b-q4_k_m", gemma4_26b},
    {"deepseek-v3-q4_k_m", deepseek_v3},
};

}  // namespace

std::vector<std::string> checkpoint_names() {
    std::vector<std::string> names;
    for (const Entry& entry : entries) names.emplace_back(entry.name);
    return names;
}

bool write_checkpoint(const std::string& name, const std::filesystem::path& path) {
    for (const Entry& entry : entries) {
        if (name != entry.name) continue;
        Checkpoint file = entry.make();
        file.write(path);
        return true;
    }
    return false;
}

}  // namespace tandem::test
