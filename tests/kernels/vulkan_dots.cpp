// Products of Vulkan devices in int8 against the reference op.
#include <algorithm>
#include <cmath>
#include <limits>

#include "gguf/error.h"
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

const kernels::VulkanOptions in_int8{.name = "vulkan0", .products = kernels::Products::InDots};

// What rounding random activations costs at most, and what it costs where they are codes already.
constexpr double rounded = 1e-4, unrounded = 1e-11;

constexpr DType types[] = {DType::Q4_0,   DType::Q4_1,   DType::Q5_0, DType::Q5_1, DType::Q8_0,
                           DType::Q2_K,   DType::Q3_K,   DType::Q4_K, DType::Q5_K, DType::Q6_K,
                           DType::IQ4_NL, DType::IQ4_XS, DType::MXFP4};

class VulkanDots : public test::Vulkan {
  protected:
    void SetUp() override {
        Vulkan::SetUp();
        if (IsSkipped()) return;
        try {
            kernels::make_vulkan_device(in_int8);
        } catch (const Error& error) {
            GTEST_SKIP() << error.what();
        }
    }
};

// Blocks of 32 numbers of which the largest has the code 127.
Tensor codes(SmallModel& model, const Shape& axes) {
    Tensor table = model.weight("x", DType::Q8_0, {model.axis("ids", SmallModel::ids)}, axes);
    return embed(table, model.graph.input("ids"));
}

Tensor product(SmallModel& model, Tensor x, const std::string& name, DType dtype, Axis n, Axis k) {
    return linear(x, model.weight(name, dtype, {n}, {k}));
}

class VulkanDotsOf : public testing::WithParamInterface<DType>, public VulkanDots {
  protected:
    int64_t block() const { return gguf::traits(GetParam()).block; }
};

TEST_P(VulkanDotsOf, LinearOfOddRows) {
    for (auto [rows, blocks] : {std::pair{1, 1}, {37, 3}, {70, 5}}) {
        SmallModel model;
        Axis k = model.axis("k", block() * blocks), n = model.axis("n", rows);
        model.finish(product(model, codes(model, {k}), "w", GetParam(), n, k));
        for (int tokens : {5, 67})
            expect_close(model, {random_step(0, 1), random_step(0, tokens)}, unrounded, in_int8);
    }
}

TEST_P(VulkanDotsOf, RoundedActivations) {
    SmallModel model;
    Axis k = model.axis("k", 2 * std::max<int64_t>(64, block())), n = model.axis("n", 24);
    model.finish(product(model, model.activation("x", {k}), "w", GetParam(), n, k));
    expect_close(model, {random_step(0, 1), random_step(0, 13)}, rounded, in_int8);
}

INSTANTIATE_TEST_SUITE_P(Types, VulkanDotsOf, testing::ValuesIn(types),
                         [](const auto& test) { return std::string(gguf::name(test.param)); });

// Enough rows and tokens for the largest tiles, and a step that leaves them unfinished.
TEST_F(VulkanDots, LargeTiles) {
    SmallModel model;
    Axis k = model.axis("k", 96), n = model.axis("n", 8191);
    model.finish(product(model, codes(model, {k}), "w", DType::Q5_1, n, k));
    expect_close(model, {random_step(0, 130), random_step(0, 12)}, unrounded, in_int8);
}

// What follows a product, for a few tokens and for many.
TEST_F(VulkanDots, Chains) {
    for (DType dtype : {DType::Q4_0, DType::Q4_K})
        for (int tokens : {3, 40}) {
            SmallModel model;
            Axis k = model.axis("k", 256), n = model.axis("n", 50);
            Tensor x = codes(model, {k});
            Tensor gate = product(model, x, "gate", dtype, n, k);
            Tensor up = product(model, x, "up", dtype, n, k);
            Tensor y = add(product(model, x, "w", dtype, n, k), model.activation("addend", {n}));
            Tensor bias = model.weight("bias", DType::F32, {}, {n});
            y = add(y, add(product(model, x, "v", dtype, n, k), bias));
            model.finish(add(glu(gate, up, "silu"), y));
            expect_close(model, {random_step(0, tokens), random_step(0, 1)}, unrounded, in_int8);
        }
}

// Heads that are batched, heads that are contracted, and heads that meet their own rows.
TEST_F(VulkanDots, ManyAxes) {
    for (int which : {0, 1, 2}) {
        SmallModel model;
        Axis heads = model.axis("heads", 3), d = model.axis("d", 64), n = model.axis("n", 9);
        Tensor x = codes(model, {heads, d});
        model.finish(linear(x, which == 0   ? model.weight("all", DType::Q4_1, {n}, {d})
                               : which == 1 ? model.weight("flat", DType::Q4_0, {n}, {heads, d})
                                            : model.weight("own", DType::Q8_0, {heads, n}, {d})));
        expect_close(model, {random_step(0, 1), random_step(0, 20)}, unrounded, in_int8);
    }
}

// Experts of a few tokens and of many: types in turn, with what changes their products and sums.
TEST_F(VulkanDots, Experts) {
    for (bool more : {false, true})
        for (auto [gate, down] : {std::pair{DType::Q4_K, DType::Q6_K},
                                  {DType::MXFP4, DType::MXFP4},
                                  {DType::Q8_0, DType::Q5_1}}) {
            SmallModel model;
            const int64_t block = gguf::traits(down).block;
            Axis embd = model.axis("embd", 256), ffn = model.axis("ffn", more ? 5 * block : block);
            Axis experts = model.axis("experts", 6), choices = model.axis("choices", 6);
            Tensor x = codes(model, {embd});
            Tensor scores = softmax(model.activation("scores", {choices}));
            Tensor ids = top_k(scores, model.axis("used", 3));
            graph::Experts all{.gate = model.weight("gate", gate, {experts, ffn}, {embd}, 0.1f),
                               .up = model.weight("up", gate, {experts, ffn}, {embd}, 0.1f),
                               .down = model.weight("down", down, {experts, embd}, {ffn}, 0.1f)};
            if (more) {
                all.down_scale = model.weight("down.scale", DType::F32, {choices}, {});
                all.gate_bias = model.weight("gate.bias", DType::F32, {experts, ffn}, {});
            }
            Tensor residual = model.activation("residual", {embd}), weights = take(scores, ids);
            Tensor bias = model.weight("bias", DType::F32, {choices, embd}, {});
            Tensor y = moe_ffn(x, ids, weights, all, "silu");
            if (more) y = add(residual, add(y, expert_bias(ids, weights, bias)));
            model.finish(y);
            for (int64_t tokens : {8, 12})
                EXPECT_EQ(test::chains(model, "moe_ffn_dots", tokens, in_int8),
                          std::vector<size_t>{more ? 4u : 1u});
            expect_close(
                model,
                {random_step(0, 1), random_step(0, 8), random_step(0, 12), random_step(0, 200)},
                rounded, in_int8);
        }
}

// Each of two devices has some of the experts of a token, or a part of all.
TEST_F(VulkanDots, DividedExperts) {
    for (int64_t length : {32, 64}) {
        SmallModel model;
        Axis embd = model.axis("embd", 64), ffn = model.axis("ffn", length);
        Axis experts = model.axis("experts", 7), choices = model.axis("choices", 7);
        Tensor ids = top_k(softmax(model.activation("scores", {choices})), model.axis("used", 3));
        Tensor weights = take(softmax(model.activation("weights", {choices})), ids);
        auto matrix = [&](const char* name, const Shape& rows, Axis columns) {
            return model.weight(name, DType::Q8_0, rows, {columns}, 0.1f);
        };
        model.finish(moe_ffn(codes(model, {embd}), ids, weights,
                             {.gate = matrix("gate", {experts, ffn}, embd),
                              .up = matrix("up", {experts, ffn}, embd),
                              .down = matrix("down", {experts, embd}, ffn)},
                             "silu"));
        test::expect_close_on_two(model, {random_step(0, 1), random_step(0, 8), random_step(0, 50)},
                                  rounded, kernels::Products::InDots);
    }
}

using Names = std::vector<std::string_view>;

// The kernels of a step of so many tokens.
Names names(const SmallModel& model, int64_t tokens) {
    Names all;
    for (const kernels::Launch& launch : test::launches(model, tokens, in_int8))
        all.push_back(launch.kernel->name);
    return all;
}

// Norms give blocks to products, and what is in f32 to others, if there are others.
TEST_F(VulkanDots, BlocksOfNorms) {
    for (bool others : {false, true})
        for (int64_t length : {32, 160, 2080, 8224}) {
            SmallModel model;
            Axis k = model.axis("k", length), n = model.axis("n", 12);
            Tensor norm = model.weight("norm", DType::F32, {}, {k});
            Tensor x = rms_norm(model.activation("x", {k}), norm, 1e-6);
            Tensor y = add(product(model, x, "a", DType::Q8_0, n, k),
                           product(model, x, "b", DType::Q4_0, n, k));
            if (others) y = add(y, product(model, x, "c", DType::F32, n, k));
            model.finish(y);
            for (int64_t tokens : {1, 40}) {
                const Names all = names(model, tokens);
                EXPECT_EQ(std::ranges::count(all, "quantize"), 0) << tokens;
                EXPECT_EQ(std::ranges::count(all, "norms"), 1) << tokens;
            }
            expect_close(model, {random_step(0, 1), random_step(0, 7), random_step(0, 40)}, rounded,
                         in_int8);
        }
}

// Rows of a norm that are no whole blocks become blocks by themselves.
TEST_F(VulkanDots, NormsOfOtherRows) {
    SmallModel model;
    Axis heads = model.axis("heads", 4), d = model.axis("d", 24), n = model.axis("n", 12);
    Tensor x = rms_norm(model.activation("x", {heads, d}), 1e-6);
    model.finish(linear(x, model.weight("w", DType::Q8_0, {n}, {heads, d})));
    EXPECT_EQ(names(model, 1), (Names{"embed", "norms", "quantize", "linear_dots"}));
    expect_close(model, {random_step(0, 1), random_step(0, 40)}, rounded, in_int8);
}

// Attention of few tokens gives blocks, whether its cache is read in parts or not.
TEST_F(VulkanDots, BlocksOfAttention) {
    for (int64_t length : {100, 2304})
        for (int64_t values : {32, 96}) {
            SmallModel model;
            const bool is_long = length > 1000;
            Axis kv = model.axis("kv_heads", is_long ? 4 : 2);
            Axis q_per_kv = model.axis("q_per_kv", is_long ? 8 : 3);
            Axis d = model.axis("d", 32), dv = model.axis("dv", values), n = model.axis("n", 12);
            Axis slots = model.axis("slots", 1), cells = model.axis("cells", length);
            Tensor x = attend(model.activation("q", {kv, q_per_kv, d}),
                              model.activation("k", {kv, d}), model.activation("v", {kv, dv}),
                              {model.graph.state("k", DType::F16, {slots, kv, cells}, {d}),
                               model.graph.state("v", DType::F16, {slots, kv, cells}, {dv})},
                              0.3);
            Tensor y = linear(x, model.weight("w", DType::Q8_0, {n}, {kv, q_per_kv, dv}));
            model.finish(y);
            for (auto [tokens, expected] : {std::pair{1, 0}, {8, 0}, {40, 1}}) {
                EXPECT_EQ(std::ranges::count(names(model, tokens), "quantize"), expected) << tokens;
            }
            // Enough for several parts at work, where there are some.
            const int64_t before = is_long ? 600 : 40;
            expect_close(
                model, {random_step(0, before), random_step(before, 1), random_step(before + 1, 7)},
                rounded, in_int8);
        }
}

// Products of few tokens give blocks of whole rows of theirs, and what is in f32 to others, if
// there are others.
TEST_F(VulkanDots, BlocksOfProducts) {
    for (bool others : {false, true})
        for (int64_t rows : {32, 96, 1024}) {
            SmallModel model;
            Axis k = model.axis("k", 256), ffn = model.axis("ffn", rows), n = model.axis("n", 12);
            Tensor x = codes(model, {k});
            Tensor unit = glu(product(model, x, "gate", DType::Q4_K, ffn, k),
                              product(model, x, "up", DType::Q4_K, ffn, k), "silu");
            Tensor sum = add(product(model, x, "w", DType::Q8_0, ffn, k),
                             model.weight("bias", DType::F32, {ffn}, {}));
            Tensor y = add(product(model, unit, "a", DType::Q8_0, n, ffn),
                           product(model, sum, "b", DType::Q4_0, n, ffn));
            Tensor moved = add(product(model, x, "v", DType::Q8_0, ffn, k), sum);
            y = add(y, product(model, moved, "d", DType::Q8_0, n, ffn));
            if (others) y = add(y, product(model, unit, "c", DType::F32, n, ffn));
            model.finish(y);
            // x becomes blocks by itself.
            for (auto [tokens, expected] : {std::pair{1, 1}, {8, 1}, {40, 4}})
                EXPECT_EQ(std::ranges::count(names(model, tokens), "quantize"), expected) << tokens;
            expect_close(model, {random_step(0, 1), random_step(0, 7), random_step(0, 40)}, rounded,
                         in_int8);
        }
}

// A table with rows that lie apart, as codes and in f32.
TEST_F(VulkanDots, TypesBesideEachOther) {
    SmallModel model;
    Axis parts = model.axis("parts", 2), k = model.axis("k", 96), n = model.axis("n", 20);
    Tensor x = pick(codes(model, {parts, k}), parts, 1);
    Tensor y =
        add(product(model, x, "a", DType::F16, n, k), product(model, x, "b", DType::Q5_0, n, k));
    model.finish(y);
    expect_close(model, {random_step(0, 1), random_step(0, 11)}, unrounded, in_int8);
}

// A value that is no number spoils the results that depend on it, visibly.
TEST_F(VulkanDots, KeepNaN) {
    SmallModel model;
    Axis k = model.axis("k", 64), n = model.axis("n", 3);
    Tensor x = scale(codes(model, {k}), std::numeric_limits<float>::quiet_NaN());
    model.finish(product(model, x, "w", DType::Q8_0, n, k));
    for (float value : model.run(kernels::make_vulkan_device(in_int8), {random_step(0, 2)}))
        EXPECT_TRUE(std::isnan(value));
}

// No cut changes a code: two devices differ from one by the order of their sums alone.
TEST_F(VulkanDots, SplitInvariance) {
    SmallModel model;
    Axis k = model.axis("k", 512), ffn = model.axis("ffn", 1024), n = model.axis("n", 64);
    Tensor x = model.activation("x", {k});
    Tensor h = glu(product(model, x, "gate", DType::Q4_K, ffn, k),
                   product(model, x, "up", DType::Q4_K, ffn, k), "silu");
    model.finish(product(model, h, "down", DType::Q6_K, n, ffn));
    for (int tokens : {1, 5, 30}) {
        const std::vector<graph::StepInputs> steps{random_step(0, tokens)};
        std::vector<std::unique_ptr<kernels::Device>> pair;
        for (int i = 0; i < 2; ++i)
            pair.push_back(kernels::make_vulkan_device(
                {.name = "vulkan0", .sharers = 2, .products = kernels::Products::InDots}));
        auto whole = model.run(kernels::make_vulkan_device(in_int8), steps);
        EXPECT_LE(test::nmse(model.run(std::move(pair), "tensor", steps), whole), 1e-10);
    }
}

// Devices that round differently say so.
TEST_F(VulkanDots, Rounding) {
    auto plain = kernels::make_vulkan_device(test::in_floats);
    auto dots = kernels::make_vulkan_device(in_int8);
    EXPECT_NE(plain->description().rounding, dots->description().rounding);
}

}  // namespace
}  // namespace tandem
