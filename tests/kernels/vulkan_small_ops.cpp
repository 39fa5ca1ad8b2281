// The small ops of routers, and others of a few numbers per token, on Vulkan devices.
#include <cmath>
#include <limits>

#include "kernels/choices_case.h"
#include "kernels/vulkan_case.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Shape;
using graph::Tensor;
using test::expect_close;
using test::random_step;
using test::SmallModel;

class VulkanSmallOps : public test::Vulkan {};

TEST_F(VulkanSmallOps, Shares) {
    for (int64_t length : {1, 8, 37, 300}) {
        SmallModel model;
        Axis n = model.axis("n", length);
        Tensor x = model.activation("x", {model.axis("heads", 3), n}, 5);
        model.finish(add(normalize(sigmoid(x)), softmax(x)));
        expect_close(model, {random_step(0, 1), random_step(0, 13)});
    }
}

// Ids cannot be a result, but what they name can.
TEST_F(VulkanSmallOps, BestOfManyChoices) {
    for (auto [count, used] : {std::pair{1, 1}, {7, 7}, {64, 6}, {300, 10}, {1000, 33}}) {
        SmallModel model;
        Axis choices = model.axis("choices", count);
        Tensor x = model.activation("x", {choices});
        Tensor other = model.activation("other", {choices});
        model.finish(take(other, top_k(x, model.axis("used", used))));
        expect_close(model, {random_step(0, 1), random_step(0, 13)}, 0);
    }
}

// Few different values, zeros of both signs among them.
TEST_F(VulkanSmallOps, BestOfEqualsIsTheFirst) {
    SmallModel model;
    Axis choices = model.axis("choices", 64), ids = model.axis("ids", SmallModel::ids);
    Tensor table = model.weight("x", DType::Q4_0, {ids}, {choices});
    Tensor x = embed(table, model.graph.input("ids"));
    Tensor other = model.activation("other", {choices});
    model.finish(take(other, top_k(x, model.axis("used", 40))));
    expect_close(model, {random_step(0, 9)}, 0);
}

TEST_F(VulkanSmallOps, BestOfGroups) {
    for (auto [count, groups, kept] : {std::tuple{8, 4, 2}, {8, 8, 3}, {256, 8, 4}, {96, 48, 20}}) {
        SmallModel model;
        Axis choices = model.axis("choices", count);
        Tensor x = model.activation("x", {choices});
        Tensor other = model.activation("other", {choices});
        model.finish(take(other, top_k(x, model.axis("used", 3), {.count = groups, .kept = kept})));
        expect_close(model, {random_step(0, 1), random_step(0, 13)}, 0);
    }
}

// What is no number is chosen first, whatever its sign, and its group is kept.
TEST_F(VulkanSmallOps, ChoicesKeepNaN) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<graph::StepInputs> steps{random_step(0, 1)};
    for (float number : {nan, -nan})
        for (size_t at : {0, 3, 7})
            for (bool in_groups : {false, true}) {
                SmallModel model;
                test::build_choice(model, at, number, in_groups);
                const auto expected =
                    model.run(std::make_unique<kernels::ReferenceDevice>("reference", 0), steps);
                const auto found = model.run(kernels::make_vulkan_device(test::in_floats), steps);
                EXPECT_TRUE(std::isnan(found[0])) << number << " at " << at;
                for (size_t i = 1; i < 3; ++i) EXPECT_EQ(found[i], expected[i]) << at;
            }
}

// All that routers put around the choice, in one launch each.
TEST_F(VulkanSmallOps, Routers) {
    enum Weights { Plain, Softmaxed, Normalized, Scaled };
    for (std::string_view unit : {"", "softmax", "sigmoid"})
        for (Weights kind : {Plain, Softmaxed, Normalized, Scaled}) {
            SmallModel model;
            Axis choices = model.axis("choices", 60);
            Tensor scores = model.activation("x", {choices});
            if (unit == "softmax") scores = softmax(scores);
            if (unit == "sigmoid") scores = sigmoid(scores);
            Tensor preferred = scores;
            if (kind == Plain || kind == Scaled)
                preferred = add(scores, model.weight("bias", DType::F32, {choices}, {}));
            Tensor ids = top_k(preferred, model.axis("used", 9), {.count = 4, .kept = 3});
            Tensor weights = take(scores, ids);
            // Without a unit the sum may be next to nothing.
            if (kind == Softmaxed || unit.empty()) weights = softmax(weights);
            if (kind >= Normalized) weights = normalize(weights);
            if (kind == Scaled) weights = scale(weights, 2.5);
            Tensor bias = model.weight("biases", DType::F32, {choices, model.axis("d", 20)}, {});
            model.finish(expert_bias(ids, weights, bias));
            expect_close(model, {random_step(0, 1), random_step(0, 13)});
        }
}

// Readers elsewhere keep a router's operations apart.
TEST_F(VulkanSmallOps, RouterWithOtherReaders) {
    SmallModel model;
    Axis choices = model.axis("choices", 60);
    Tensor scores = softmax(model.activation("x", {choices}));
    Tensor ids = top_k(scores, model.axis("used", 9));
    Tensor taken = take(scores, ids), weights = normalize(taken);
    Tensor bias = model.weight("biases", DType::F32, {choices, choices}, {});
    Tensor y = add(expert_bias(ids, weights, bias), expert_bias(ids, taken, bias));
    model.finish(add(y, scores));
    expect_close(model, {random_step(0, 1), random_step(0, 13)});
}

TEST_F(VulkanSmallOps, TemperedAndPicked) {
    SmallModel model;
    Axis layers = model.axis("layers", 3), heads = model.axis("heads", 2);
    Axis d = model.axis("d", 20);
    Tensor all = model.activation("x", {heads, layers, d});
    Tensor x = add(pick(all, layers, 1), pick(all, layers, 2));
    model.finish(temper(x, model.graph.input("positions"), 0.1, 8));
    expect_close(model, {random_step(0, 1), random_step(0, 19), random_step(1000, 3)});
}

}  // namespace
}  // namespace tandem
