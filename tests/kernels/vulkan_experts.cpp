// moe_ffn on Vulkan devices against the reference op: one token to many, devices that hold all
// experts, some, or a range of each. vulkan_types.cpp has every type of weights.
#include <cmath>

#include "gguf/vectors.h"
#include "kernels/vulkan_case.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Tensor;
using test::expect_close;
using test::SmallModel;
using test::Vulkan;

constexpr double bound = 1e-10;

struct Shape {
    int64_t embd = 64, ffn = 32, experts = 6, used = 2;
    DType gate = DType::F32, up = gate, down = gate;
    const char* activation = "silu";
    bool scales = false, biases = false;
};

struct Chosen {
    Tensor y, x, ids, weights;
    Axis choices, embd;
};

Chosen experts(SmallModel& model, const Shape& shape) {
    Axis embd = model.axis("embd", shape.embd), ffn = model.axis("ffn", shape.ffn);
    Axis experts = model.axis("experts", shape.experts);
    Axis choices = model.axis("choices", shape.experts);
    Tensor x = model.activation("x", {embd});
    Tensor scores = softmax(model.activation("scores", {choices}));
    Tensor ids = top_k(scores, model.axis("used", shape.used));
    auto scale = [](int64_t columns) { return 1 / std::sqrt(float(columns)); };
    graph::Experts all{
        .gate = model.weight("gate", shape.gate, {experts, ffn}, {embd}, scale(shape.embd)),
        .up = model.weight("up", shape.up, {experts, ffn}, {embd}, scale(shape.embd)),
        .down = model.weight("down", shape.down, {experts, embd}, {ffn}, scale(shape.ffn))};
    if (shape.scales) {
        all.gate_scale = model.weight("gate.scale", DType::F32, {choices}, {});
        all.up_scale = model.weight("up.scale", DType::F32, {choices}, {});
        all.down_scale = model.weight("down.scale", DType::F32, {choices}, {});
    }
    if (shape.biases) {
        all.gate_bias = model.weight("gate.bias", DType::F32, {experts, ffn}, {});
        all.up_bias = model.weight("up.bias", DType::F32, {experts, ffn}, {});
    }
    Tensor weights = take(scores, ids);
    return {moe_ffn(x, ids, weights, all, shape.activation), x, ids, weights, choices, embd};
}

void build(SmallModel& model, const Shape& shape) { model.finish(experts(model, shape).y); }

// Steps of one token, of few and of many, in programs for each.
void expect_close_everywhere(const Shape& shape) {
    SmallModel model;
    build(model, shape);
    expect_close(
        model, {test::random_step(0, 1), test::random_step(0, 8), test::random_step(0, 77)}, bound);
}

TEST_F(Vulkan, ExpertsOfOddSizes) {
    for (auto [embd, ffn] : {std::pair{1, 1}, {21, 13}, {65, 70}, {136, 72}})
        expect_close_everywhere({.embd = embd, .ffn = ffn});
    expect_close_everywhere({.experts = 1, .used = 1});
    expect_close_everywhere({.experts = 70, .used = 16});
    expect_close_everywhere({.experts = 512, .used = 3});
}

// More than can be ordered in shared memory.
TEST_F(Vulkan, ExpertsInThousands) {
    for (DType dtype : {DType::F32, DType::Q8_0}) {
        const Shape shape{.embd = 32, .ffn = 32, .experts = 2731, .used = 3, .gate = dtype};
        expect_close_everywhere(shape);
        for (kernels::Products products :
             {kernels::Products::InDots, kernels::Products::OnPlainUnits}) {
            SmallModel model;
            build(model, shape);
            expect_close(model, {test::random_step(0, 1), test::random_step(0, 77)}, 1e-3,
                         {.name = "vulkan0", .products = products});
        }
    }
}

TEST_F(Vulkan, ChoicesOfTooManyTokens) {
    SmallModel model;
    build(model, {.embd = 1, .ffn = 1, .experts = 2731, .used = 64});
    const auto device = kernels::make_vulkan_device(test::in_floats);
    model.programs(*device, 1023);
    EXPECT_EQ(test::error_of([&] { model.programs(*device, 1024); }),
              "Vulkan devices take 1023 tokens of 2731 experts at once, not 1024; use smaller "
              "steps (-ub)");
}

TEST_F(Vulkan, ExpertsOfMixedTypes) {
    for (auto [gate, up, down] : {std::tuple{DType::Q4_K, DType::BF16, DType::Q5_1},
                                  {DType::F32, DType::Q8_0, DType::Q6_K},
                                  {DType::Q4_0, DType::Q4_0, DType::F16}})
        expect_close_everywhere({.embd = 256,
                                 .ffn = 256,
                                 .gate = gate,
                                 .up = up,
                                 .down = down,
                                 .activation = "gelu",
                                 .scales = true,
                                 .biases = true});
}

TEST_F(Vulkan, ExpertsWithScalesAndBiases) {
    for (const char* activation : {"silu", "gelu", "clamped_swiglu"})
        for (DType dtype : {DType::F32, DType::MXFP4}) {
            expect_close_everywhere(
                {.gate = dtype, .activation = activation, .scales = true, .biases = true});
            expect_close_everywhere({.gate = dtype, .activation = activation, .scales = true});
            expect_close_everywhere({.gate = dtype, .activation = activation, .biases = true});
        }
}

// Each device gives an addend: of its range of every expert, or, where that has too few blocks, of
// its experts.
TEST_F(Vulkan, DividedExperts) {
    const std::vector<graph::StepInputs> steps = {test::random_step(0, 1), test::random_step(0, 8),
                                                  test::random_step(0, 77)};
    for (auto [ffn, dtype] : {std::pair{96, DType::Q8_0}, {32, DType::Q8_0}, {37, DType::F32}}) {
        SmallModel model;
        build(model, {.ffn = ffn, .experts = 7, .used = 3, .gate = dtype, .biases = true});
        SCOPED_TRACE(ffn);
        test::expect_close_on_two(model, steps, bound);
    }
}

// What follows the sums of choices: an addition, the biases of the chosen, or both. Few tokens, in
// f32 and in int8, and many.
TEST_F(Vulkan, ExpertsThatAreAddedTo) {
    for (DType dtype : {DType::F32, DType::Q8_0})
        for (bool biased : {false, true})
            for (bool added : {false, true}) {
                SmallModel model;
                Tensor residual = model.activation("residual", {model.axis("embd", 64)});
                Chosen all = experts(model, {.used = 3, .gate = dtype, .scales = true});
                Tensor y = all.y,
                       bias = model.weight("bias", DType::F32, {all.choices, all.embd}, {});
                if (biased) y = add(y, expert_bias(all.ids, all.weights, bias));
                if (added) y = add(residual, y);
                model.finish(scale(y, 2));
                const size_t length = 1 + 2 * biased + added;
                for (int64_t tokens : {1, 8, 77})
                    EXPECT_EQ(test::chains(model, "moe_ffn", tokens), std::vector{length});
                const std::vector<graph::StepInputs> steps = {
                    test::random_step(0, 1), test::random_step(0, 8), test::random_step(0, 77)};
                expect_close(model, steps, bound);
                test::expect_close_on_two(model, steps, bound);
            }
}

// Sums that others read, or that are added to themselves.
TEST_F(Vulkan, ExpertsThatAreReadTwice) {
    SmallModel model;
    Chosen all = experts(model, {});
    model.finish(add(scale(all.y, 3), add(all.y, all.x)));
    EXPECT_EQ(test::chains(model, "moe_ffn", 1), (std::vector<size_t>{1}));
    expect_close(model, {test::random_step(0, 1), test::random_step(0, 77)}, bound);
    SmallModel other;
    all = experts(other, {});
    other.finish(add(all.y, all.y));
    EXPECT_EQ(test::chains(other, "moe_ffn", 1), (std::vector<size_t>{1}));
    expect_close(other, {test::random_step(0, 1), test::random_step(0, 77)}, bound);
}

// Biases that are weighted by something else stay an operation of their own.
TEST_F(Vulkan, ExpertsWithOtherBiases) {
    SmallModel model;
    Chosen all = experts(model, {});
    Tensor bias = model.weight("bias", DType::F32, {all.choices, all.embd}, {});
    model.finish(add(all.y, expert_bias(all.ids, scale(all.weights, 2), bias)));
    EXPECT_EQ(test::chains(model, "moe_ffn", 1), (std::vector<size_t>{1}));
    expect_close(model, {test::random_step(0, 1), test::random_step(0, 77)}, bound);
}

// Sums are the same bits however choices are ordered on the way.
TEST_F(Vulkan, ExpertsRepeatThemselves) {
    SmallModel model;
    build(model, {.experts = 9, .used = 4});
    const std::vector<graph::StepInputs> steps = {test::random_step(0, 5),
                                                  test::random_step(0, 90)};
    auto run = [&] { return model.run(kernels::make_vulkan_device(test::in_floats), steps); };
    EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace tandem
