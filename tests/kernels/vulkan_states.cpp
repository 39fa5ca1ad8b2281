// Kernels of Vulkan devices that keep a state of each sequence.
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

class VulkanStates : public test::Vulkan {};

struct Part {
    int32_t slot, cached, count;
};

graph::StepInputs step_of(std::initializer_list<Part> parts) {
    graph::StepInputs step;
    for (const Part& part : parts) {
        std::vector<int32_t> tokens;
        for (int32_t i = 0; i < part.count; ++i)
            tokens.push_back((31 * part.slot + 7 * (part.cached + i) + i * i) % SmallModel::ids);
        step.append(part.slot, part.cached, tokens);
    }
    for (int32_t i = 0; i < step.tokens(); ++i) step.rows.push_back(i);
    return step;
}

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

}  // namespace
}  // namespace tandem
