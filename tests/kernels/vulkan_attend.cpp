// Attention on Vulkan devices against the reference op: caches of every type, heads of many sizes,
// windows, second pairs, long caches that are read in parts.
#include <cmath>
#include <cstring>
#include <random>

#include "gguf/half.h"
#include "gguf/vectors.h"
#include "kernels/attend_case.h"
#include "kernels/vulkan_case.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Shape;
using graph::Tensor;
using test::random_step;
using test::SmallModel;
using test::step_of;
using Steps = std::vector<graph::StepInputs>;

class VulkanAttend : public test::Vulkan {};

constexpr double bound = 1e-10;

struct Case {
    int64_t d = 32, dv = d, kv_heads = 2, q_per_kv = 3, cells = 160, slots = 3;
    DType keys = DType::F32, values = keys;
    int64_t window = 0;
    double soft_cap = 0, spread = 1.5;
    bool sinks = false;
};

void expect_close(const Case& how, const Steps& steps) {
    SmallModel model;
    test::build_attend(model, how);
    test::expect_close(model, steps, bound);
}

// That a long cache is read in parts shows in the memory for their results.
bool reads_in_parts(const SmallModel& model, int64_t tokens) {
    for (const kernels::Launch& launch : test::launches(model, tokens)) {
        if (launch.kernel->name != "attend") continue;
        const graph::View& y = launch.operations.back().output.view;
        const int64_t rows = y.elements() / y.extents[3];
        return launch.scratch_bytes > rows * (y.extents[3] + 7) * 4;  // of one part
    }
    return false;
}

// A prompt, what follows it, single tokens, and several sequences in one step.
const Steps several = {step_of({{0, 0, 64}}),
                       step_of({{0, 64, 13}}),
                       step_of({{0, 77, 1}}),
                       step_of({{2, 0, 1}, {0, 78, 5}, {1, 0, 2}}),
                       step_of({{1, 2, 1}, {0, 83, 1}, {2, 1, 1}}),
                       step_of({{2, 2, 8}}),
                       step_of({{0, 84, 1}, {1, 3, 60}}),
                       step_of({{0, 0, 3}})};

TEST_F(VulkanAttend, CachesOfEveryType) {
    for (auto [keys, values] : {std::pair{DType::F32, DType::F16},
                                {DType::F16, DType::F16},
                                {DType::F16, DType::Q8_0},
                                {DType::BF16, DType::F32},
                                {DType::Q8_0, DType::BF16},
                                {DType::Q8_0, DType::Q8_0},
                                {DType::F16, DType::Q4_0},
                                {DType::Q4_0, DType::Q8_0},
                                {DType::Q4_0, DType::Q4_0}})
        expect_close({.d = 64, .dv = 96, .keys = keys, .values = values}, several);
}

TEST_F(VulkanAttend, HeadsOfEverySize) {
    for (auto [d, dv] : {std::pair{20, 20}, {17, 3}, {80, 80}, {128, 128}, {192, 128}, {256, 256}})
        expect_close({.d = d, .dv = dv, .keys = DType::F16}, several);
}

// As the longest rows have it, a tile of one key. What is longer is refused before a device has to
// do anything.
TEST_F(VulkanAttend, HeadsThatAreTooLong) {
    expect_close({.d = 3068, .kv_heads = 1, .q_per_kv = 1, .cells = 32, .keys = DType::F16},
                 {random_step(0, 9), random_step(9, 1)});
    SmallModel model;
    test::build_attend(model, Case{.d = 3069, .kv_heads = 1, .q_per_kv = 1, .cells = 32});
    const auto device = kernels::make_vulkan_device(test::in_floats);
    EXPECT_EQ(test::error_of([&] { model.programs(*device, 8); }),
              "Vulkan devices have room for a query and a key or value of 6136 elements together, "
              "not of 6144; use the CPU (-dev cpu)");
}

TEST_F(VulkanAttend, QueriesThatShareHeads) {
    for (int64_t q_per_kv : {1, 4, 5, 7, 16, 40})
        expect_close({.d = 24, .kv_heads = 1 + q_per_kv % 3, .q_per_kv = q_per_kv}, several);
    expect_close({.d = 256, .kv_heads = 1, .q_per_kv = 16, .keys = DType::Q8_0}, several);
}

// Rings of cells that go round several times, with all that changes scores.
TEST_F(VulkanAttend, WindowsSinksAndCaps) {
    for (int64_t window : {1, 9, 70})
        for (DType dtype : {DType::F16, DType::Q8_0}) {
            Steps steps;
            int32_t cached = 0;
            for (int32_t count : {21, 21, 20, 1, 21, 1, 8, 17, 1}) {
                steps.push_back(random_step(cached, count));
                cached += count;
            }
            Case how{.cells = window + 20, .keys = dtype, .window = window};
            expect_close(how, steps);
            how.sinks = true;
            expect_close(how, steps);
            how.soft_cap = 2;
            expect_close(how, steps);
        }
    expect_close({.sinks = true}, several);
    expect_close({.soft_cap = 0.7}, several);
}

// Few workgroups and many cells: a cache is read in parts, of which some see nothing.
TEST_F(VulkanAttend, LongCaches) {
    Steps steps{random_step(0, 600)};
    int32_t cached = 600;
    for (int32_t count : {1, 8, 40, 1, 2}) {
        steps.push_back(random_step(cached, count));
        cached += count;
    }
    steps.push_back(step_of({{1, 0, 3}, {0, cached, 1}, {2, 0, 1}}));
    steps.push_back(step_of({{0, 0, 1}}));
    for (const Case& how : {Case{.d = 16, .kv_heads = 1, .keys = DType::F16},
                            {.d = 36, .dv = 21, .kv_heads = 2, .q_per_kv = 2, .soft_cap = 3},
                            {.d = 32, .kv_heads = 1, .keys = DType::Q8_0, .sinks = true},
                            {.d = 64, .kv_heads = 1, .keys = DType::Q4_0},
                            {.d = 16, .kv_heads = 1, .window = 300, .sinks = true},
                            // Several queries at once, the last of them not all there.
                            {.d = 16, .kv_heads = 4, .q_per_kv = 7, .cells = 2304, .sinks = true},
                            {.d = 36, .dv = 21, .kv_heads = 4, .q_per_kv = 11, .cells = 2304}}) {
        Case longer = how;
        longer.cells = std::max<int64_t>(how.cells, 1400);
        SmallModel model;
        test::build_attend(model, longer);
        EXPECT_TRUE(reads_in_parts(model, 1));
        EXPECT_TRUE(reads_in_parts(model, 8));
        test::expect_close(model, steps, bound);
    }
    SmallModel model;
    test::build_attend(model, Case{});
    EXPECT_FALSE(reads_in_parts(model, 1));
}

struct Latent {
    int64_t latent, rotary;
    DType dtype;
    bool of_heads = false;  // the second keys
};

// One latent row per token is key and value of all heads, and a second pair adds to the scores; a
// second layer reads the same rows.
TEST_F(VulkanAttend, LatentRows) {
    for (const Latent& how : {Latent{96, 32, DType::Q8_0},
                              {96, 32, DType::Q4_0},
                              {44, 12, DType::F16, true},
                              {512, 64, DType::F16},
                              {576, 64, DType::BF16}}) {
        SmallModel model;
        Axis kv = model.axis("kv_heads", 1), heads = model.axis("q_per_kv", 6);
        Axis latent = model.axis("latent", how.latent), rotary = model.axis("rotary", how.rotary);
        Axis slots = model.axis("slots", 3), cells = model.axis("cells", 160);
        Shape second{rotary}, second_cells{slots, cells};
        if (how.of_heads) second = {kv, rotary}, second_cells = {slots, kv, cells};
        Tensor rows = model.graph.state("rows", how.dtype, {slots, kv, cells}, {latent});
        Tensor first =
            attend(model.activation("q", {kv, heads, latent}, 0.3f),
                   model.activation("c", {kv, latent}), {}, {rows, rows}, 0.3,
                   {.q = model.activation("q2", {kv, heads, rotary}, 0.3f),
                    .k = model.activation("k2", second),
                    .cache = model.graph.state("rotary", how.dtype, second_cells, {rotary})});
        Tensor other =
            attend(model.activation("other", {kv, heads, latent}, 0.3f), {}, {}, {rows, rows}, 0.2);
        model.finish(add(first, other));
        test::expect_close(model, several, bound);
    }
}

// Devices that have some of the heads, which lie apart in values of all heads.
TEST_F(VulkanAttend, OperandsThatLieApart) {
    SmallModel model;
    Axis kv = model.axis("kv_heads", 5), q_per_kv = model.axis("q_per_kv", 3);
    Axis d = model.axis("d", 20), slots = model.axis("slots", 3), cells = model.axis("cells", 160);
    auto whole = [&](const std::string& name, const Shape& axes) {
        Tensor norm = model.weight(name + ".norm", DType::F32, axes, {});
        return rms_norm(model.activation(name, axes), norm, 1e-6);
    };
    graph::Cache cache{model.graph.state("k_cache", DType::F16, {slots, kv, cells}, {d}),
                       model.graph.state("v_cache", DType::F32, {slots, kv, cells}, {d})};
    model.finish(attend(whole("q", {kv, q_per_kv, d}), whole("k", {kv, d}), whole("v", {kv, d}),
                        cache, 0.3));
    test::expect_close_on_two(model, several, bound);
}

// What lies half-way between a number of the type and the next; of blocks if their scale is 8.
float between(DType dtype, unsigned number) {
    if (dtype == DType::Q8_0) return (float(number % 254) - 126.5f) * 8;
    if (dtype == DType::Q4_0) return (float(number % 15) - 7.5f) * 8;
    const auto code = uint16_t(number % 0x7c00);
    return dtype == DType::F16
               ? (gguf::f16_to_f32(code) + gguf::f16_to_f32(uint16_t(code + 1))) / 2
               : (gguf::bf16_to_f32(code) + gguf::bf16_to_f32(uint16_t(code + 1))) / 2;
}

// With a window of one token the result is the value as its cache holds it.
TEST_F(VulkanAttend, CachesRoundAsTheFormatsSay) {
    for (DType dtype : {DType::F16, DType::BF16, DType::Q8_0, DType::Q4_0}) {
        SmallModel model;
        Axis kv = model.axis("kv_heads", 3), d = model.axis("d", 64);
        Axis slots = model.axis("slots", 1), cells = model.axis("cells", 4);
        std::mt19937 random(1);
        auto fill = [&](std::span<std::byte> row) {
            bool zeros = false;
            for (size_t at = 0; at < row.size(); at += 4) {
                if (at % 128 == 0) zeros = random() % 8 == 0;  // a block of them
                float value = between(dtype, unsigned(random()));
                if (random() % 3 == 0) value = std::nextafter(value, -1e9f);
                if (random() % 3 == 0) value = std::nextafter(value, 1e9f);
                if (random() % 2 == 0) value = -value;
                if (at % 128 == 20) {  // one of a block
                    if (dtype == DType::Q8_0) value = 127 * 8;
                    if (dtype == DType::Q4_0) value = value < 0 ? -64 : 64;
                }
                if (zeros) value = 0;
                std::memcpy(&row[at], &value, 4);
            }
        };
        Tensor values =
            model.weight("values", DType::F32, {model.axis("ids", SmallModel::ids)}, {kv, d}, fill);
        graph::Cache cache{model.graph.state("k_cache", DType::F32, {slots, kv, cells}, {d}),
                           model.graph.state("v_cache", dtype, {slots, kv, cells}, {d})};
        model.finish(attend(model.activation("q", {kv, model.axis("q_per_kv", 2), d}),
                            model.activation("k", {kv, d}), embed(values, model.graph.input("ids")),
                            cache, 0.1, {.window = 1}));
        Steps steps;
        for (int32_t i = 0; i < 40; ++i) steps.push_back(random_step(i, 1));
        // GPUs may take f32 numbers that are not normal for zeros.
        auto normal = [](std::vector<float> values) {
            for (float& value : values)
                if (std::fpclassify(value) == FP_SUBNORMAL) value = 0;
            return values;
        };
        EXPECT_EQ(
            normal(model.run(kernels::make_vulkan_device(test::in_floats), steps)),
            normal(model.run(std::make_unique<kernels::ReferenceDevice>("reference", 0), steps)))
            << gguf::name(dtype);
    }
}

// A key that is no number spoils what sees it, a value its element or its block.
TEST_F(VulkanAttend, CachesKeepNaN) {
    for (DType dtype : {DType::F16, DType::Q8_0, DType::Q4_0})
        for (bool of_keys : {true, false}) {
            SmallModel model;
            Axis kv = model.axis("kv_heads", 1), d = model.axis("d", 64);
            Axis slots = model.axis("slots", 1), cells = model.axis("cells", 40);
            auto fill = [element = 0](std::span<std::byte> one) mutable {
                const float value = element++ == 3 ? std::nanf("") : 1;
                std::memcpy(one.data(), &value, sizeof value);
            };
            Tensor spoiled = mul(model.activation("spoiled", {kv, d}),
                                 model.weight("factors", DType::F32, {d}, {}, fill));
            Tensor sound = model.activation("sound", {kv, d});
            graph::Cache cache{model.graph.state("k_cache", dtype, {slots, kv, cells}, {d}),
                               model.graph.state("v_cache", dtype, {slots, kv, cells}, {d})};
            model.finish(attend(model.activation("q", {kv, model.axis("q_per_kv", 2), d}),
                                of_keys ? spoiled : sound, of_keys ? sound : spoiled, cache, 0.1));
            const auto block = size_t(gguf::traits(dtype).block);
            const std::vector<float> y = model.run(kernels::make_vulkan_device(test::in_floats),
                                                   {random_step(0, 30), random_step(30, 1)});
            for (size_t i = 0; i < y.size(); ++i)
                ASSERT_EQ(std::isnan(y[i]), of_keys || i % 64 / block == 3 / block)
                    << gguf::name(dtype) << " " << of_keys << " " << i;
        }
}

}  // namespace
}  // namespace tandem
