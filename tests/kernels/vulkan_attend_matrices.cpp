// Attention of many tokens as matrix units compute it, with f16 operands and f32 sums, against the
// reference op. Shaders run in plain arithmetic, which differs in nothing but what a driver's own
// fragments are, and on the units themselves where there are some.
#include <cmath>

#include "kernels/attend_case.h"
#include "kernels/vulkan_case.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Tensor;
using test::random_step;
using test::SmallModel;
using test::step_of;
using Steps = std::vector<graph::StepInputs>;

class VulkanAttendMatrices : public test::Vulkan {};

struct Case {
    int64_t d = 32, dv = d, kv_heads = 2, q_per_kv = 3, cells = 240, slots = 3;
    DType keys = DType::F16, values = keys;
    int64_t window = 0;
    double soft_cap = 0, spread = 1.5;  // of scores
    bool sinks = false;
};

// Rounding to 11 bits leaves an error of 3e-8 of a number's power: in shares and in values, and,
// from queries and keys, in scores, of which shares are powers.
double bound_of(const Case& how) { return 4e-8 * (2 + 2 * how.spread * how.spread); }

void expect_rounded(const Case& how, const Steps& steps) {
    SmallModel model;
    test::build_attend(model, how);
    auto expected = model.run(std::make_unique<kernels::ReferenceDevice>("reference", 0), steps);
    auto found = model.run(test::device_of_plain_units(), steps);
    const double error = test::nmse(found, expected);
    EXPECT_LE(error, bound_of(how));
    EXPECT_GT(error, 1e-10) << "computed in f32";
    if (auto units = test::device_of_units()) {
        EXPECT_LE(test::nmse(model.run(std::move(units), steps), expected), bound_of(how))
            << "on units";
    }
}

// A prompt, what follows it, and several sequences in one step.
const Steps several = {step_of({{0, 0, 33}}), step_of({{0, 33, 70}}),
                       step_of({{2, 0, 1}, {0, 103, 25}, {1, 0, 20}}),
                       step_of({{1, 20, 50}, {0, 128, 1}, {2, 1, 40}}), step_of({{0, 0, 130}})};

TEST_F(VulkanAttendMatrices, CachesOfEveryType) {
    for (auto [keys, values] : {std::pair{DType::F16, DType::F16},
                                {DType::F16, DType::Q8_0},
                                {DType::BF16, DType::F16},
                                {DType::Q8_0, DType::BF16},
                                {DType::Q8_0, DType::Q8_0},
                                {DType::F16, DType::Q4_0},
                                {DType::Q4_0, DType::Q4_0}})
        expect_rounded({.d = 32, .dv = 64, .keys = keys, .values = values}, several);
}

TEST_F(VulkanAttendMatrices, CachesOfFloatsAreNotRounded) {
    for (auto [keys, values] :
         {std::pair{DType::F32, DType::F32}, {DType::F32, DType::F16}, {DType::Q8_0, DType::F32}}) {
        SmallModel model;
        test::build_attend(model, Case{.d = 32, .dv = 64, .keys = keys, .values = values});
        auto expected =
            model.run(std::make_unique<kernels::ReferenceDevice>("reference", 0), several);
        EXPECT_LE(test::nmse(model.run(test::device_of_plain_units(), several), expected), 1e-11);
        if (auto units = test::device_of_units()) {
            EXPECT_LE(test::nmse(model.run(std::move(units), several), expected), 1e-11)
                << "on units";
        }
    }
}

// Whole fragments, of as many cells at a time as there is room for.
TEST_F(VulkanAttendMatrices, HeadsOfEverySize) {
    for (auto [d, dv] : {std::pair{16, 16}, {128, 96}, {192, 64}, {256, 256}})
        expect_rounded({.d = d, .dv = dv, .keys = DType::F16}, several);
}

TEST_F(VulkanAttendMatrices, QueriesThatShareHeads) {
    for (int64_t q_per_kv : {1, 4, 5, 8, 70})
        expect_rounded({.kv_heads = 1 + q_per_kv % 3, .q_per_kv = q_per_kv}, several);
}

// Rings of cells that go round several times, with all that changes scores.
TEST_F(VulkanAttendMatrices, WindowsSinksAndCaps) {
    Steps steps;
    int32_t cached = 0;
    for (int32_t count : {33, 50, 64, 1, 40, 80, 64, 2, 64}) {
        steps.push_back(random_step(cached, count));
        cached += count;
    }
    for (int64_t window : {1, 9, 70})
        for (double cap : {0, 2})
            expect_rounded({.cells = window + 80, .window = window, .soft_cap = cap, .sinks = true},
                           steps);
    expect_rounded({.soft_cap = 0.7}, several);
    expect_rounded({.window = 100}, several);
}

// Scores that leave their references far behind, again and again.
TEST_F(VulkanAttendMatrices, ScoresThatGrow) {
    expect_rounded({.spread = 12}, several);
    expect_rounded({.d = 256, .spread = 20}, several);
}

// Few workgroups and many cells: a cache is read in parts, of which some see nothing.
TEST_F(VulkanAttendMatrices, LongCaches) {
    Steps steps;
    int32_t cached = 0;
    for (int32_t count : {300, 33, 40}) {
        steps.push_back(random_step(cached, count));
        cached += count;
    }
    steps.push_back(step_of({{1, 0, 30}, {0, cached, 1}, {2, 0, 10}}));
    steps.push_back(step_of({{0, 0, 36}}));
    for (const Case& how : {Case{.cells = 1400},
                            {.cells = 900, .soft_cap = 3},
                            {.q_per_kv = 1, .cells = 1400, .sinks = true},
                            {.cells = 700, .window = 200, .sinks = true}})
        expect_rounded(how, steps);
}

// What f16 cannot hold is as large as it can be.
TEST_F(VulkanAttendMatrices, LargeQueries) {
    SmallModel model;
    Axis kv = model.axis("kv_heads", 1), q_per_kv = model.axis("q_per_kv", 2);
    Axis d = model.axis("d", 32), slots = model.axis("slots", 1), cells = model.axis("cells", 80);
    graph::Cache cache{model.graph.state("k_cache", DType::BF16, {slots, kv, cells}, {d}),
                       model.graph.state("v_cache", DType::BF16, {slots, kv, cells}, {d})};
    model.finish(attend(model.activation("q", {kv, q_per_kv, d}, 1e5),
                        model.activation("k", {kv, d}, 1e5), model.activation("v", {kv, d}, 1e5),
                        cache, 1));
    test::on_matrix_units([&](std::unique_ptr<kernels::Device> device) {
        for (float y : model.run(std::move(device), {random_step(0, 70)}))
            EXPECT_TRUE(std::isfinite(y));
    });
}

TEST_F(VulkanAttendMatrices, RepeatThemselves) {
    SmallModel model;
    test::build_attend(model, Case{.d = 64});
    for (auto make : {test::device_of_plain_units, test::device_of_units})
        if (auto device = make()) {
            EXPECT_EQ(model.run(std::move(device), several), model.run(make(), several));
        }
}

}  // namespace
}  // namespace tandem
