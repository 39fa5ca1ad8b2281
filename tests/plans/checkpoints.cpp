#include "checkpoints.h"

#include <string>
#include <vector>

#include "gguf/writer.h"

namespace tandem::test {

using gguf::DType;
using gguf::Metadata;
using gguf::TensorInfo;

namespace {

struct Sizes {
    std::string architecture;
    int64_t layers, embd, heads, kv_heads, d, ffn, vocab;
    int64_t experts = 0, used = 0;
};

// Q4_K_M keeps every third layer, the first and the last eighth in Q6_K where it matters most.
bool more_bits(int64_t layer, int64_t layers) {
    return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
}

class Directory {
  public:
    explicit Directory(const Sizes& sizes) : sizes_(sizes) {
        const std::string& name = sizes.architecture;
        metadata_.set_string("general.architecture", name);
        auto set = [&](const char* key, int64_t value) {
            metadata_.set_u32(name + "." + key, uint32_t(value));
        };
        set("block_count", sizes.layers);
        set("context_length", 40960);
        set("embedding_length", sizes.embd);
        set("feed_forward_length", sizes.ffn);
        set("attention.head_count", sizes.heads);
        set("attention.head_count_kv", sizes.kv_heads);
        set("attention.key_length", sizes.d);
        set("attention.value_length", sizes.d);
        metadata_.set_f32(name + ".attention.layer_norm_rms_epsilon", 1e-6f);
        metadata_.set_f32(name + ".rope.freq_base", 1e6f);
        if (sizes.experts == 0) return;
        set("expert_count", sizes.experts);
        set("expert_used_count", sizes.used);
        set("expert_feed_forward_length", sizes.ffn);
    }

    void add(std::string name, DType dtype, int64_t columns, int64_t rows = 1, int64_t stack = 1) {
        tensors_.push_back({.name = std::move(name) + ".weight",
                            .dtype = dtype,
                            .dims = stack > 1  ? 3
                                    : rows > 1 ? 2
                                               : 1,
                            .extents = {columns, rows, stack, 1}});
    }

    void add_ends() {
        add("token_embd", DType::Q4_K, sizes_.embd, sizes_.vocab);
        add("output_norm", DType::F32, sizes_.embd);
        add("output", DType::Q6_K, sizes_.embd, sizes_.vocab);
    }

    void add_attention(const std::string& block, bool more) {
        add(block + "attn_norm", DType::F32, sizes_.embd);
        add(block + "attn_q", DType::Q4_K, sizes_.embd, sizes_.heads * sizes_.d);
        add(block + "attn_k", DType::Q4_K, sizes_.embd, sizes_.kv_heads * sizes_.d);
        add(block + "attn_v", more ? DType::Q6_K : DType::Q4_K, sizes_.embd,
            sizes_.kv_heads * sizes_.d);
        add(block + "attn_output", DType::Q4_K, sizes_.heads * sizes_.d, sizes_.embd);
        add(block + "ffn_norm", DType::F32, sizes_.embd);
    }

    void write(const std::filesystem::path& path) {
        gguf::Writer(path, metadata_, tensors_).finish(true);
    }

  private:
    Sizes sizes_;
    Metadata metadata_;
    std::vector<TensorInfo> tensors_;
};

}  // namespace

void write_llama_8b(const std::filesystem::path& path) {
    Sizes sizes{.architecture = "llama",
                .layers = 32,
                .embd = 4096,
                .heads = 32,
                .kv_heads = 8,
                .d = 128,
                .ffn = 14336,
                .vocab = 128256};
    Directory directory(sizes);
    directory.add_ends();
    directory.add("rope_freqs", DType::F32, sizes.d / 2);
    for (int64_t i = 0; i < sizes.layers; ++i) {
        std::string block = "blk." + std::to_string(i) + ".";
        bool more = more_bits(i, sizes.layers);
        directory.add_attention(block, more);
        directory.add(block + "ffn_gate", DType::Q4_K, sizes.embd, sizes.ffn);
        directory.add(block + "ffn_up", DType::Q4_K, sizes.embd, sizes.ffn);
        directory.add(block + "ffn_down", more ? DType::Q6_K : DType::Q4_K, sizes.ffn, sizes.embd);
    }
    directory.write(path);
}

void write_qwen3_30b_a3b(const std::filesystem::path& path) {
    Sizes sizes{.architecture = "qwen3moe",
                .layers = 48,
                .embd = 2048,
                .heads = 32,
                .kv_heads = 4,
                .d = 128,
                .ffn = 768,
                .vocab = 151936,
                .experts = 128,
                .used = 8};
    Directory directory(sizes);
    directory.add_ends();
    for (int64_t i = 0; i < sizes.layers; ++i) {
        std::string block = "blk." + std::to_string(i) + ".";
        bool more = more_bits(i, sizes.layers);
        directory.add_attention(block, more);
        directory.add(block + "attn_q_norm", DType::F32, sizes.d);
        directory.add(block + "attn_k_norm", DType::F32, sizes.d);
        directory.add(block + "ffn_gate_inp", DType::F32, sizes.embd, sizes.experts);
        directory.add(block + "ffn_gate_exps", DType::Q4_K, sizes.embd, sizes.ffn, sizes.experts);
        directory.add(block + "ffn_up_exps", DType::Q4_K, sizes.embd, sizes.ffn, sizes.experts);
        directory.add(block + "ffn_down_exps", more ? DType::Q6_K : DType::Q4_K, sizes.ffn,
                      sizes.embd, sizes.experts);
    }
    directory.write(path);
}

}  // namespace tandem::test
