// Ops that go over elements and rows, on Vulkan devices: pairs, maps, norms, rotations, and the
// choice of rows.
#include "graph/rope.h"
#include "kernels/vulkan_case.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Tensor;
using test::expect_close;
using test::random_step;
using test::SmallModel;

class VulkanRowOps : public test::Vulkan {};

TEST_F(VulkanRowOps, PairsAndMaps) {
    SmallModel model;
    Axis heads = model.axis("heads", 3), d = model.axis("d", 37);
    Tensor a = model.activation("a", {heads, d}), b = model.activation("b", {heads, d}, 8);
    Tensor x = glu(b, a, "silu");
    x = add(x, glu(a, b, "gelu"));
    x = mul(x, model.weight("row", DType::F32, {heads, d}, {}));
    x = mul(x, model.weight("value", DType::F32, {}, {}));
    x = add(x, scale(softplus(b), 0.5));
    model.finish(mul(sigmoid(soft_cap(x, 3)), soft_cap(b, 30)));
    expect_close(model, {random_step(0, 1), random_step(0, 23)});
}

TEST_F(VulkanRowOps, OperandsWithFewerAxes) {
    SmallModel model;
    Axis heads = model.axis("heads", 3), d = model.axis("d", 37);
    Tensor x = model.activation("x", {heads, d});
    x = mul(x, sigmoid(model.activation("t", {})));
    x = add(x, softplus(model.activation("h", {heads})));
    x = mul(x, model.weight("w", DType::F32, {heads}, {}));
    model.finish(add(x, model.activation("e", {d})));
    expect_close(model, {random_step(0, 1), random_step(0, 23)});
}

// Rows shorter and longer than a workgroup; weights of one axis, of two, of another type, and none.
TEST_F(VulkanRowOps, Norms) {
    for (int64_t length : {1, 7, 64, 129, 2050}) {
        SmallModel model;
        Axis heads = model.axis("heads", 3), d = model.axis("d", length);
        Tensor x = model.activation("x", {heads, d}, 3);
        Tensor y = rms_norm(x, model.weight("of_d", DType::F16, {d}, {}), 1e-5);
        y = add(y, rms_norm(x, model.weight("of_all", DType::F32, {heads, d}, {}), 1e-6));
        model.finish(add(y, add(rms_norm(x, 1e-6), l2_norm(x, 1e-6))));
        expect_close(model, {random_step(0, 1), random_step(0, 13)});
    }
}

TEST_F(VulkanRowOps, NormsOfNextToNothing) {
    SmallModel model;
    Tensor x = model.activation("x", {model.axis("d", 40)}, 1e-9f);
    model.finish(add(rms_norm(x, 1e-6), l2_norm(x, 1e-6)));
    expect_close(model, {random_step(0, 3)});
}

// Positions near and far, with and without factors, pairs in both orders, and a part of a head.
TEST_F(VulkanRowOps, Rope) {
    for (bool halves : {false, true})
        for (int dims : {12, 20}) {
            SmallModel model;
            Axis heads = model.axis("heads", 3), d = model.axis("d", 20);
            graph::Rope rope{.dims = dims,
                             .base = 500,
                             .halves = halves,
                             .scale = 4,
                             .magnitude = 1.2,
                             .extrapolation = 1,
                             .low = 1,
                             .high = 4};
            Tensor x = model.activation("x", {heads, d}), y = model.activation("y", {d});
            Tensor positions = model.graph.input("positions");
            Tensor factors = model.weight("factors", DType::F32, {model.axis("n", dims / 2)}, {});
            x = add(graph::rope(x, positions, rope), graph::rope(x, positions, rope, factors));
            model.finish(add(x, graph::rope(y, positions, {.dims = dims, .halves = halves})));
            expect_close(model, {random_step(0, 9), random_step(1000, 3), random_step(131070, 1)},
                         1e-10);
        }
}

// Fewer rows than there are tokens, one of them twice.
TEST_F(VulkanRowOps, ChosenRows) {
    SmallModel model;
    model.finish(model.activation("x", {model.axis("heads", 3), model.axis("d", 50)}));
    graph::StepInputs step = random_step(0, 70), few = random_step(0, 9);
    step.rows = {0, 13, 13, 64, 69};
    few.rows = {8};
    expect_close(model, {step, few, random_step(0, 1), random_step(0, 66)}, 0);
}

}  // namespace
}  // namespace tandem
