// Every kernel of the Vulkan devices against the reference op: all weight types, odd sizes, one
// token to many.
#include "kernels/vulkan_case.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Shape;
using graph::Tensor;
using test::expect_close;
using test::SmallModel;
using test::Vulkan;

constexpr DType matrix_types[] = {DType::F32,  DType::F16,    DType::BF16,   DType::Q4_0,
                                  DType::Q4_1, DType::Q5_0,   DType::Q5_1,   DType::Q8_0,
                                  DType::Q2_K, DType::Q3_K,   DType::Q4_K,   DType::Q5_K,
                                  DType::Q6_K, DType::IQ4_NL, DType::IQ4_XS, DType::MXFP4};

class VulkanType : public testing::WithParamInterface<DType>, public Vulkan {};

TEST_P(VulkanType, LinearOfOddRows) {
    int64_t block = gguf::traits(GetParam()).block;
    for (auto [rows, blocks] : {std::pair{1, 1}, {16, 3}, {37, 2}}) {
        SmallModel model;
        Axis k = model.axis("k", block == 1 ? 21 * blocks : std::max<int64_t>(32, block) * blocks);
        Axis n = model.axis("n", rows);
        Tensor x = model.activation("x", {k});
        model.finish(linear(x, model.weight("w", GetParam(), {n}, {k})));
        expect_close(model, {test::random_step(0, 1), test::random_step(0, 13)});
    }
}

INSTANTIATE_TEST_SUITE_P(Types, VulkanType, testing::ValuesIn(matrix_types),
                         [](const auto& test) { return std::string(gguf::name(test.param)); });

TEST_F(Vulkan, SmallOps) {
    SmallModel model;
    Axis n = model.axis("n", 37);
    Tensor x = model.activation("x", {n});
    model.finish(rms_norm(add(sigmoid(x), scale(x, 3)), 1e-6));
    expect_close(model, {test::random_step(0, 1), test::random_step(0, 13)});
}

}  // namespace
}  // namespace tandem
