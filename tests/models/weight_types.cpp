// The bundled model with weights of every type: int8 activations and unpacked weights must predict
// as the weights' numbers do in f32, with every instruction set of this machine. Its rows are too
// short for types with blocks of 256, so it is made twice as wide, which changes nothing of what it
// says.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "cli/options.h"
#include "data.h"
#include "gguf/folder.h"
#include "kernels/cpu/variants.h"
#include "model/tokenizer/tokenizer.h"
#include "models/encode.h"
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

std::vector<float> values_of(const Stored& tensor) {
    const auto columns = size_t(tensor.info.extents[0]);
    const size_t rows = size_t(tensor.info.elements()) / columns;
    std::vector<float> values(columns * rows);
    for (size_t r = 0; r < rows; ++r)
        decode_row(tensor.info.dtype, tensor.bytes.data() + r * tensor.bytes.size() / rows,
                   std::span(values).subspan(r * columns, columns));
    return values;
}

struct Type {
    gguf::DType dtype;
    std::function<void(std::span<const float>, std::byte*)> encode;
    float rough_bits = 32;  // of an element, where only these tests write the type
};

Type type_of(gguf::DType dtype) {
    for (const Format& format : formats())
        if (format.dtype == dtype) {
            const gguf::DTypeTraits& traits = gguf::traits(dtype);
            return {.dtype = dtype,
                    .encode = [encoder = Encoder(format)](auto row,
                                                          auto* to) { encoder.encode(row, to); },
                    .rough_bits = 8 * float(traits.block_bytes) / float(traits.block)};
        }
    return {.dtype = dtype, .encode = [dtype](auto row, auto* to) { encode_row(dtype, row, to); }};
}

// With one or two bits of these encoders the model would say nothing, or what chance decides. What
// stands twice in a row is made to differ, since its sum counts: the second takes over what the
// first one missed, and then the first what is still missed.
void correct(const Type& type, std::vector<float> row, size_t run, std::byte* to) {
    const std::vector<float> wanted = row;
    for (const bool second : {true, false}) {
        std::vector<float> found(row.size());
        decode_row(type.dtype, to, found);
        for (size_t i = 0; i < row.size(); ++i) {
            const bool is_second = i / run % 2 == 1;
            const size_t other = is_second ? i - run : i + run;
            row[i] = is_second == second ? wanted[i] + wanted[other] - found[other] : found[i];
        }
        type.encode(row, to);
    }
}

// Rows that are repeated are encoded once. `run`: numbers that stand twice in a row, one run behind
// the other; 0: none do.
std::vector<std::byte> encoded(const Type& type, const std::vector<float>& values, size_t length,
                               size_t run) {
    const auto bytes = size_t(gguf::row_bytes(type.dtype, int64_t(length)));
    std::vector<std::byte> result(values.size() / length * bytes);
    std::map<std::vector<float>, const std::byte*> done;
    for (size_t r = 0; r < values.size() / length; ++r) {
        const auto begin = values.begin() + ptrdiff_t(r * length);
        const std::vector<float> row(begin, begin + ptrdiff_t(length));
        std::byte* to = result.data() + r * bytes;
        const auto [known, is_new] = done.emplace(row, to);
        if (!is_new) {
            std::copy_n(known->second, bytes, to);
            continue;
        }
        type.encode(row, to);
        if (type.rough_bits < 3 && run > 0) correct(type, row, run, to);
    }
    return result;
}

// What files of such types keep in others: the embedding, and of the smallest, attention.
bool stays_f32(const gguf::TensorInfo& info, float bits) {
    const auto has = [&](const char* part) { return info.name.find(part) != std::string::npos; };
    return info.dims == 1 || (bits < 3 && has("token_embd")) || (bits < 2 && has("attn_"));
}

Stored widened(const Stored& tensor, const Type& wanted) {
    Stored result = tensor;
    gguf::TensorInfo& info = result.info;
    const auto columns = size_t(info.extents[0]);
    std::vector<float> values = values_of(tensor);
    const Type type = stays_f32(info, wanted.rough_bits) ? type_of(gguf::DType::F32) : wanted;
    if (info.dims == 1) {
        // The output is the embedding, whose elements meet twice as many.
        const float factor = info.name == "output_norm.weight" ? 0.5f : 1;
        values = doubled(values, columns, factor);
        info.extents[0] *= 2;
    }
    size_t run = 0;
    for (const Doubling& doubling : doublings) {
        if (info.name.find(doubling.part) == std::string::npos) continue;
        values = doubled(values, doubling.columns, doubling.factor);
        info.extents[0] *= 2;
        run = doubling.columns;
        if (doubling.rows == 0) continue;
        values = doubled(values, doubling.rows * 2 * columns, 1);
        info.extents[1] *= 2;
    }
    info.dtype = type.dtype;
    result.bytes = encoded(type, values, size_t(info.extents[0]), run);
    return result;
}

constexpr int64_t length = 128;

double perplexity_on(const char* device, const gguf::File& file, int64_t count,
                     std::string_view variant = "") {
    const model::Tokenizer tokenizer(file.metadata(), file.path());
    const std::vector<int32_t> tokens =
        tokenizer.encode(read_text(data("stories/stories-heldout.txt")), {.parse_special = false});
    cli::EngineOptions options;
    options.devices = {device};
    options.how.variant = variant;
    options.model.context = options.plan.context = length;
    return perplexity(file, options, tokens, length, count);
}

class WidenedModel : public ::testing::Test {
  protected:
    gguf::File wide(gguf::DType dtype) {
        gguf::Metadata metadata = bundled.metadata();
        metadata.set_u32("llama.embedding_length", 2 * width);
        metadata.set_u32("llama.feed_forward_length", 2 * hidden);
        metadata.set_u32("llama.attention.value_length", 2 * head);
        const Type type = type_of(dtype);
        std::vector<Stored> tensors;
        for (const Stored& tensor : read_all(bundled)) tensors.push_back(widened(tensor, type));
        return gguf::File::open(write(folder / "wide.gguf", metadata, tensors));
    }
    // What the weights of a file decode to.
    gguf::File decoded(const gguf::File& file) {
        std::vector<Stored> tensors = read_all(file);
        for (Stored& tensor : tensors) {
            const std::vector<float> values = values_of(tensor);
            const auto bytes = std::as_bytes(std::span(values));
            tensor.info.dtype = gguf::DType::F32;
            tensor.bytes.assign(bytes.begin(), bytes.end());
        }
        return gguf::File::open(write(folder / "decoded.gguf", file.metadata(), tensors));
    }
    const gguf::File bundled = gguf::File::open(data("stories/stories.gguf"));
    const Folder folder;
};

TEST_F(WidenedModel, width_changes_nothing) {
    const double expected = perplexity_on("reference", bundled, 8);
    EXPECT_NEAR(perplexity_on("cpu", wide(gguf::DType::F32), 8) / expected, 1, 1e-4);
}

class WeightType : public WidenedModel, public ::testing::WithParamInterface<gguf::DType> {};

// The instruction sets of this machine.
std::vector<std::string> variants() {
    std::vector<std::string> names = cli::split(kernels::cpu::supported_variants(), ", ");
    std::erase(names, "");  // between the two characters of a separator
    return names;
}

TEST_P(WeightType, predicts_as_its_numbers_do) {
    const gguf::File file = wide(GetParam());
    // So many that chance, which decides much of what a type of two bits predicts, averages out:
    // what is written roughly takes more.
    const bool rough = !gguf::traits(GetParam()).encode, exact = GetParam() == gguf::DType::F32;
    const int64_t windows = rough ? 24 : 8;
    // The reference takes long. The CPU predicts as much in f32, as F32 shows.
    const bool by_reference = exact || GetParam() == gguf::DType::Q4_0;
    const double expected = by_reference ? perplexity_on("reference", file, windows)
                                         : perplexity_on("cpu", decoded(file), windows);
    for (const std::string& variant : variants()) {
        const double found = perplexity_on("cpu", file, windows, variant);
        EXPECT_NEAR(found / expected, 1, exact ? 1e-4 : 0.005)
            << variant << " found " << found << " instead of " << expected;
    }
}

std::vector<gguf::DType> weight_types() {
    std::vector<gguf::DType> types;
    for (const gguf::DTypeTraits& type : gguf::dtypes())
        if ((type.encode || type.block > 1) && type.in_files && width * 2 % type.block == 0)
            types.push_back(type.dtype);
    return types;
}

INSTANTIATE_TEST_SUITE_P(All, WeightType, ::testing::ValuesIn(weight_types()),
                         [](const auto& info) { return std::string(gguf::name(info.param)); });

}  // namespace
}  // namespace tandem::test
