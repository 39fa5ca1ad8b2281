// Mixtures of experts on the CPU against the reference op.
#include <cmath>
#include <limits>
#include <vector>

#include "graph/ops/top_k.h"
#include "kernels/choices_case.h"
#include "kernels/cpu/forms.h"
#include "kernels/cpu_case.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Tensor;
using test::bound_of;
using test::expect_close;
using test::reduced_bound_of;
using test::SmallModel;

TEST(Cpu, ExpertsOfMixedTypes) {
    struct Types {
        DType gate, up, down;
    };
    // Among them types of one block size that prompts read in different forms, and one without a
    // kernel of its own.
    for (Types types : {Types{DType::Q4_K, DType::BF16, DType::Q5_1},
                        {DType::TQ2_0, DType::Q4_K, DType::Q4_K},
                        {DType::F64, DType::Q4_K, DType::Q2_0},
                        {DType::BF16, DType::F32, DType::F16},
                        {DType::F32, DType::BF16, DType::BF16},
                        {DType::F16, DType::F32, DType::BF16},
                        {DType::F32, DType::F16, DType::F16},
                        {DType::Q4_K, DType::TQ2_0, DType::TQ1_0}}) {
        SmallModel model;
        Axis embd = model.axis("embd", 256), ffn = model.axis("ffn", 256);
        Axis experts = model.axis("experts", 4), choices = model.axis("choices", 4);
        Tensor x = model.activation("x", {embd});
        Tensor scores = softmax(model.activation("scores", {choices}));
        Tensor ids = top_k(scores, model.axis("used", 3));
        model.finish(
            moe_ffn(x, ids, take(scores, ids),
                    {.gate = model.weight("gate", types.gate, {experts, ffn}, {embd}, 0.06f),
                     .up = model.weight("up", types.up, {experts, ffn}, {embd}, 0.06f),
                     .down = model.weight("down", types.down, {experts, embd}, {ffn}, 0.06f)},
                    "gelu"));
        expect_close(model, {test::random_step(0, 11), test::random_step(0, 40)}, 1e-3);
    }
}

// Gate and up of one type read the same tokens, and down reads where they have read.
TEST(Cpu, ExpertsTakeOperandsOnce) {
    constexpr int64_t tokens = 64, used = 3, columns = 2048, width = 256;
    SmallModel model;
    Axis embd = model.axis("embd", columns), ffn = model.axis("ffn", width);
    Axis experts = model.axis("experts", 4), choices = model.axis("choices", 4);
    Tensor x = model.activation("x", {embd});
    Tensor scores = softmax(model.activation("scores", {choices}));
    Tensor ids = top_k(scores, model.axis("used", used));
    model.finish(moe_ffn(x, ids, take(scores, ids),
                         {.gate = model.weight("gate", DType::Q4_K, {experts, ffn}, {embd}),
                          .up = model.weight("up", DType::Q4_K, {experts, ffn}, {embd}),
                          .down = model.weight("down", DType::Q4_K, {experts, embd}, {ffn})},
                         "silu"));
    const auto device = test::make_cpu({"", 1});
    const parallel::Programs programs = model.programs(*device, tokens);
    int64_t bytes = 0;
    for (const auto& item : programs.body[parallel::fitting(programs.body, tokens)].items)
        for (const kernels::Launch& launch : std::get<parallel::Segment>(item).launches)
            if (launch.kernel->name == "moe_ffn") bytes = launch.scratch_bytes;
    const int64_t hidden = tokens * used * width * int64_t(sizeof(float));
    // Of all choices, as if every expert filled its tiles.
    const int64_t operands =
        kernels::cpu::most_tile_bytes(DType::Q4_K, columns) * kernels::cpu::tiles_of(tokens * used);
    EXPECT_GT(bytes, 2 * hidden + operands);
    EXPECT_LT(bytes, 2 * hidden + 2 * operands);
}

// What is no number is chosen first, wherever it stands and whatever its sign, and its group is
// kept.
TEST(Cpu, ChoicesKeepNaN) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<graph::StepInputs> steps{test::random_step(0, 1)};
    for (float number : {nan, -nan})
        for (size_t at = 0; at < 8; ++at)
            for (bool in_groups : {false, true}) {
                SmallModel model;
                test::build_choice(model, at, number, in_groups);
                const auto expected =
                    model.run(std::make_unique<kernels::ReferenceDevice>("reference", 0), steps);
                const auto found = model.run(test::make_cpu({"", 1}), steps);
                ASSERT_EQ(found.size(), 3u);
                EXPECT_TRUE(std::isnan(found[0]) && std::isnan(expected[0])) << at;
                for (size_t i = 1; i < 3; ++i) EXPECT_EQ(found[i], expected[i]) << at;
            }
}

TEST(Cpu, ExpertsWithScales) {
    for (DType dtype : {DType::F32, DType::Q8_0, DType::NVFP4}) {
        SmallModel model;
        Axis embd = model.axis("embd", 128), ffn = model.axis("ffn", 64);
        Axis experts = model.axis("experts", 5), choices = model.axis("choices", 5);
        Tensor x = model.activation("x", {embd});
        Tensor scores = softmax(model.activation("scores", {choices}));
        Tensor ids = top_k(scores, model.axis("used", 3));
        auto scales = [&](const char* name) {
            return model.weight(name, DType::F32, {choices}, {});
        };
        graph::Experts all{.gate = model.weight("gate", dtype, {experts, ffn}, {embd}, 0.1f),
                           .up = model.weight("up", dtype, {experts, ffn}, {embd}, 0.1f),
                           .down = model.weight("down", dtype, {experts, embd}, {ffn}, 0.1f),
                           .gate_scale = scales("gate.scale"),
                           .down_scale = scales("down.scale")};
        if (dtype != DType::F32) all.up_scale = scales("up.scale");
        model.finish(moe_ffn(x, ids, take(scores, ids), all, "silu"));
        expect_close(model,
                     {test::random_step(0, 1), test::random_step(0, 13), test::random_step(0, 50)},
                     6 * bound_of(dtype));
    }
}

// Whose last products go over several panels of columns, adding up.
TEST(Cpu, ExpertsOfManyColumnsAndTokens) {
    for (auto [dtype, columns] : {std::pair{DType::F32, 1100}, {DType::F16, 2200}}) {
        SmallModel model;
        Axis embd = model.axis("embd", 40), ffn = model.axis("ffn", columns);
        Axis experts = model.axis("experts", 2), choices = model.axis("choices", 2);
        Tensor x = model.activation("x", {embd});
        Tensor scores = softmax(model.activation("scores", {choices}));
        Tensor ids = top_k(scores, model.axis("used", 2));
        auto weight = [&, dtype = dtype](const char* name, Axis rows, Axis in_columns) {
            return model.weight(name, dtype, {experts, rows}, {in_columns}, 0.1f);
        };
        model.finish(moe_ffn(x, ids, take(scores, ids),
                             {.gate = weight("gate", ffn, embd),
                              .up = weight("up", ffn, embd),
                              .down = weight("down", embd, ffn)},
                             "silu"));
        expect_close(model, {test::random_step(0, 300)}, 6 * bound_of(dtype),
                     reduced_bound_of(dtype, 6));
    }
}

// Biases, the clamped unit, and a choice among groups.
TEST(Cpu, ExpertsWithBiases) {
    for (DType dtype : {DType::F32, DType::MXFP4}) {
        SmallModel model;
        Axis embd = model.axis("embd", 64), ffn = model.axis("ffn", 96);
        Axis experts = model.axis("experts", 8), choices = model.axis("choices", 8);
        Tensor x = model.activation("x", {embd});
        Tensor scores = model.activation("scores", {choices});
        Tensor ids = top_k(scores, model.axis("used", 3), {.count = 4, .kept = 2});
        Tensor weights = softmax(take(scores, ids));
        graph::Experts all{.gate = model.weight("gate", dtype, {experts, ffn}, {embd}, 0.3f),
                           .up = model.weight("up", dtype, {experts, ffn}, {embd}, 0.3f),
                           .down = model.weight("down", dtype, {experts, embd}, {ffn}, 0.1f),
                           .gate_bias = model.weight("gate.bias", DType::F32, {experts, ffn}, {}),
                           .up_bias = model.weight("up.bias", DType::F32, {experts, ffn}, {})};
        Tensor bias = model.weight("bias", DType::F32, {choices, embd}, {});
        model.finish(
            add(moe_ffn(x, ids, weights, all, "clamped_swiglu"), expert_bias(ids, weights, bias)));
        expect_close(model,
                     {test::random_step(0, 1), test::random_step(0, 13), test::random_step(0, 50)},
                     6 * bound_of(dtype));
    }
}

// Infinite scores of both signs have no sum, by which groups could be sorted.
TEST(Cpu, InfiniteScoresKeepTheirGroup) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr size_t count = 40, best = 33;
    std::vector<float> scores(2 * count, 1);
    scores[2 * best] = infinity;
    scores[2 * best + 1] = -infinity;
    graph::ops::leave_out_groups(scores, count, 1);
    for (size_t i = 0; i < scores.size(); ++i)
        EXPECT_EQ(scores[i], i == 2 * best ? infinity : -infinity) << i;
}

}  // namespace
}  // namespace tandem
