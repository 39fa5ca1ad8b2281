// Products with biases on the CPU: those of one value are one launch, which adds the biases, too.
#include "kernels/cpu_case.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Tensor;
using test::SmallModel;

// Queries, keys and values of one input as a row of heads each. `watched`: somebody else reads the
// products before the biases are added, which changes no sum.
struct Attending : SmallModel {
    Attending(DType dtype, bool watched) {
        const Axis k = axis("k", 256);
        const Tensor x = activation("x", {k});
        Tensor all;
        for (const auto& [name, heads] : {std::pair("q", 5), {"k", 1}, {"v", 1}}) {
            const graph::Shape rows{axis(name + std::string("_heads"), heads),
                                    axis(name + std::string("_d"), 37)};
            const Tensor product = linear(x, weight(name, dtype, rows, {k}));
            Tensor y = add(product, weight(name + std::string(".bias"), DType::F32, rows, {}, 8));
            if (watched) y = add(y, scale(product, 0));
            y = linear(y, weight(name + std::string(".sum"), DType::F32, {axis("one", 3)}, rows));
            all = all ? add(all, y) : y;
        }
        finish(all);
    }
};

// The names of what a device runs for so many tokens.
std::vector<std::string> launches(const SmallModel& model, const test::Machine& machine,
                                  int64_t tokens) {
    const auto device = test::make_cpu(machine);
    const parallel::Programs programs = model.programs(*device, tokens);
    std::vector<std::string> all;
    for (const auto& item : programs.body[parallel::fitting(programs.body, tokens)].items)
        for (const kernels::Launch& launch : std::get<parallel::Segment>(item).launches)
            all.push_back(std::string(launch.kernel->name) + " " +
                          std::to_string(launch.operations.size()));
    return all;
}

TEST(CpuBiases, AreAddedWhereTheProductsAreMade) {
    SmallModel model;
    const Axis k = model.axis("k", 256), n = model.axis("n", 48);
    const Tensor x = model.activation("x", {k});
    std::vector<Tensor> all;
    for (const std::string name : {"q", "k", "v"})
        all.push_back(add(linear(x, model.weight(name, DType::Q4_0, {n}, {k})),
                          model.weight(name + ".bias", DType::F32, {n}, {})));
    model.finish(add(add(all[0], all[1]), all[2]));
    for (const test::Machine& machine : test::machines())
        for (int64_t tokens : {1, 40}) {
            const auto found = launches(model, machine, tokens);
            EXPECT_EQ(std::ranges::count(found, "pair 1"), 2) << machine.variant;
            EXPECT_EQ(std::ranges::count_if(
                          found, [](const std::string& name) { return name.ends_with(" 6"); }),
                      1)
                << machine.variant;
        }
}

TEST(CpuBiases, ChangeNoBitBesideProducts) {
    const std::vector<graph::StepInputs> steps{test::random_step(0, 1), test::random_step(0, 7),
                                               test::random_step(0, 300)};
    for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::Q8_0, DType::Q4_K})
        for (const test::Machine& machine : test::machines())
            EXPECT_EQ(Attending(dtype, false).run(test::make_cpu(machine), steps),
                      Attending(dtype, true).run(test::make_cpu(machine), steps))
                << machine.variant << " " << gguf::name(dtype);
}

TEST(CpuBiases, AreThoseOfTheReference) {
    for (DType dtype : {DType::F32, DType::Q4_0})
        test::expect_close(Attending(dtype, false),
                           {test::random_step(0, 1), test::random_step(0, 40)},
                           test::bound_of(dtype));
}

}  // namespace
}  // namespace tandem
