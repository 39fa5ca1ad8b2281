// Kernels of Vulkan devices that keep a state of each sequence.
#include "kernels/cpu/device.h"
#include "kernels/delta_case.h"
#include "kernels/host.h"
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
using test::step_of;

class VulkanStates : public test::Vulkan {};

// Sequences that begin, go on and begin anew, alone and together, with fewer and more tokens than
// the states look back.
const std::vector<graph::StepInputs> steps = {
    step_of({{0, 0, 1}}),
    step_of({{0, 1, 1}}),
    step_of({{1, 0, 2}, {0, 2, 1}, {2, 0, 5}}),
    step_of({{2, 5, 1}, {1, 2, 1}, {0, 3, 1}}),
    step_of({{0, 4, 30}, {2, 6, 2}, {1, 0, 1}, {3, 0, 66}}),
    step_of({{3, 66, 70}}),
    step_of({{3, 136, 1}, {0, 0, 3}}),
};

TEST_F(VulkanStates, ShortConv) {
    for (int64_t taps : {2, 4, 12}) {
        SmallModel model;
        Axis k_heads = model.axis("k_heads", 3), d = model.axis("d", 53);
        Tensor x = model.activation("x", {k_heads, d});
        Tensor kernel =
            model.weight("kernel", DType::F32, {k_heads, d, model.axis("taps", taps)}, {});
        Tensor state = model.graph.state("state", DType::F32, {model.axis("slots", 4), k_heads, d},
                                         {model.axis("history", taps - 1)});
        model.finish(short_conv(x, kernel, state));
        expect_close(model, steps);
    }
}

enum class Heads { Grouped, Tiled, Single };

struct DeltaCase {
    Heads order;
    int64_t size;
    float decay;  // of the logarithm
};

void expect_close_deltas(const DeltaCase& how) {
    SmallModel model;
    Axis k_heads = model.axis("k_heads", 3), v_per_k = model.axis("v_per_k", 2);
    Axis d = model.axis("d", how.size), dv = model.axis("dv", how.size + 3);
    Shape heads = how.order == Heads::Grouped ? Shape{k_heads, v_per_k}
                  : how.order == Heads::Tiled ? Shape{v_per_k, k_heads}
                                              : Shape{k_heads};
    Tensor q = l2_norm(model.activation("q", {k_heads, d}), 1e-6);
    Tensor k = l2_norm(model.activation("k", {k_heads, d}), 1e-6);
    Tensor v = model.activation("v", heads + Shape{dv});
    Shape decayed = how.order == Heads::Single ? heads + Shape{d} : heads;
    Tensor decay = scale(softplus(model.activation("decay", decayed)), -how.decay);
    Tensor beta = sigmoid(model.activation("beta", heads));
    Tensor state = model.graph.state("state", DType::F32,
                                     Shape{model.axis("slots", 4)} + heads + Shape{dv}, {d});
    model.finish(delta_net(q, k, v, decay, beta, state));
    expect_close(model, steps);
}

// Head sizes that are no multiple of a vector, heads in every order, decays of heads and of
// channels, some so strong that their products underflow, some next to none.
TEST_F(VulkanStates, DeltaNet) {
    for (const DeltaCase& how : {DeltaCase{Heads::Grouped, 37, 1},
                                 {Heads::Grouped, 128, 1e-3f},
                                 {Heads::Tiled, 16, 1},
                                 {Heads::Tiled, 128, 40},
                                 {Heads::Single, 37, 40},
                                 {Heads::Single, 128, 1e-3f}})
        expect_close_deltas(how);
}

// After tokens that forget all, or let states grow, chunks are as exact as steps.
TEST_F(VulkanStates, DeltaNetForgets) {
    for (bool per_channel : {false, true})
        for (float unusual : test::unusual_decays) {
            SmallModel model;
            test::build_delta_net(model, per_channel,
                                  [&](int32_t id) { return id % 32 == 5 ? unusual : -0.1f; });
            expect_close(model, {test::random_step(0, 70), test::random_step(70, 1)}, 1e-10);
        }
}

TEST_F(VulkanStates, DeltaNetGrowsAgain) {
    for (bool per_channel : {false, true})
        for (const test::RegrownDelta& how : test::regrown_deltas) {
            SmallModel model;
            how.build(model, per_channel);
            expect_close(model, {how.step()}, 1e-10);
        }
}

// What grows after it has shrunk to nothing is lost for floats, between chunks as within, as on a
// CPU; the reference, whose numbers reach further, brings it back.
TEST_F(VulkanStates, DeltaNetLosesWhatFloatsDo) {
    for (bool per_channel : {false, true}) {
        SmallModel model;
        const test::RegrownDelta how{-106, 43};
        how.build(model, per_channel);
        const auto expected =
            model.run(std::make_unique<kernels::CpuDevice>(kernels::CpuDevice::Options{
                          .name = "cpu", .cores = {kernels::usable_cores().front()}}),
                      {how.step()});
        EXPECT_LE(test::nmse(model.run(kernels::make_vulkan_device(test::in_floats), {how.step()}),
                             expected),
                  1e-10);
    }
}

}  // namespace
}  // namespace tandem
