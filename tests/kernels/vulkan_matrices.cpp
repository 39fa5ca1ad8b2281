// Products of many tokens as matrix units compute them, with f16 operands and f32 sums, against the
// reference op. Shaders run in plain arithmetic, which differs in nothing but what a driver's own
// fragments are, and on the units themselves where there are some.
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/vulkan_case.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Tensor;
using test::SmallModel;
using test::Vulkan;

constexpr double bound = 4e-7;  // both operands are rounded to 11 bits

void expect_rounded(const SmallModel& model, const std::vector<graph::StepInputs>& steps) {
    auto expected = model.run(std::make_unique<kernels::ReferenceDevice>("reference", 0), steps);
    auto found = model.run(test::device_of_plain_units(), steps);
    const double error = test::nmse(found, expected);
    EXPECT_LE(error, bound);
    EXPECT_GT(error, 1e-11) << "computed in f32";
    if (auto units = test::device_of_units()) {
        EXPECT_LE(test::nmse(model.run(std::move(units), steps), expected), bound) << "on units";
    }
}

Tensor product(SmallModel& model, const std::string& w, DType dtype, Tensor x, Axis n, Axis k) {
    return linear(x, model.weight(w, dtype, {n}, {k}, 1 / std::sqrt(float(k->extent))));
}

class VulkanMatrices : public testing::WithParamInterface<DType>, public Vulkan {};

TEST_P(VulkanMatrices, OfType) {
    const int64_t block = std::max<int64_t>(32, gguf::traits(GetParam()).block);
    SmallModel model;
    Axis k = model.axis("k", 2 * block), n = model.axis("n", 70);
    model.finish(product(model, "w", GetParam(), model.activation("x", {k}), n, k));
    expect_rounded(model, {test::random_step(0, 45)});
}

constexpr DType types[] = {DType::F32,   DType::F16,   DType::BF16,  DType::Q4_0,   DType::Q4_1,
                           DType::Q5_0,  DType::Q5_1,  DType::Q8_0,  DType::Q2_K,   DType::Q3_K,
                           DType::Q4_K,  DType::Q5_K,  DType::Q6_K,  DType::IQ4_NL, DType::IQ4_XS,
                           DType::MXFP4, DType::NVFP4, DType::TQ1_0, DType::TQ2_0};
INSTANTIATE_TEST_SUITE_P(Types, VulkanMatrices, testing::ValuesIn(types),
                         [](const auto& test) { return std::string(gguf::name(test.param)); });

// Rows and tokens that leave tiles and fragments unfinished, and columns that are no whole turns.
TEST_F(Vulkan, MatricesOfOddSizes) {
    for (auto [rows, columns] : {std::pair{1, 32}, {64, 32}, {65, 96}, {130, 160}, {63, 1056}})
        for (int tokens : {33, 64, 65, 130}) {
            SmallModel model;
            Axis k = model.axis("k", columns), n = model.axis("n", rows);
            model.finish(product(model, "w", DType::F32, model.activation("x", {k}), n, k));
            expect_rounded(model, {test::random_step(0, tokens)});
        }
}

// So many rows that they are expanded some at a time.
TEST_F(Vulkan, MatricesInPortions) {
    SmallModel model;
    Axis k = model.axis("k", 1024), n = model.axis("n", 16500);
    model.finish(product(model, "w", DType::Q4_0, model.activation("x", {k}), n, k));
    expect_rounded(model, {test::random_step(0, 33)});
}

// Enough rows for the larger tiles.
TEST_F(Vulkan, LargeTilesOfMatrices) {
    for (auto [rows, tokens] : {std::pair{16390, 130}, {16390, 100}, {32760, 40}}) {
        SmallModel model;
        Axis k = model.axis("k", 32), n = model.axis("n", rows);
        model.finish(product(model, "w", DType::Q4_0, model.activation("x", {k}), n, k));
        expect_rounded(model, {test::random_step(0, tokens)});
    }
}

// A program for many tokens serves fewer, too.
TEST_F(Vulkan, MatricesOfSeveralSteps) {
    SmallModel model;
    Axis k = model.axis("k", 96), n = model.axis("n", 50);
    model.finish(product(model, "w", DType::F16, model.activation("x", {k}), n, k));
    expect_rounded(model, {test::random_step(0, 130), test::random_step(0, 33),
                           test::random_step(0, 1), test::random_step(0, 66)});
}

// All heads of all tokens are rows of x, and rows of W have two axes.
TEST_F(Vulkan, MatricesOfManyAxes) {
    SmallModel model;
    Axis heads = model.axis("heads", 5), d = model.axis("d", 32);
    Axis n = model.axis("n", 7), m = model.axis("m", 11);
    Tensor x = model.activation("x", {heads, d});
    model.finish(linear(x, model.weight("w", DType::F16, {n, m}, {d})));
    expect_rounded(model, {test::random_step(0, 30)});
}

TEST_F(Vulkan, MatricesWithAdditions) {
    for (bool row : {false, true}) {
        SmallModel model;
        Axis k = model.axis("k", 32), n = model.axis("n", 90);
        Tensor y = product(model, "w", DType::F32, model.activation("x", {k}), n, k);
        Tensor addend = row ? model.weight("b", DType::F32, {n}, {}) : model.activation("b", {n});
        model.finish(add(y, addend));
        expect_rounded(model, {test::random_step(0, 70)});
    }
}

TEST_F(Vulkan, MatricesOfUnits) {
    for (auto [rows, tokens] : {std::pair{90, 70}, {33, 34}, {8200, 130}, {16390, 40}}) {
        SmallModel model;
        Axis k = model.axis("k", 64), n = model.axis("n", rows);
        Tensor x = model.activation("x", {k});
        Tensor gate = product(model, "gate", DType::Q8_0, x, n, k);
        Tensor up = product(model, "up", DType::Q8_0, x, n, k);
        model.finish(glu(gate, up, "silu"));
        expect_rounded(model, {test::random_step(0, tokens)});
    }
}

// Few choices of an expert and many.
TEST_F(Vulkan, MatricesOfExperts) {
    for (auto [experts, used, dtype] :
         {std::tuple{20, 2, DType::Q4_0}, {7, 3, DType::F32}, {2, 2, DType::Q8_0}}) {
        SmallModel model;
        Axis embd = model.axis("embd", 96), ffn = model.axis("ffn", 160);
        Axis all = model.axis("experts", experts);
        Tensor x = model.activation("x", {embd});
        Tensor scores = softmax(model.activation("scores", {all}));
        Tensor ids = top_k(scores, model.axis("used", used));
        const graph::Experts matrices{
            .gate = model.weight("gate", dtype, {all, ffn}, {embd}, 0.1f),
            .up = model.weight("up", dtype, {all, ffn}, {embd}, 0.1f),
            .down = model.weight("down", dtype, {all, embd}, {ffn}, 0.1f)};
        model.finish(moe_ffn(x, ids, take(scores, ids), matrices, "silu"));
        expect_rounded(model, {test::random_step(0, 40), test::random_step(0, 130)});
    }
}

// What f16 cannot hold is as large as it can be.
TEST_F(Vulkan, MatricesOfLargeActivations) {
    SmallModel model;
    Axis k = model.axis("k", 64), n = model.axis("n", 50);
    Tensor x = model.activation("x", {k}, 1e5);
    model.finish(product(model, "w", DType::F32, x, n, k));
    test::on_matrix_units([&](std::unique_ptr<kernels::Device> device) {
        for (float y : model.run(std::move(device), {test::random_step(0, 40)}))
            EXPECT_TRUE(std::isfinite(y));
    });
}

// A value that is no number spoils the results that depend on it, visibly.
TEST_F(Vulkan, MatricesKeepNaN) {
    SmallModel model;
    Axis k = model.axis("k", 64), n = model.axis("n", 3);
    Tensor x = scale(model.activation("x", {k}), std::numeric_limits<float>::quiet_NaN());
    model.finish(product(model, "w", DType::Q8_0, x, n, k));
    test::on_matrix_units([&](std::unique_ptr<kernels::Device> device) {
        for (float y : model.run(std::move(device), {test::random_step(0, 40)}))
            EXPECT_TRUE(std::isnan(y));
    });
}

// So does one that is infinite, of a weight or an activation: it is not one of the large ones.
TEST_F(Vulkan, MatricesKeepInfinities) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr int32_t rows = 50;
    for (bool of_weight : {false, true}) {
        SmallModel model;
        Axis k = model.axis("k", 64), n = model.axis("n", rows);
        const auto x = [&](int32_t, size_t i) { return !of_weight && i == 3 ? -infinity : 0.5f; };
        int32_t row = 0;
        const auto fill = [&](std::span<std::byte> bytes) {
            std::vector<float> w(64, 0.5f);
            if (of_weight && row++ == 7) w[9] = -infinity;
            std::memcpy(bytes.data(), w.data(), bytes.size());
        };
        model.finish(linear(activation_of(model, "x", {k}, x),
                            model.weight("w", DType::F32, {n}, {k}, fill)));
        test::on_matrix_units([&](std::unique_ptr<kernels::Device> device) {
            const auto y = model.run(std::move(device), {test::random_step(0, 40)});
            for (size_t i = 0; i < y.size(); ++i)
                ASSERT_EQ(y[i], of_weight && i % rows != 7 ? 16 : -infinity) << i;
        });
    }
}

// Both products of an expert, the second of which has an operand that is not finite.
TEST_F(Vulkan, MatricesOfExpertsKeepInfinities) {
    SmallModel model;
    Axis embd = model.axis("embd", 64), ffn = model.axis("ffn", 64);
    Axis all = model.axis("experts", 2);
    Tensor scores = softmax(model.activation("scores", {all}));
    Tensor ids = top_k(scores, model.axis("used", 2));
    const auto infinite = [](std::span<std::byte> bytes) {
        std::vector<float> w(64, 0.5f);
        w[9] = std::numeric_limits<float>::infinity();
        std::memcpy(bytes.data(), w.data(), bytes.size());
    };
    const graph::Experts matrices{
        .gate = model.weight("gate", DType::F32, {all, ffn}, {embd}),
        .up = model.weight("up", DType::F32, {all, ffn}, {embd}, infinite),
        .down = model.weight("down", DType::F32, {all, embd}, {ffn})};
    model.finish(moe_ffn(model.activation("x", {embd}), ids, take(scores, ids), matrices, "silu"));
    test::on_matrix_units([&](std::unique_ptr<kernels::Device> device) {
        for (float y : model.run(std::move(device), {test::random_step(0, 40)}))
            ASSERT_FALSE(std::isfinite(y));
    });
}

TEST_F(Vulkan, MatricesRepeatThemselves) {
    SmallModel model;
    Axis k = model.axis("k", 160), n = model.axis("n", 200);
    model.finish(product(model, "w", DType::Q8_0, model.activation("x", {k}), n, k));
    const std::vector<graph::StepInputs> steps = {test::random_step(0, 90)};
    for (auto make : {test::device_of_plain_units, test::device_of_units})
        if (auto device = make()) {
            EXPECT_EQ(model.run(std::move(device), steps), model.run(make(), steps));
        }
}

// Devices that round differently say so.
TEST_F(Vulkan, TellsOfMatrixUnits) {
    const auto plain = kernels::make_vulkan_device(test::in_floats);
    const auto units = test::device_of_plain_units();
    EXPECT_NE(units->description().rounding, plain->description().rounding);
    EXPECT_TRUE(units->description().features.ends_with("plain matrix units 16x16x16"))
        << units->description().features;
}

}  // namespace
}  // namespace tandem
