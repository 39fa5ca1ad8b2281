// Every kernel of the CPU, in every variant that this machine runs, against the reference op: all
// weight types, odd sizes, one to three threads, one token to many.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "graph/rope.h"
#include "kernels/cpu/site.h"
#include "kernels/cpu_case.h"
#include "kernels/delta_case.h"
#include "random.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Shape;
using graph::Tensor;
using test::bound_of;
using test::expect_close;
using test::Machine;
using test::machines;
using test::reduced_bound_of;
using test::SmallModel;

constexpr DType matrix_types[] = {
    DType::F32,    DType::F16,    DType::BF16,    DType::Q4_0,   DType::Q4_1,   DType::Q5_0,
    DType::Q5_1,   DType::Q6_0,   DType::Q8_0,    DType::Q2_K,   DType::Q3_K,   DType::Q4_K,
    DType::Q5_K,   DType::Q6_K,   DType::IQ4_NL,  DType::IQ4_XS, DType::MXFP4,  DType::NVFP4,
    DType::IQ1_S,  DType::IQ1_M,  DType::IQ2_XXS, DType::IQ2_XS, DType::IQ2_S,  DType::IQ3_XXS,
    DType::IQ3_S,  DType::TQ1_0,  DType::TQ2_0,   DType::Q1_0,   DType::Q2_0,   DType::IQ2_K,
    DType::IQ3_K,  DType::IQ4_K,  DType::IQ5_K,   DType::IQ6_K,  DType::IQ2_KS, DType::IQ3_KS,
    DType::IQ4_KS, DType::IQ5_KS, DType::IQ4_KSS, DType::IQ2_KL, DType::IQ1_KT, DType::IQ2_KT,
    DType::IQ3_KT, DType::IQ4_KT};
// One that is decoded a row at a time.
constexpr DType other_types[] = {DType::F64};

class EveryType : public testing::TestWithParam<DType> {};

TEST_P(EveryType, LinearOfOddRows) {
    int64_t block = gguf::traits(GetParam()).block;
    for (auto [rows, blocks] : {std::pair{1, 1}, {16, 3}, {37, 2}}) {
        SmallModel model;
        Axis k = model.axis("k", block == 1 ? 21 * blocks : std::max<int64_t>(32, block) * blocks);
        Axis n = model.axis("n", rows);
        Tensor x = model.activation("x", {k});
        model.finish(linear(x, model.weight("w", GetParam(), {n}, {k})));
        expect_close(model, {test::random_step(0, 1), test::random_step(0, 61)},
                     bound_of(GetParam()), reduced_bound_of(GetParam()));
    }
}

// More tokens than pass at a time, or that many of so many columns, a last group and a last tile
// that are not full.
TEST(Cpu, LinearOfManyTokens) {
    auto compare = [](DType dtype, int64_t columns, int tokens) {
        SmallModel model;
        Axis k = model.axis("k", columns), n = model.axis("n", 165);
        Tensor x = model.activation("x", {k});
        model.finish(linear(x, model.weight("w", dtype, {n}, {k})));
        expect_close(model, {test::random_step(0, tokens)}, bound_of(dtype),
                     reduced_bound_of(dtype));
    };
    for (DType dtype :
         {DType::Q4_0, DType::Q4_1, DType::Q5_1, DType::Q3_K, DType::Q5_K, DType::Q6_K,
          DType::IQ4_XS, DType::NVFP4, DType::Q1_0, DType::TQ2_0, DType::IQ2_K, DType::IQ5_K,
          DType::IQ4_KS, DType::IQ3_KT, DType::F16, DType::BF16, DType::F32}) {
        const int64_t alone = gguf::traits(dtype).block == 1 ? 1 : 0;  // a column behind the pairs
        compare(dtype, 768 + alone, 600);
    }
    compare(DType::F32, 7200, 300);
}

// Results that go past the caches, but for the last groups, and as many of which every other row
// begins amid a line.
TEST(Cpu, LinearOfManyRowsAndTokens) {
    for (DType dtype : {DType::Q4_0, DType::Q6_K, DType::F16, DType::BF16})
        for (int64_t rows : {1808, 1800}) {
            SmallModel model;
            Axis k = model.axis("k", 256), n = model.axis("n", rows);
            Tensor x = model.activation("x", {k});
            model.finish(linear(x, model.weight("w", dtype, {n}, {k})));
            expect_close(model, {test::random_step(0, 300)}, bound_of(dtype),
                         reduced_bound_of(dtype));
        }
}

// Where all numbers are as large as the largest, sums of their codes are the largest there are.
TEST(Cpu, LinearOfOneMagnitude) {
    for (DType dtype : {DType::F16, DType::Q4_0, DType::Q4_1, DType::Q8_0, DType::Q2_K, DType::Q3_K,
                        DType::Q4_K, DType::Q5_K, DType::Q6_K, DType::IQ4_XS}) {
        SmallModel model;
        Axis k = model.axis("k", 512), n = model.axis("n", 21);
        std::vector<float> signs(512);
        for (size_t i = 0; i < signs.size(); ++i) signs[i] = i * i % 7 < 3 ? -1.0f : 1.0f;
        auto fill = [&](DType as) {
            return [&, as](std::span<std::byte> row) { gguf::encode_row(as, signs, row.data()); };
        };
        Tensor table = model.weight("x", DType::F32, {model.axis("ids", SmallModel::ids)}, {k},
                                    fill(DType::F32));
        Tensor x = embed(table, model.graph.input("ids"));
        model.finish(linear(x, model.weight("w", dtype, {n}, {k}, fill(dtype))));
        expect_close(model, {test::random_step(0, 70), test::random_step(70, 1)}, bound_of(dtype),
                     reduced_bound_of(dtype));
    }
}

// Blocks of which some are a thousand times as large as others, and some are zero.
TEST(Cpu, LinearOfUnlikeBlocks) {
    for (DType dtype : {DType::F16, DType::Q4_0, DType::Q4_1, DType::Q5_1, DType::Q8_0}) {
        SmallModel model;
        Axis k = model.axis("k", 32 * 13), n = model.axis("n", 21);
        auto fill = [&](DType as, unsigned seed) {
            return [&, as, random = test::Random(seed)](std::span<std::byte> row) mutable {
                std::vector<float> values = random.floats(32 * 13);
                for (size_t i = 0; i < values.size(); ++i) {
                    const size_t block = i / 32 + seed;
                    values[i] *= block % 6 == 0 ? 0 : std::pow(10.0f, float(block % 4));
                }
                gguf::encode_row(as, values, row.data());
            };
        };
        Tensor table = model.weight("x", DType::F32, {model.axis("ids", SmallModel::ids)}, {k},
                                    fill(DType::F32, 1));
        Tensor x = embed(table, model.graph.input("ids"));
        model.finish(linear(x, model.weight("w", dtype, {n}, {k}, fill(dtype, 2))));
        expect_close(model, {test::random_step(0, 70)}, bound_of(dtype), reduced_bound_of(dtype));
    }
}

// As many as are multiplied at a time, and fewer.
TEST_P(EveryType, LinearOfFewTokens) {
    int64_t block = gguf::traits(GetParam()).block;
    SmallModel model;
    Axis k = model.axis("k", block == 1 ? 43 : 2 * std::max<int64_t>(32, block));
    Axis n = model.axis("n", 37);
    Tensor x = model.activation("x", {k});
    model.finish(linear(x, model.weight("w", GetParam(), {n}, {k})));
    std::vector<graph::StepInputs> steps;
    for (int tokens = 1; tokens <= 8; ++tokens) steps.push_back(test::random_step(0, tokens));
    expect_close(model, steps, bound_of(GetParam()));
}

TEST_P(EveryType, TwoReadersOfOneValue) {
    int64_t block = gguf::traits(GetParam()).block;
    SmallModel model;
    Axis k = model.axis("k", block == 1 ? 40 : 2 * std::max<int64_t>(32, block));
    Axis n = model.axis("n", 24);
    Tensor x = model.activation("x", {k});
    Tensor a = linear(x, model.weight("a", GetParam(), {n}, {k}));
    Tensor b =
        linear(x, model.weight("b", DType::Q8_0 == GetParam() ? DType::F32 : GetParam(), {n}, {k}));
    model.finish(add(a, b));
    expect_close(model, {test::random_step(0, 5), test::random_step(0, 70)}, bound_of(GetParam()),
                 reduced_bound_of(GetParam()));
}

TEST_P(EveryType, TableReadFromItsMatrix) {
    int64_t block = gguf::traits(GetParam()).block;
    SmallModel model;
    Axis k = model.axis("k", block == 1 ? 33 : 2 * std::max<int64_t>(32, block));
    Tensor table = model.weight("table", GetParam(), {model.axis("ids", SmallModel::ids)}, {k});
    // Rows come out exactly; only the product with the same table rounds.
    Tensor rows = embed(table, model.graph.input("ids"));
    model.finish(linear(rows, table));
    expect_close(model, {test::random_step(0, 9)}, bound_of(GetParam()),
                 reduced_bound_of(GetParam()));
}

TEST_P(EveryType, Experts) {
    int64_t block = gguf::traits(GetParam()).block;
    int64_t unit = block == 1 ? 20 : std::max<int64_t>(32, block);
    SmallModel model;
    Axis embd = model.axis("embd", 2 * unit), ffn = model.axis("ffn", unit);
    Axis experts = model.axis("experts", 6), choices = model.axis("choices", 6);
    Tensor x = model.activation("x", {embd});
    Tensor scores = softmax(model.activation("scores", {choices}));
    Tensor ids = top_k(scores, model.axis("used", 2));
    float scale = 1 / std::sqrt(float(unit));
    model.finish(moe_ffn(x, ids, normalize(take(scores, ids)),
                         {.gate = model.weight("gate", GetParam(), {experts, ffn}, {embd}, scale),
                          .up = model.weight("up", GetParam(), {experts, ffn}, {embd}, scale),
                          .down = model.weight("down", GetParam(), {experts, embd}, {ffn}, scale)},
                         "silu"));
    // Some experts get few tokens, some many.
    expect_close(model,
                 {test::random_step(0, 1), test::random_step(0, 19), test::random_step(0, 40),
                  test::random_step(0, 70)},
                 6 * bound_of(GetParam()), reduced_bound_of(GetParam(), 6));
}

INSTANTIATE_TEST_SUITE_P(Packed, EveryType, testing::ValuesIn(matrix_types),
                         [](const auto& test) { return std::string(gguf::name(test.param)); });
INSTANTIATE_TEST_SUITE_P(Plain, EveryType, testing::ValuesIn(other_types),
                         [](const auto& test) { return std::string(gguf::name(test.param)); });

// A value that is no number spoils the results that depend on it, visibly.
TEST(Cpu, QuantizedActivationsKeepNaN) {
    for (const Machine& machine : machines())
        for (int64_t block : {32, 256})
            for (int64_t at : {int64_t(0), int64_t(9), block - 1}) {
                std::vector<float> x(size_t(block), 2.0f);
                x[size_t(at)] = std::nanf("");
                const kernels::cpu::Isa& isa = kernels::cpu::find_variant(machine.variant)->isa();
                kernels::cpu::Q8Row row = kernels::cpu::q8_row(block, block);
                std::vector<uint8_t> bytes(size_t(row.bytes));
                isa.quantize(x.data(), block, block, bytes.data());
                float scale;
                std::memcpy(&scale, &bytes[size_t(row.scales)], sizeof scale);
                EXPECT_TRUE(std::isnan(scale)) << machine.variant << " " << block << " " << at;

                kernels::cpu::Q8Tile tile;
                isa.place(x.data(), block, block, reinterpret_cast<uint8_t*>(&tile), 5);
                EXPECT_TRUE(std::isnan(tile.scales[5]));
            }
}

TEST(Cpu, IntegersOf16BitsKeepWhatIsNoNumber) {
    const float nan = std::nanf(""), infinite = std::numeric_limits<float>::infinity();
    for (const Machine& machine : machines())
        for (float value : {nan, -nan, infinite, -infinite})
            for (size_t at : {0, 9, 31, 130}) {
                std::vector<float> x(140, 2.0f);
                x[at] = value;
                std::vector<kernels::cpu::Q16Tile> tiles(2);
                kernels::cpu::find_variant(machine.variant)
                    ->isa()
                    .place_q16(x.data(), int64_t(x.size()), 32,
                               reinterpret_cast<uint8_t*>(tiles.data()), 5);
                const auto& scales = tiles[at / kernels::cpu::q16_columns].scales[5];
                EXPECT_TRUE(std::isnan(scales[at % kernels::cpu::q16_columns / 32]))
                    << machine.variant << " " << value << " " << at;
                EXPECT_FALSE(std::isnan(tiles[0].scales[5][2]));
            }
}

// Columns that a last block lacks are zeros, whatever lay there.
TEST(Cpu, IntegersOf16BitsFillUpBlocks) {
    const std::vector<float> x(40, 2.0f);
    for (const Machine& machine : machines()) {
        kernels::cpu::Q16Tile tile;
        std::memset(&tile, 0x55, sizeof tile);
        kernels::cpu::find_variant(machine.variant)
            ->isa()
            .place_q16(x.data(), int64_t(x.size()), 32, reinterpret_cast<uint8_t*>(&tile), 3);
        for (size_t i = 0; i < 64; ++i)
            EXPECT_EQ(tile.codes[i / 32][3][i % 32] == 0, i >= x.size()) << machine.variant << i;
    }
}

// Sets with matrix units have no other product of 16 bits: there the units must come first.
TEST(Cpu, MatrixUnitsComeFirst) {
    const auto kernels = kernels::cpu::claims(kernels::cpu::Reduced::AllTypes, false);
    auto place = [&](std::string_view name) {
        return std::ranges::find(kernels, name, &kernels::Kernel::name) - kernels.begin();
    };
    EXPECT_LT(place("linear.units"), place("linear.q16_of_128"));
    EXPECT_LT(place("linear.units"), place("linear.q16_of_f16"));
    EXPECT_LT(place("linear.q16_of_f16"), place("linear.packed"));
    EXPECT_LT(place("linear.packed"), std::ssize(kernels));
}

// Heads that are batched, and operands of which only the last axis is contracted.
TEST(Cpu, LinearOfAnyShape) {
    for (DType dtype : {DType::F32, DType::Q8_0, DType::TQ2_0}) {
        int64_t size = dtype == DType::TQ2_0 ? 256 : 32;
        SmallModel model;
        Axis h = model.axis("h", 3), k = model.axis("k", size), n = model.axis("n", 5);
        Tensor x = model.activation("x", {h, k});
        Tensor batched = linear(x, model.weight("b", dtype, {h, n}, {k}));
        Tensor last = linear(x, model.weight("l", dtype, {n}, {k}));
        model.finish(add(batched, last));
        expect_close(model, {test::random_step(0, 4), test::random_step(0, 40)}, 1e-11);
    }
}

// Of floats the first would be multiplied otherwise, whoever reads the value beside it.
TEST(Cpu, LinearsOfUnlikeFloats) {
    for (auto [first, second] : {std::pair{DType::BF16, DType::F32},
                                 {DType::F32, DType::BF16},
                                 {DType::BF16, DType::F16},
                                 {DType::F16, DType::F32},
                                 {DType::F32, DType::F16},
                                 {DType::F16, DType::BF16}}) {
        for (const Machine& machine : machines()) {
            auto run = [&](bool both) {
                SmallModel model;
                Axis k = model.axis("k", 64), n = model.axis("n", 24);
                Tensor x = model.activation("x", {k});
                Tensor y = linear(x, model.weight("a", first, {n}, {k}));
                Tensor beside = linear(x, model.weight("b", second, {n}, {k}, 0));
                model.finish(both ? add(y, beside) : y);
                return model.run(test::make_cpu(machine), {test::random_step(0, 70)});
            };
            EXPECT_EQ(run(true), run(false)) << machine.variant;
        }
    }
}

// Heads with a product each: few or many to a thread, of whole groups of rows, and of rows that are
// decoded one by one.
TEST(Cpu, LinearOfHeads) {
    for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::Q8_0, DType::Q4_K})
        for (auto [groups, rows] : {std::pair{1, 48}, {3, 48}, {1, 21}}) {
            SmallModel model;
            Axis group = model.axis("group", groups), heads = model.axis("heads", 3);
            Axis k = model.axis("k", gguf::traits(dtype).block == 1 ? 37 : 256);
            Axis n = model.axis("n", rows);
            Tensor x = model.activation("x", {group, heads, k});
            model.finish(linear(x, model.weight("w", dtype, {group, heads, n}, {k})));
            expect_close(
                model, {test::random_step(0, 1), test::random_step(0, 5), test::random_step(0, 70)},
                rows == 48 ? bound_of(dtype) : 1e-11,
                rows == 48 ? reduced_bound_of(dtype) : test::ReducedBound{});
        }
}

TEST(Cpu, RowOps) {
    SmallModel model;
    Axis heads = model.axis("heads", 3), d = model.axis("d", 37);
    Tensor a = model.activation("a", {heads, d}), b = model.activation("b", {heads, d}, 8);
    Tensor x = glu(b, a, "silu");
    x = add(x, glu(a, b, "gelu"));
    x = mul(x, model.weight("row", DType::F32, {heads, d}, {}));
    x = mul(x, model.weight("value", DType::F32, {}, {}));
    x = add(rms_norm(x, model.weight("norm", DType::F16, {d}, {}), 1e-5), a);
    model.finish(sigmoid(soft_cap(scale(x, 0.5), 3)));
    expect_close(model, {test::random_step(0, 1), test::random_step(0, 23)}, 1e-11);
}

// Chains of operations on values of many shapes, whose memory is used again and again: a prompt
// goes through them a few tokens at a time.
TEST(Cpu, ChainsOfRowOps) {
    for (uint64_t seed = 1; seed <= 30; ++seed) {
        test::Random random(seed);
        SmallModel model;
        Axis heads = model.axis("heads", 3), d = model.axis("d", 37);
        const std::vector<graph::Shape> shapes = {{heads, d}, {heads}, {d}, {}};
        std::vector<std::vector<Tensor>> values;  // by shape
        for (size_t i = 0; i < shapes.size(); ++i)
            values.push_back({model.activation("x" + std::to_string(i), shapes[i])});
        auto any = [&](size_t shape) {
            return values[shape][size_t(random.below(values[shape].size()))];
        };
        for (int i = 0; i < 24; ++i) {
            const size_t shape = size_t(random.below(shapes.size()));
            Tensor x = any(shape);
            switch (random.below(6)) {
                case 0:
                    x = sigmoid(x);
                    break;
                case 1:
                    x = scale(x, 0.7);
                    break;
                case 2:
                    x = add(x, any(shape));
                    break;
                case 3:
                    x = shape == 0 ? add(x, any(size_t(random.below(4)))) : glu(x, x, "silu");
                    break;
                case 4:
                    x = shape == 0 || shape == 2 ? l2_norm(x, 1e-6) : softplus(x);
                    break;
                case 5:
                    x = glu(x, any(shape), "gelu");
                    break;
            }
            // Few stay, so that memory is free for others.
            if (values[shape].size() > 2) values[shape].erase(values[shape].begin());
            values[shape].push_back(x);
        }
        Tensor sum = values[0].back();
        for (const auto& some : values)
            for (Tensor value : some) sum = add(sum, value);
        model.finish(sum);
        expect_close(model, {test::random_step(0, 300)}, 1e-11);
    }
}

// A team too large for a chain runs launch after launch.
TEST(Cpu, ChainsChangeNoBit) {
    for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::Q4_0, DType::Q4_K}) {
        SmallModel model;
        Axis embd = model.axis("embd", 256), ffn = model.axis("ffn", 512);
        Tensor x = model.activation("x", {embd});
        for (const char* name : {"a", "b"}) {
            auto weight = [&](const char* part, Axis rows, Axis columns) {
                return model.weight(name + std::string(part), dtype, {rows}, {columns}, 0.06f);
            };
            Tensor norm = model.weight(name + std::string(".norm"), DType::F32, {embd}, {});
            Tensor h = rms_norm(add(x, x), norm, 1e-6);
            Tensor hidden = glu(linear(h, weight(".gate", ffn, embd)),
                                linear(h, weight(".up", ffn, embd)), "silu");
            x = add(x, linear(hidden, weight(".down", embd, ffn)));
        }
        model.finish(x);
        const std::vector<graph::StepInputs> steps{test::random_step(0, 300)};
        for (const test::Machine& machine : test::machines())
            EXPECT_EQ(model.run(test::make_cpu({machine.variant, 2}), steps),
                      model.run(test::make_cpu({machine.variant, 9}), steps));
    }
}

TEST(Cpu, OperandsWithFewerAxes) {
    SmallModel model;
    Axis heads = model.axis("heads", 3), d = model.axis("d", 37);
    Tensor x = model.activation("x", {heads, d});
    Tensor of_tokens = model.activation("t", {}), of_heads = model.activation("h", {heads});
    x = mul(x, sigmoid(of_tokens));
    x = add(x, softplus(of_heads));
    x = mul(x, model.weight("w", DType::F32, {heads}, {}));
    x = add(x, model.activation("e", {d}));
    model.finish(add(l2_norm(x, 1e-6), scale(x, 0.3)));
    expect_close(model, {test::random_step(0, 1), test::random_step(0, 23)}, 1e-11);
}

TEST(Cpu, Rope) {
    for (bool halves : {false, true}) {
        SmallModel model;
        Axis heads = model.axis("heads", 3), d = model.axis("d", 20);
        graph::Rope rope{.dims = 12,
                         .base = 500,
                         .halves = halves,
                         .scale = 4,
                         .magnitude = 1.2,
                         .extrapolation = 1,
                         .low = 1,
                         .high = 4};
        Tensor x = model.activation("x", {heads, d}), positions = model.graph.input("positions");
        Tensor factors = model.weight("factors", DType::F32, {model.axis("pairs", 6)}, {});
        model.finish(
            add(graph::rope(x, positions, rope), graph::rope(x, positions, rope, factors)));
        expect_close(model, {test::random_step(0, 9), test::random_step(1000, 3)}, 1e-11);
    }
}

// Queries and keys turn together; what is turned twice does not.
TEST(Cpu, RopeOfSeveralValues) {
    for (bool halves : {false, true}) {
        SmallModel model;
        Axis heads = model.axis("heads", 3), d = model.axis("d", 20);
        graph::Rope rope{.dims = 20, .halves = halves};
        Tensor q = model.activation("q", {heads, d}), k = model.activation("k", {d});
        Tensor positions = model.graph.input("positions");
        Tensor twice = graph::rope(graph::rope(q, positions, rope), positions, rope);
        model.finish(add(twice, graph::rope(k, positions, rope)));
        expect_close(model, {test::random_step(0, 5), test::random_step(5, 300)}, 1e-11);
    }
}

// Two sequences, the first of which goes on, of slots 0 and 1.
graph::StepInputs two_sequences(int32_t cached, int32_t first, int32_t second) {
    graph::StepInputs step = test::random_step(cached, first);
    step.append(1, 0, test::random_step(0, second).ids);
    for (int32_t i = 0; i < second; ++i) step.rows.push_back(first + i);
    return step;
}

// The team's size must not show in a result.
void expect_equal_bits(const SmallModel& model, const std::vector<graph::StepInputs>& steps) {
    for (const Machine& machine : machines()) {
        auto alone = model.run(test::make_cpu({machine.variant, 1}), steps);
        for (int threads : {2, 3, 5})
            EXPECT_EQ(alone, model.run(test::make_cpu({machine.variant, threads}), steps))
                << machine.variant << " with " << threads << " threads";
    }
}

// Head sizes that are no multiple of a vector, heads in every order, states that go on and begin
// anew.
TEST(Cpu, DeltaNet) {
    enum Heads { Grouped, Tiled, Single };
    for (Heads order : {Grouped, Tiled, Single})
        for (int64_t size : {16, 37, 128}) {
            SmallModel model;
            Axis k_heads = model.axis("k_heads", 3), v_per_k = model.axis("v_per_k", 2);
            Axis d = model.axis("d", size), dv = model.axis("dv", size + 3);
            Shape heads = order == Grouped ? Shape{k_heads, v_per_k}
                          : order == Tiled ? Shape{v_per_k, k_heads}
                                           : Shape{k_heads};
            Tensor q = l2_norm(model.activation("q", {k_heads, d}), 1e-6);
            Tensor k = l2_norm(model.activation("k", {k_heads, d}), 1e-6);
            Tensor v = model.activation("v", heads + Shape{dv});
            Shape decayed = order == Single ? heads + Shape{d} : heads;
            Tensor decay = scale(softplus(model.activation("decay", decayed)), -1);
            Tensor beta = sigmoid(model.activation("beta", heads));
            Tensor state = model.graph.state(
                "state", DType::F32, Shape{model.axis("slots", 2)} + heads + Shape{dv}, {d});
            model.finish(delta_net(q, k, v, decay, beta, state));
            const std::vector<graph::StepInputs> steps{
                test::random_step(0, 70), test::random_step(70, 1),  test::random_step(71, 9),
                two_sequences(80, 33, 2), two_sequences(113, 3, 64), test::random_step(0, 5)};
            expect_close(model, steps, 1e-10);
            expect_equal_bits(model, steps);
        }
}

// After tokens that forget all, or let states grow, chunks are as exact as steps.
TEST(Cpu, DeltaNetForgets) {
    for (bool per_channel : {false, true})
        for (float unusual : test::unusual_decays) {
            SmallModel model;
            test::build_delta_net(model, per_channel,
                                  [&](int32_t id) { return id % 32 == 5 ? unusual : -0.1f; });
            expect_close(model, {test::random_step(0, 70), test::random_step(70, 1)}, 1e-10);
        }
}

TEST(Cpu, DeltaNetGrowsAgain) {
    for (bool per_channel : {false, true})
        for (const test::RegrownDelta& how : test::regrown_deltas) {
            SmallModel model;
            how.build(model, per_channel);
            expect_close(model, {how.step()}, 1e-10);
        }
}

// A decay that is no number spoils what comes after it, in chunks as in steps.
TEST(Cpu, DeltaNetKeepsNaN) {
    constexpr int32_t spoiled = 60;
    std::vector<int32_t> ids(70, 1);
    ids[40] = spoiled;
    graph::StepInputs prompt;
    prompt.append(0, 0, ids);
    prompt.rows = {31, 39, 40, 69};
    for (bool per_channel : {false, true}) {
        SmallModel model;
        test::build_delta_net(model, per_channel,
                              [](int32_t id) { return id == spoiled ? NAN : -0.1f; });
        for (const Machine& machine : machines()) {
            const std::vector<float> found = model.run(test::make_cpu(machine), {prompt});
            ASSERT_EQ(found.size(), 4u * 2 * 37);
            for (size_t i = 0; i < found.size(); ++i)
                EXPECT_EQ(std::isnan(found[i]), i >= found.size() / 2) << machine.variant;
        }
    }
}

// A token of a chunk spoils no earlier one, nor another sequence.
TEST(Cpu, DeltaNetSpoiled) {
    for (const test::SpoiledDelta& how : test::spoiled_deltas()) {
        SmallModel model;
        how.build(model);
        const std::vector<graph::StepInputs> steps = test::spoiled_delta_steps();
        const std::vector<float> expected =
            model.run(std::make_unique<kernels::ReferenceDevice>("reference", 0), steps);
        for (const Machine& machine : machines())
            test::expect_spoiled_alike(model.run(test::make_cpu(machine), steps), expected,
                                       machine.variant + ", " + how.name());
    }
}

// Numbers of channels that leave vectors, shares and blocks of them unfilled; fewer tokens than
// taps.
TEST(Cpu, ShortConv) {
    for (int64_t taps : {2, 4, 8, 9})
        for (int64_t channels : {13, 129}) {
            SmallModel model;
            Axis k_heads = model.axis("k_heads", 3), d = model.axis("d", channels);
            Tensor x = model.activation("x", {k_heads, d});
            Tensor kernel =
                model.weight("kernel", DType::F32, {k_heads, d, model.axis("taps", taps)}, {});
            Tensor state =
                model.graph.state("state", DType::F32, {model.axis("slots", 2), k_heads, d},
                                  {model.axis("history", taps - 1)});
            model.finish(short_conv(x, kernel, state));
            const std::vector<graph::StepInputs> steps{
                test::random_step(0, 1), test::random_step(1, 1),   test::random_step(2, 30),
                two_sequences(32, 2, 3), test::random_step(34, 70), test::random_step(0, 3)};
            expect_close(model, steps, 1e-11);
            expect_equal_bits(model, steps);
        }
}

TEST(Cpu, TemperedAndPicked) {
    SmallModel model;
    Axis layers = model.axis("layers", 3), d = model.axis("d", 20);
    Tensor x = pick(model.activation("x", {layers, d}), layers, 1);
    model.finish(rms_norm(temper(x, model.graph.input("positions"), 0.1, 8), 1e-6));
    expect_close(model,
                 {test::random_step(0, 9), test::random_step(1000, 3), test::random_step(0, 300)},
                 1e-11);
}

}  // namespace
}  // namespace tandem
