// The bundled model with weights of every type that can be written: int8 activations and unpacked
// weights must predict as the reference does, which multiplies in f32, with every instruction set
// of this machine. Its rows are too short for types with blocks of 256, so it is made twice as
// wide, which changes nothing of what it says.
#include <gtest/gtest.h>

#include "cli/options.h"
#include "data.h"
#include "gguf/folder.h"
#include "kernels/cpu/variants.h"
#include "model/tokenizer/tokenizer.h"
#include "models/perplexity.h"
#include "models/rewrite.h"

namespace tandem::test {
namespace {

// Every run of `run` values is followed by itself, all times `factor`.
std::vector<float> doubled(const std::vector<float>& values, size_t run, float factor) {
    std::vector<float> result;
    for (size_t at = 0; at < values.size(); at += run)
        for (int copy = 0; copy < 2; ++copy)
            for (size_t i = at; i < at + run; ++i) result.push_back(factor * values[i]);
    return result;
}

// How a matrix doubles: runs of its columns and of its rows; 0: not. What stands twice in a row
// meets twice the elements, so that each counts half.
struct Doubling {
    const char* part;
    size_t columns, rows;
    float factor = 0.5f;
};
constexpr size_t width = 128, hidden = 384, head = 16;
constexpr Doubling doublings[] = {
    {"token_embd", width, 0, 1}, {"attn_q.", width, 0},        {"attn_k.", width, 0},
    {"attn_v.", width, head},    {"attn_output", head, width}, {"ffn_gate", width, hidden},
    {"ffn_up", width, hidden},   {"ffn_down", hidden, width},
};

Stored widened(const Stored& tensor, gguf::DType dtype) {
    Stored result = tensor;
    gguf::TensorInfo& info = result.info;
    const auto columns = size_t(info.extents[0]), rows = size_t(info.elements()) / columns;
    std::vector<float> values(columns * rows);
    for (size_t r = 0; r < rows; ++r)
        decode_row(info.dtype, tensor.bytes.data() + r * tensor.bytes.size() / rows,
                   std::span(values).subspan(r * columns, columns));
    if (info.dims == 1) {
        // The output is the embedding, whose elements meet twice as many.
        const float factor = info.name == "output_norm.weight" ? 0.5f : 1;
        values = doubled(values, columns, factor);
        info.extents[0] *= 2;
        dtype = gguf::DType::F32;
    }
    for (const Doubling& doubling : doublings) {
        if (info.name.find(doubling.part) == std::string::npos) continue;
        values = doubled(values, doubling.columns, doubling.factor);
        info.extents[0] *= 2;
        if (doubling.rows == 0) continue;
        values = doubled(values, doubling.rows * 2 * columns, 1);
        info.extents[1] *= 2;
    }
    info.dtype = dtype;
    const auto length = size_t(info.extents[0]),
               bytes = size_t(gguf::row_bytes(dtype, int64_t(length)));
    result.bytes.resize(values.size() / length * bytes);
    for (size_t r = 0; r < values.size() / length; ++r)
        encode_row(dtype, std::span(values).subspan(r * length, length),
                   result.bytes.data() + r * bytes);
    return result;
}

// So many that chance, which decides much of what a type of two bits predicts, averages out.
constexpr int64_t length = 128, windows = 8;

double perplexity_on(const char* device, const gguf::File& file, std::string_view variant = "") {
    const model::Tokenizer tokenizer(file.metadata(), file.path());
    const std::vector<int32_t> tokens =
        tokenizer.encode(read_text(data("stories/stories-heldout.txt")), {.parse_special = false});
    cli::EngineOptions options;
    options.devices = {device};
    options.how.variant = variant;
    options.model.context = options.plan.context = length;
    return perplexity(file, options, tokens, length, windows);
}

class WidenedModel : public ::testing::Test {
  protected:
    gguf::File wide(gguf::DType dtype) {
        gguf::Metadata metadata = bundled.metadata();
        metadata.set_u32("llama.embedding_length", 2 * width);
        metadata.set_u32("llama.feed_forward_length", 2 * hidden);
        metadata.set_u32("llama.attention.value_length", 2 * head);
        std::vector<Stored> tensors;
        for (const Stored& tensor : read_all(bundled)) tensors.push_back(widened(tensor, dtype));
        return gguf::File::open(write(folder / "wide.gguf", metadata, tensors));
    }
    const gguf::File bundled = gguf::File::open(data("stories/stories.gguf"));
    const Folder folder;
};

TEST_F(WidenedModel, width_changes_nothing) {
    const double expected = perplexity_on("reference", bundled);
    EXPECT_NEAR(perplexity_on("cpu", wide(gguf::DType::F32)) / expected, 1, 1e-4);
}

class WeightType : public WidenedModel, public ::testing::WithParamInterface<gguf::DType> {};

// The instruction sets of this machine.
std::vector<std::string> variants() {
    std::vector<std::string> names = cli::split(kernels::cpu::supported_variants(), ", ");
    std::erase(names, "");  // between the two characters of a separator
    return names;
}

TEST_P(WeightType, predicts_as_the_reference_does) {
    const gguf::File file = wide(GetParam());
    const double expected = perplexity_on("reference", file);
    for (const std::string& variant : variants()) {
        const double found = perplexity_on("cpu", file, variant);
        EXPECT_NEAR(found / expected, 1, 0.005)
            << variant << " found " << found << " instead of " << expected;
    }
}

std::vector<gguf::DType> writable_types() {
    std::vector<gguf::DType> types;
    for (const gguf::DTypeTraits& type : gguf::dtypes())
        if (type.encode && type.in_files && width * 2 % type.block == 0)
            types.push_back(type.dtype);
    return types;
}

INSTANTIATE_TEST_SUITE_P(All, WeightType, ::testing::ValuesIn(writable_types()),
                         [](const auto& info) { return std::string(gguf::name(info.param)); });

}  // namespace
}  // namespace tandem::test
