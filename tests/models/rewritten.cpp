// Files that say the same in other words: queries, keys and values in one tensor, weights with
// their scale beside them. And biases, which count once however many devices add up what they are
// added to.
#include <gtest/gtest.h>

#include <algorithm>

#include "data.h"
#include "gguf/folder.h"
#include "models/golden.h"
#include "models/mapping.h"
#include "models/rewrite.h"
#include "random.h"

namespace tandem::test {
namespace {

using gguf::TensorInfo;

// blk.N.attn_q, attn_k and attn_v become blk.N.attn_qkv, matrices and biases alike.
std::vector<Stored> fused(const std::vector<Stored>& tensors) {
    auto with = [](std::string name, const char* part) {
        return name.replace(name.find("attn_q."), 6, part);
    };
    std::vector<Stored> result;
    for (const Stored& tensor : tensors) {
        const std::string& name = tensor.info.name;
        if (name.find("attn_k.") != std::string::npos) continue;
        if (name.find("attn_v.") != std::string::npos) continue;
        result.push_back(tensor);
        if (name.find("attn_q.") == std::string::npos) continue;
        Stored& whole = result.back();
        for (const char* part : {"attn_k", "attn_v"})
            for (const Stored& other : tensors) {
                if (other.info.name != with(name, part)) continue;
                size_t rows = size_t(other.info.dims - 1);
                whole.info.extents[rows] += other.info.extents[rows];
                whole.bytes.insert(whole.bytes.end(), other.bytes.begin(), other.bytes.end());
            }
        whole.info.name = with(name, "attn_qkv");
    }
    return result;
}

// Every matrix of a block gets a bias of its own.
std::vector<Stored> biased(const std::vector<Stored>& tensors) {
    Random random(3);
    std::vector<Stored> result = tensors;
    for (const Stored& tensor : tensors) {
        size_t end = tensor.info.name.rfind(".weight");
        if (tensor.info.dims != 2 || tensor.info.name.compare(0, 4, "blk.") != 0) continue;
        TensorInfo info{.name = tensor.info.name.substr(0, end) + ".bias",
                        .dims = 1,
                        .extents = {tensor.info.extents[1], 1, 1, 1}};
        std::vector<float> values = random.floats(info.extents[0]);
        auto* bytes = reinterpret_cast<const std::byte*>(values.data());
        result.push_back({info, {bytes, bytes + values.size() * sizeof(float)}});
    }
    return result;
}

// Powers of two, so that dividing by them is exact: one for each expert, or for the whole matrix.
float scale_of(int64_t expert) { return float(1 << (expert + 1) % 4) / 4; }

// Every matrix of a block but the router is divided by scales that stand in a tensor of their own.
// In the dense network they multiply the bias, too.
std::vector<Stored> scaled(const std::vector<Stored>& tensors) {
    std::vector<Stored> result;
    for (const Stored& tensor : tensors) {
        const std::string& name = tensor.info.name;
        bool block = name.compare(0, 4, "blk.") == 0;
        bool matrix = block && tensor.info.dims > 1 && name.find("ffn_gate_inp") == name.npos;
        bool bias = block && name.find(".ffn_") != name.npos && name.ends_with(".bias");
        result.push_back(tensor);
        if (!matrix && !bias) continue;
        std::vector<float> values(size_t(tensor.info.elements())), scales;
        auto experts = size_t(tensor.info.extents[2]);
        for (size_t e = 0; e < experts; ++e) scales.push_back(scale_of(int64_t(e)));
        decode_row(tensor.info.dtype, tensor.bytes.data(), values);  // no rows in types of block 1
        for (size_t i = 0; i < values.size(); ++i) values[i] /= scales[i * experts / values.size()];
        auto bytes = std::as_bytes(std::span(values));
        result.back().info.dtype = gguf::DType::F32;
        result.back().bytes = {bytes.begin(), bytes.end()};
        if (bias) continue;
        bytes = std::as_bytes(std::span(scales));
        TensorInfo info{.name = name.substr(0, name.rfind(".weight")) + ".scale",
                        .dims = 1,
                        .extents = {int64_t(experts), 1, 1, 1}};
        result.push_back({info, {bytes.begin(), bytes.end()}});
    }
    return result;
}

// Every value head gets `more` elements of 0, and attn_output weights for them, which then say
// nothing.
std::vector<Stored> longer_values(const std::vector<Stored>& tensors, int64_t size, int64_t more) {
    std::vector<Stored> result = tensors;
    for (Stored& tensor : result) {
        bool rows = tensor.info.name.find("attn_v.weight") != std::string::npos;
        bool columns = tensor.info.name.find("attn_output.weight") != std::string::npos;
        if (!rows && !columns) continue;
        // Runs of elements that belong to one head, behind each of which others come.
        int64_t run = rows ? size * tensor.info.extents[0] : size;
        std::vector<float> values(size_t(tensor.info.elements())), longer;
        decode_row(tensor.info.dtype, tensor.bytes.data(), values);
        for (auto head = values.begin(); head != values.end(); head += run) {
            longer.insert(longer.end(), head, head + run);
            longer.insert(longer.end(), size_t(run / size * more), rows ? 0.0f : 1.0f);
        }
        int64_t& extent = tensor.info.extents[rows ? 1 : 0];
        extent = extent / size * (size + more);
        tensor.info.dtype = gguf::DType::F32;
        auto bytes = std::as_bytes(std::span(longer));
        tensor.bytes = {bytes.begin(), bytes.end()};
    }
    return result;
}

std::vector<float> logits_of(const gguf::File& file, const Mapping& mapping,
                             const std::vector<int32_t>& tokens) {
    cli::EngineOptions options;
    options.model.key_type = options.model.value_type = gguf::DType::F32;
    options.devices.assign(mapping.devices, "reference");
    options.plan.mode = mapping.mode;
    options.plan.ratio = mapping.ratio;
    return evaluate(file, options, tokens, 0).logits;
}

const Mapping mappings[] = {{"none", 1, {}},   {"layer", 2, {}},         {"tensor", 3, {}},
                            {"tensor", 8, {}}, {"tensor", 3, {9, 1, 9}}, {"tensor", 3, {1, 0, 2}}};

class Rewritten : public ::testing::TestWithParam<const char*> {
  protected:
    Golden golden = read_golden(test::data("fixtures"), GetParam());
    gguf::File file = gguf::File::open(golden.model);
    Folder folder;
};

TEST_P(Rewritten, one_tensor_for_queries_keys_and_values) {
    gguf::File other =
        gguf::File::open(write(folder / "fused.gguf", file.metadata(), fused(read_all(file))));
    ASSERT_LT(other.tensors().size(), file.tensors().size());
    for (const Mapping& mapping : mappings)
        EXPECT_LE(nmse(logits_of(other, mapping, golden.tokens), golden.logits), 1e-9)
            << to_string(mapping);
}

TEST_P(Rewritten, biases_count_once) {
    gguf::File other =
        gguf::File::open(write(folder / "biased.gguf", file.metadata(), biased(read_all(file))));
    std::vector<float> alone = logits_of(other, mappings[0], golden.tokens);
    EXPECT_GT(nmse(alone, golden.logits), 1e-2) << "the biases change the answer";
    for (const Mapping& mapping : mappings)
        EXPECT_LE(nmse(logits_of(other, mapping, golden.tokens), alone), 1e-10)
            << to_string(mapping);
}

TEST_P(Rewritten, biases_in_one_tensor) {
    std::vector<Stored> tensors = biased(read_all(file));
    gguf::File apart = gguf::File::open(write(folder / "apart.gguf", file.metadata(), tensors));
    gguf::File together =
        gguf::File::open(write(folder / "together.gguf", file.metadata(), fused(tensors)));
    ASSERT_LT(together.tensors().size(), apart.tensors().size());
    std::vector<float> alone = logits_of(apart, mappings[0], golden.tokens);
    for (const Mapping& mapping : mappings)
        EXPECT_LE(nmse(logits_of(together, mapping, golden.tokens), alone), 1e-10)
            << to_string(mapping);
}

TEST_P(Rewritten, values_of_a_size_of_their_own) {
    gguf::Metadata metadata = file.metadata();
    metadata.set_u32(*metadata.text("general.architecture") + ".attention.value_length", 48);
    gguf::File other = gguf::File::open(
        write(folder / "longer.gguf", metadata, longer_values(read_all(file), 32, 16)));
    for (const Mapping& mapping : mappings)
        EXPECT_LE(nmse(logits_of(other, mapping, golden.tokens), golden.logits), 1e-9)
            << to_string(mapping);
}

TEST_P(Rewritten, scales_beside_biases) {
    std::vector<Stored> tensors = fused(biased(read_all(file)));
    gguf::File plain = gguf::File::open(write(folder / "plain.gguf", file.metadata(), tensors));
    gguf::File other =
        gguf::File::open(write(folder / "scaled.gguf", file.metadata(), scaled(tensors)));
    std::vector<float> alone = logits_of(plain, mappings[0], golden.tokens);
    for (const Mapping& mapping : mappings)
        EXPECT_LE(nmse(logits_of(other, mapping, golden.tokens), alone), 1e-10)
            << to_string(mapping);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Rewritten, ::testing::Values("llama-rope-factors", "qwen3-bf16"),
                         [](const auto& info) {
                             return std::string(info.index == 0 ? "llama" : "qwen3");
                         });

class Scaled : public Rewritten {};

TEST_P(Scaled, weights_and_their_scales) {
    std::vector<Stored> tensors = scaled(read_all(file));
    gguf::File other = gguf::File::open(write(folder / "scaled.gguf", file.metadata(), tensors));
    ASSERT_GT(other.tensors().size(), file.tensors().size());
    for (const Mapping& mapping : mappings)
        EXPECT_LE(nmse(logits_of(other, mapping, golden.tokens), golden.logits), 1e-9)
            << to_string(mapping);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Scaled,
                         ::testing::Values("llama-rope-factors", "llama-moe", "qwen3moe"),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace tandem::test
