// Every type of weights that files hold, in all kernels of Vulkan devices that read weights:
// tables, matrices and experts, one token to many, rows that fill no tile.
#include <cmath>
#include <cstring>

#include "cli/synth/random_rows.h"
#include "kernels/vulkan_case.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Shape;
using graph::Tensor;
using test::random_step;
using test::SmallModel;

// Random weights of any type. Those of a row have a length of about 1, but for integers.
class Weights {
  public:
    Weights(SmallModel& model, DType dtype) : model_(model), dtype_(dtype) {}

    Tensor operator()(const std::string& name, const Shape& rows, const Shape& columns) {
        const int64_t length = elements(columns);
        if (gguf::traits(dtype_).encode)
            return model_.weight(name, dtype_, rows, columns, 1 / std::sqrt(float(length)));
        if (!cli::RandomRows::exists(dtype_))
            return model_.weight(name, dtype_, rows, columns,
                                 [&](std::span<std::byte> row) { fill_with_integers(row); });
        const cli::RandomRows random(dtype_, length);
        return model_.weight(name, dtype_, rows, columns,
                             [&](std::span<std::byte> row) { random.fill(++seed_, row); });
    }

  private:
    void fill_with_integers(std::span<std::byte> row) {
        const size_t bytes = gguf::traits(dtype_).block_bytes;
        for (size_t at = 0; at < row.size(); at += bytes) {
            const int64_t number = int64_t(cli::mix(++seed_) % 5) - 2;
            std::memcpy(&row[at], &number, bytes);
        }
    }

    SmallModel& model_;
    DType dtype_;
    uint64_t seed_ = 0;
};

class VulkanType : public testing::WithParamInterface<DType>, public test::Vulkan {};

TEST_P(VulkanType, TablesMatricesAndExperts) {
    const int64_t type_block = gguf::traits(GetParam()).block;
    const int64_t block = type_block == 1 ? 21 : std::max<int64_t>(32, type_block);
    SmallModel model;
    Weights weight(model, GetParam());
    Axis wide = model.axis("wide", 3 * block), embd = model.axis("embd", 2 * block);
    Axis ffn = model.axis("ffn", block), n = model.axis("n", 37);
    Axis experts = model.axis("experts", 3), choices = model.axis("choices", 3);
    Tensor table = weight("table", {model.axis("ids", SmallModel::ids)}, {wide});
    Tensor x = linear(embed(table, model.graph.input("ids")), weight("in", {embd}, {wide}));
    Tensor scores = softmax(model.activation("scores", {choices}));
    Tensor ids = top_k(scores, model.axis("used", 2));
    Tensor y = moe_ffn(x, ids, take(scores, ids),
                       {.gate = weight("gate", {experts, ffn}, {embd}),
                        .up = weight("up", {experts, ffn}, {embd}),
                        .down = weight("down", {experts, embd}, {ffn})},
                       "silu");
    model.finish(linear(add(x, y), weight("out", {n}, {embd})));
    test::expect_close(model, {random_step(0, 1), random_step(0, 5), random_step(0, 19)}, 1e-10);
}

std::vector<DType> types_of_files() {
    std::vector<DType> types;
    for (const gguf::DTypeTraits& type : gguf::dtypes())
        if (type.in_files) types.push_back(type.dtype);
    return types;
}

INSTANTIATE_TEST_SUITE_P(Types, VulkanType, testing::ValuesIn(types_of_files()),
                         [](const auto& test) { return std::string(gguf::name(test.param)); });

}  // namespace
}  // namespace tandem
