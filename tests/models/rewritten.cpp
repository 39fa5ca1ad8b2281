// Files that say the same in other words: queries, keys and values in one tensor. And biases, which
// count once however many devices add up what they are added to.
#include <gtest/gtest.h>

#include "data.h"
#include "gguf/folder.h"
#include "gguf/writer.h"
#include "models/golden.h"
#include "random.h"

namespace tandem::test {
namespace {

using gguf::TensorInfo;

struct Stored {
    TensorInfo info;
    std::vector<std::byte> bytes;
};

std::vector<Stored> read_all(const gguf::File& file) {
    std::vector<Stored> tensors;
    for (const TensorInfo& info : file.tensors()) {
        auto data = file.data(info);
        tensors.push_back({info, {data.begin(), data.end()}});
    }
    return tensors;
}

std::filesystem::path write(const std::filesystem::path& path, const gguf::File& file,
                            const std::vector<Stored>& tensors) {
    std::vector<TensorInfo> infos;
    for (const Stored& tensor : tensors) infos.push_back(tensor.info);
    gguf::Writer writer(path, file.metadata(), infos);
    for (const Stored& tensor : tensors) writer.write(tensor.bytes);
    writer.finish();
    return path;
}

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

struct Mapping {
    const char* mode;
    size_t devices;
    std::vector<double> ratio;
};

std::vector<float> logits_of(const gguf::File& file, const Mapping& mapping,
                             const std::vector<int32_t>& tokens) {
    cli::EngineOptions options;
    options.model.key_type = options.model.value_type = gguf::DType::F32;
    options.devices.assign(mapping.devices, "reference");
    options.plan.mode = mapping.mode;
    options.plan.ratio = mapping.ratio;
    return evaluate(file, options, tokens, 0).logits;
}

const Mapping mappings[] = {{"none", 1, {}},
                            {"layer", 2, {}},
                            {"tensor", 3, {}},
                            {"tensor", 8, {}},
                            {"tensor", 3, {1, 0, 2}}};

class Rewritten : public ::testing::TestWithParam<const char*> {
  protected:
    Golden golden = read_golden(test::data("fixtures"), GetParam());
    gguf::File file = gguf::File::open(golden.model);
    Folder folder;
};

TEST_P(Rewritten, one_tensor_for_queries_keys_and_values) {
    gguf::File other = gguf::File::open(write(folder / "fused.gguf", file, fused(read_all(file))));
    ASSERT_LT(other.tensors().size(), file.tensors().size());
    for (const Mapping& mapping : mappings)
        EXPECT_LE(nmse(logits_of(other, mapping, golden.tokens), golden.logits), 1e-9)
            << mapping.mode << " on " << mapping.devices;
}

TEST_P(Rewritten, biases_count_once) {
    gguf::File other =
        gguf::File::open(write(folder / "biased.gguf", file, biased(read_all(file))));
    std::vector<float> alone = logits_of(other, mappings[0], golden.tokens);
    EXPECT_GT(nmse(alone, golden.logits), 1e-2) << "the biases change the answer";
    for (const Mapping& mapping : mappings)
        EXPECT_LE(nmse(logits_of(other, mapping, golden.tokens), alone), 1e-10)
            << mapping.mode << " on " << mapping.devices;
}

TEST_P(Rewritten, biases_in_one_tensor) {
    std::vector<Stored> tensors = biased(read_all(file));
    gguf::File apart = gguf::File::open(write(folder / "apart.gguf", file, tensors));
    gguf::File together = gguf::File::open(write(folder / "together.gguf", file, fused(tensors)));
    ASSERT_LT(together.tensors().size(), apart.tensors().size());
    std::vector<float> alone = logits_of(apart, mappings[0], golden.tokens);
    for (const Mapping& mapping : mappings)
        EXPECT_LE(nmse(logits_of(together, mapping, golden.tokens), alone), 1e-10)
            << mapping.mode << " on " << mapping.devices;
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Rewritten, ::testing::Values("llama-rope-factors", "qwen3-bf16"),
                         [](const auto& info) {
                             return std::string(info.index == 0 ? "llama" : "qwen3");
                         });

}  // namespace
}  // namespace tandem::test
