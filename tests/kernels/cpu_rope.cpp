// Rotations on the CPU whose angles go on from those of the step before.
#include "graph/rope.h"

#include "kernels/cpu_case.h"

namespace tandem {
namespace {

using test::SmallModel;

// The angle of a position is the same whatever stood before it, in this step or an earlier one, and
// however many tokens a program is for.
TEST(CpuRope, PositionsDoNotDependOnThoseBefore) {
    SmallModel model;
    const graph::Axis heads = model.axis("heads", 3), d = model.axis("d", 64);
    const graph::Rope rope{.dims = 64, .magnitude = 1.2};
    const graph::Tensor x =
        activation_of(model, "x", {heads, d}, [](int32_t, size_t i) { return float(i % 7) - 3; });
    model.finish(graph::rope(x, model.graph.input("positions"), rope));
    std::vector<graph::StepInputs> steps;
    for (int32_t position : {0, 1, 14, 15, 16, 17, 5000, 5001, 3, 5002})
        steps.push_back(test::random_step(position, 1));
    for (int32_t begin : {12, 30, 9}) steps.push_back(test::random_step(begin, 6));
    steps.push_back(test::random_step(0, 20));
    for (const test::Machine& machine : test::machines()) {
        const auto all = model.run(test::make_cpu(machine), steps);
        std::vector<float> each;
        for (const graph::StepInputs& step : steps)
            for (int64_t t = 0; t < step.tokens(); ++t) {
                const auto row = model.run(test::make_cpu(machine),
                                           {test::random_step(step.positions[size_t(t)], 1)});
                each.insert(each.end(), row.begin(), row.end());
            }
        EXPECT_EQ(all, each) << machine.variant;
    }
}

}  // namespace
}  // namespace tandem
