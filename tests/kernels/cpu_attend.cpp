// Attention on the CPU against the reference op: caches of every type, windows, second pairs, long
// caches that are read in parts.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "gguf/half.h"
#include "kernels/attend_case.h"
#include "kernels/cpu_case.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Tensor;
using test::expect_close;
using test::SmallModel;
using test::Spoiled;
using test::spoiled_step;

class EveryCache : public testing::TestWithParam<DType> {};

TEST_P(EveryCache, Attention) {
    for (auto [head, value_head] : {std::pair{32, 32}, {64, 96}}) {
        SmallModel model;
        Axis kv = model.axis("kv_heads", 2), q_per_kv = model.axis("q_per_kv", 5);
        Axis d = model.axis("d", head), dv = model.axis("dv", value_head);
        Axis slots = model.axis("slots", 2), cells = model.axis("cells", 200);
        Tensor q = model.activation("q", {kv, q_per_kv, d});
        Tensor k = model.activation("k", {kv, d}), v = model.activation("v", {kv, dv});
        graph::Cache cache{model.graph.state("k_cache", GetParam(), {slots, kv, cells}, {d}),
                           model.graph.state("v_cache", GetParam(), {slots, kv, cells}, {dv})};
        model.finish(attend(q, k, v, cache, 0.3));
        // A long prompt, a chunk after it, single tokens, and two sequences in one step.
        graph::StepInputs both;
        std::vector<int32_t> more{5, 6, 7}, other{8, 9};
        both.append(0, 153, more);
        both.append(1, 0, other);
        both.rows = {0, 1, 2, 3, 4};
        expect_close(model,
                     {test::random_step(0, 131), test::random_step(131, 21),
                      test::random_step(152, 1), both, test::random_step(156, 1)},
                     1e-10, test::attention_bound_of(GetParam(), GetParam()));
    }
}

// A window over a ring of cells, with sinks; the ring goes round several times.
TEST_P(EveryCache, WindowedAttention) {
    for (int64_t window : {1, 9, 70}) {
        SmallModel model;
        Axis kv = model.axis("kv_heads", 2), q_per_kv = model.axis("q_per_kv", 3);
        Axis d = model.axis("d", 32), slots = model.axis("slots", 1);
        Axis cells = model.axis("cells", window + 20);
        Tensor q = model.activation("q", {kv, q_per_kv, d});
        Tensor k = model.activation("k", {kv, d}), v = model.activation("v", {kv, d});
        graph::Cache cache{model.graph.state("k_cache", GetParam(), {slots, kv, cells}, {d}),
                           model.graph.state("v_cache", GetParam(), {slots, kv, cells}, {d})};
        Tensor sinks = model.weight("sinks", DType::F32, {kv, q_per_kv}, {});
        model.finish(attend(q, k, v, cache, 0.3, {.window = window, .sinks = sinks}));
        std::vector<graph::StepInputs> steps;
        int32_t cached = 0;
        for (int32_t count : {21, 21, 20, 1, 21, 1, 1, 17}) {
            steps.push_back(test::random_step(cached, count));
            cached += count;
        }
        expect_close(model, steps, 1e-10, test::attention_bound_of(GetParam(), GetParam()));
    }
}

// One latent row per token as key and value of all heads, and a second pair; another reader of the
// same caches.
TEST_P(EveryCache, LatentAttention) {
    for (auto [elements, second_elements] : {std::pair{96, 32}, {512, 64}}) {
        SmallModel model;
        Axis kv = model.axis("kv_heads", 1), heads = model.axis("q_per_kv", 7);
        Axis latent = model.axis("latent", elements),
             rotary = model.axis("rotary", second_elements);
        Axis slots = model.axis("slots", 1), cells = model.axis("cells", 220);
        Tensor q = model.activation("q", {kv, heads, latent}, 0.3f);
        Tensor q2 = model.activation("q2", {kv, heads, rotary}, 0.3f);
        Tensor rows = model.graph.state("rows", GetParam(), {slots, kv, cells}, {latent});
        const double scale = elements == 96 ? 0.3 : 0.1;
        Tensor first =
            attend(q, model.activation("c", {kv, latent}), {}, {rows, rows}, scale,
                   {.q = q2,
                    .k = model.activation("k2", {rotary}),
                    .cache = model.graph.state("rotary", GetParam(), {slots, cells}, {rotary})});
        Tensor second =
            attend(model.activation("other", {kv, heads, latent}, 0.3f), {}, {}, {rows, rows}, 0.2);
        model.finish(add(first, second));
        expect_close(
            model,
            {test::random_step(0, 163), test::random_step(163, 2), test::random_step(165, 1)},
            1e-10, test::attention_bound_of(GetParam(), GetParam()));
    }
}

INSTANTIATE_TEST_SUITE_P(Types, EveryCache,
                         testing::Values(DType::F32, DType::F16, DType::BF16, DType::Q8_0,
                                         DType::Q4_0),
                         [](const auto& test) { return std::string(gguf::name(test.param)); });

struct Case {
    int64_t d = 32, dv = d, kv_heads = 2, q_per_kv = 3, cells = 1400, slots = 3;
    DType keys = DType::F16, values = keys;
    int64_t window = 0;
    double soft_cap = 0, spread = 1.5;
    bool sinks = false;
};

// A prompt of several parts, then few tokens and many, and several sequences in one step.
std::vector<graph::StepInputs> long_steps() {
    std::vector<graph::StepInputs> steps{test::random_step(0, 600)};
    int32_t cached = 600;
    for (int32_t count : {1, 8, 40, 1, 2, 70, 4}) {
        steps.push_back(test::random_step(cached, count));
        cached += count;
    }
    graph::StepInputs both;
    const std::vector<int32_t> other(9, 3), one{4}, few{5, 6, 7};
    both.append(1, 0, other);
    both.append(0, cached, one);
    both.append(2, 0, few);
    for (int32_t i = 0; i < both.tokens(); ++i) both.rows.push_back(i);
    steps.push_back(both);
    return steps;
}

constexpr Case long_cases[] = {
    {.d = 64, .q_per_kv = 4},
    {.d = 16, .kv_heads = 1, .q_per_kv = 1, .keys = DType::F32},
    {.d = 80, .dv = 48, .q_per_kv = 2, .keys = DType::BF16, .soft_cap = 3},
    {.d = 36, .dv = 21, .q_per_kv = 2, .keys = DType::F32, .values = DType::F16, .soft_cap = 0.7},
    {.d = 32, .kv_heads = 1, .q_per_kv = 7, .keys = DType::Q8_0, .values = DType::Q4_0},
    {.d = 32, .q_per_kv = 5, .keys = DType::Q4_0, .sinks = true},
    {.d = 64, .q_per_kv = 4, .keys = DType::Q8_0, .values = DType::Q4_0},
    {.d = 128, .dv = 64, .kv_heads = 1, .q_per_kv = 7, .keys = DType::Q4_0, .values = DType::Q8_0},
    {.d = 64, .keys = DType::BF16, .values = DType::Q8_0, .soft_cap = 3},
    {.d = 64, .q_per_kv = 9, .cells = 960, .keys = DType::Q8_0, .window = 300, .sinks = true},
    {.d = 96, .dv = 160, .kv_heads = 1, .keys = DType::Q8_0},
    {.d = 256, .kv_heads = 1, .q_per_kv = 1},
    {.d = 32, .kv_heads = 1, .q_per_kv = 140, .sinks = true},
    {.d = 16, .kv_heads = 1, .q_per_kv = 6, .window = 300, .sinks = true},
    {.d = 32, .cells = 700, .window = 90},
    {.d = 32, .q_per_kv = 2, .cells = 960, .window = 300},
};

TEST(CpuAttend, LongCaches) {
    for (const Case& how : long_cases) {
        SCOPED_TRACE("d " + std::to_string(how.d) + ", " + std::to_string(how.q_per_kv) +
                     " queries for a head");
        SmallModel model;
        test::build_attend(model, how);
        expect_close(model, long_steps(), 1e-10, test::attention_bound_of(how.keys, how.values));
    }
}

// Keys whose squares are too large for floats, or too small; and such values.
TEST(CpuAttend, EveryMagnitude) {
    for (auto [of_keys, of_values] : {std::pair{1e30f, 1e30f}, {1e-30f, 1e-25f}}) {
        SmallModel model;
        Axis kv = model.axis("kv_heads", 2), q_per_kv = model.axis("q_per_kv", 3);
        Axis d = model.axis("d", 64), slots = model.axis("slots", 1);
        Axis cells = model.axis("cells", 200);
        Tensor q = model.activation("q", {kv, q_per_kv, d}, 1 / of_keys);
        Tensor k = model.activation("k", {kv, d}, of_keys);
        Tensor v = model.activation("v", {kv, d}, of_values);
        graph::Cache cache{model.graph.state("k_cache", DType::BF16, {slots, kv, cells}, {d}),
                           model.graph.state("v_cache", DType::BF16, {slots, kv, cells}, {d})};
        model.finish(attend(q, k, v, cache, 0.2));
        expect_close(model, {test::random_step(0, 150), test::random_step(150, 2)}, 1e-10,
                     test::attention_bound_of(DType::BF16, DType::BF16));
    }
}

// Parts of a key of which one is much larger, while both count as much; and squares of latents that
// are too large for floats, or too small.
TEST(CpuAttend, PartsOfKeysOfEveryMagnitude) {
    for (auto [type, larger] : {std::pair{DType::F16, 1e-3f},
                                {DType::F16, 1e3f},
                                {DType::BF16, 1e-20f},
                                {DType::BF16, 1e25f}}) {
        SmallModel model;
        Axis kv = model.axis("kv_heads", 1), heads = model.axis("q_per_kv", 16);
        Axis latent = model.axis("latent", 64), rotary = model.axis("rotary", 48);
        Axis slots = model.axis("slots", 1), cells = model.axis("cells", 200);
        Tensor q = model.activation("q", {kv, heads, latent}, 1 / larger);
        Tensor rows = model.graph.state("rows", type, {slots, kv, cells}, {latent});
        model.finish(
            attend(q, model.activation("c", {kv, latent}, larger), {}, {rows, rows}, 0.3,
                   {.q = model.activation("q2", {kv, heads, rotary}),
                    .k = model.activation("k2", {rotary}),
                    .cache = model.graph.state("rotary", type, {slots, cells}, {rotary})}));
        expect_close(model, {test::random_step(0, 150), test::random_step(150, 1)}, 1e-10,
                     test::attention_bound_of(type, type));
    }
}

// How work is divided among threads changes no bit.
TEST(CpuAttend, TeamsOfEverySize) {
    for (const Case& how : long_cases) {
        SmallModel model;
        test::build_attend(model, how);
        auto expected = model.run(test::make_cpu({"", 1}), long_steps());
        for (int threads : {2, 3, 7})
            EXPECT_EQ(model.run(test::make_cpu({"", threads}), long_steps()), expected);
    }
}

// A key that is no number spoils what all later tokens see of it, visibly, whatever reads it.
TEST(CpuAttend, KeepsNaN) {
    const float infinity = std::numeric_limits<float>::infinity();
    for (const Spoiled& how : {Spoiled{32, 2, DType::F16, std::nanf(""), true},
                               {33, 2, DType::F16, std::nanf(""), true},
                               {64, 4, DType::Q8_0, infinity, true},
                               {64, 4, DType::Q8_0, std::nanf(""), true},
                               {64, 4, DType::Q4_0, -infinity, true},
                               {64, 4, DType::Q4_0, -std::nanf(""), true}}) {
        SmallModel model;
        how.build(model);
        for (const test::Machine& machine : test::machines()) {
            const std::vector<float> found =
                model.run(test::make_cpu(machine),
                          {spoiled_step(0, 80, 9, {8, 9, 79}), spoiled_step(80, 1, -1, {0})});
            const size_t row = size_t(how.q_per_kv * how.d);
            ASSERT_EQ(found.size(), 4 * row);
            for (size_t i = 0; i < found.size(); ++i)
                EXPECT_EQ(std::isnan(found[i]), i >= row) << machine.variant << " " << i / row;
        }
    }
}

// A value that is not finite, such as one that F16 has no room for, spoils that element, or its
// block, of the tokens that see it, and nothing else: in prompts, in a few tokens and in one.
TEST(CpuAttend, KeepsWhatIsNotFiniteToThoseWhoSeeIt) {
    const float infinity = std::numeric_limits<float>::infinity();
    for (const Spoiled& how : {Spoiled{32, 2, DType::F16, std::nanf("")},
                               {33, 2, DType::F16, -infinity},
                               {64, 4, DType::F16, 1e6},
                               {64, 1, DType::BF16, infinity},
                               {64, 4, DType::F32, -std::nanf("")},
                               {64, 4, DType::Q8_0, infinity},
                               {64, 4, DType::Q8_0, -std::nanf("")},
                               {64, 4, DType::Q4_0, -infinity},
                               {64, 4, DType::Q4_0, std::nanf("")}}) {
        SmallModel model;
        how.build(model);
        const auto block = size_t(gguf::traits(how.dtype).block);
        // Whether each token that is asked for sees the spoiled one.
        const bool sees[] = {false, false, true, true, true, false, false, false, true, true};
        for (const test::Machine& machine : test::machines()) {
            std::vector<float> found =
                model.run(test::make_cpu(machine),
                          {spoiled_step(0, 80, 9, {0, 8, 9, 79}), spoiled_step(80, 1, -1, {0})});
            const std::vector<float> more =
                model.run(test::make_cpu(machine),
                          {spoiled_step(0, 80, -1, {79}), spoiled_step(80, 4, 2, {0, 1, 2, 3})});
            found.insert(found.end(), more.begin(), more.end());
            const size_t row = size_t(how.q_per_kv * how.d);
            ASSERT_EQ(found.size(), std::size(sees) * row);
            for (size_t i = 0; i < found.size(); ++i) {
                const size_t element = i % size_t(how.d);
                const bool spoils = sees[i / row] && element / block == Spoiled::element / block;
                const bool right =
                    spoils ? !std::isfinite(found[i]) : std::abs(found[i] - Spoiled::other) < 0.02f;
                ASSERT_TRUE(right)
                    << machine.variant << ", cache " << gguf::name(how.dtype) << ", row " << i / row
                    << ", element " << element << ": " << found[i];
            }
        }
    }
}

// Every variant writes the bits that gguf::encode_row() does; of what is no number, any of its
// bits.
TEST(CpuAttend, WritesRowsAsTheFormatsSay) {
    std::mt19937 random(1);
    std::vector<float> values;
    for (uint32_t i = 0; i < 65536; ++i)  // every half, those between two of them, and any bits
        for (uint32_t bits : {i << 13, i << 13 | 0x1000, i << 16 | 0x8000, uint32_t(random())}) {
            if (i >= 0x8000) bits |= 0x80000000;
            values.push_back(std::bit_cast<float>(bits));
        }
    for (uint32_t half = 0; half < 0x7c00; ++half) {
        const float next = gguf::f16_to_f32(uint16_t(half + 1));
        values.push_back((gguf::f16_to_f32(uint16_t(half)) + next) / 2);
    }
    values.push_back(1);  // no whole number of vectors
    for (DType dtype : {DType::F32, DType::F16, DType::BF16})
        for (const test::Machine& machine : test::machines()) {
            const size_t bytes = dtype == DType::F32 ? 4 : 2;
            std::vector<std::byte> found(bytes * values.size()), expected = found;
            kernels::cpu::find_variant(machine.variant)
                ->isa()
                .encode(int(dtype), values.data(), int64_t(values.size()),
                        reinterpret_cast<uint8_t*>(found.data()));
            gguf::encode_row(dtype, values, expected.data());
            std::vector<float> read(values.size());
            gguf::decode_row(dtype, found.data(), read);
            size_t wrong = 0;
            for (size_t i = 0; i < values.size(); ++i)
                wrong += std::isnan(values[i])
                             ? !std::isnan(read[i])
                             : std::memcmp(&found[bytes * i], &expected[bytes * i], bytes) != 0;
            EXPECT_EQ(wrong, 0u) << gguf::name(dtype) << " " << machine.variant;
        }
}

// Likewise of blocks: of any numbers, of whole and half codes, of equal magnitudes, of zeros, and
// of what has no finite inverse. One with what is no number has nothing else.
TEST(CpuAttend, WritesRowsInBlocksAsTheFormatsSay) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    const float infinity = std::numeric_limits<float>::infinity();
    const float special[] = {0, -0.0f, 1e-45f, -1e-38f, 3e38f, infinity, -infinity, std::nanf("")};
    std::vector<float> values;
    for (int block = 0; block < 4000; ++block)
        for (int i = 0; i < 32; ++i) {
            const float any = std::bit_cast<float>(uint32_t(random()));
            const float halves = float(int(random() % 509) - 254) / 2;
            const float sign = random() % 2 ? 1 : -1;
            const float rare = random() % 32 == 0 ? special[random() % std::size(special)] : 1;
            const float of_kind[] = {normal(random),        any,         halves,  halves / 8,
                                     rare * normal(random), 0.3f * sign, 0 * sign};
            values.push_back(of_kind[block % 7]);
        }
    for (DType dtype : {DType::Q8_0, DType::Q4_0})
        for (const test::Machine& machine : test::machines()) {
            const size_t bytes = size_t(gguf::row_bytes(dtype, int64_t(values.size())));
            std::vector<std::byte> found(bytes), expected(bytes);
            kernels::cpu::find_variant(machine.variant)
                ->isa()
                .encode(int(dtype), values.data(), int64_t(values.size()),
                        reinterpret_cast<uint8_t*>(found.data()));
            gguf::encode_row(dtype, values, expected.data());
            const size_t block = bytes / (values.size() / 32);
            auto has_nan = [](std::span<const float> x) {
                return std::ranges::any_of(x, [](float value) { return std::isnan(value); });
            };
            size_t wrong = 0, without_numbers = 0;
            for (size_t at = 0; at < bytes; at += block) {
                if (!has_nan(std::span(values).subspan(at / block * 32, 32))) {
                    wrong += std::memcmp(&found[at], &expected[at], block) != 0;
                    continue;
                }
                ++without_numbers;
                for (const auto* written : {&found, &expected}) {
                    float read[32];
                    gguf::decode_row(dtype, &(*written)[at], read);
                    for (float value : read) wrong += !std::isnan(value);
                }
            }
            EXPECT_EQ(wrong, 0u) << gguf::name(dtype) << " " << machine.variant;
            EXPECT_GT(without_numbers, 100u);
        }
}

}  // namespace
}  // namespace tandem
