// Products that take an addition or a gated unit into their launch on Vulkan devices, and those
// that must not.
#include <algorithm>

#include "kernels/vulkan_case.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Shape;
using graph::Tensor;
using test::random_step;
using test::SmallModel;
using Sizes = std::vector<size_t>;

// Ends the model and holds it to the reference, few tokens and many.
void expect_chains(SmallModel& model, Tensor y, const Sizes& expected) {
    model.finish(y);
    for (int64_t tokens : {1, 8, 40})
        EXPECT_EQ(test::chains(model, "linear", tokens), expected) << tokens;
    test::expect_close(model, {random_step(0, 1), random_step(0, 7), random_step(0, 40)}, 1e-11);
}

// A model with a few axes, and products over them.
class VulkanChains : public test::Vulkan {
  protected:
    Tensor product(const std::string& name, DType dtype = DType::F32) {
        return linear(x, model.weight(name, dtype, {heads, d}, {k}, 0.1f));
    }
    // Of each head with its own matrix.
    Tensor batched(const std::string& name) {
        return linear(of_heads, model.weight(name, DType::F32, {heads, d}, {k}, 0.1f));
    }

    SmallModel model;
    Axis k = model.axis("k", 64), heads = model.axis("heads", 3), d = model.axis("d", 7);
    Tensor x = model.activation("x", {k}), of_heads = model.activation("of_heads", {heads, k});
    Tensor other = model.activation("other", {heads, d});
    Tensor bias = model.weight("bias", DType::F32, {heads, d}, {});
};

TEST_F(VulkanChains, AddendsThatLieAsResults) {
    Tensor y = add(product("a"), other);
    y = add(y, add(other, product("b", DType::Q4_0)));
    expect_chains(model, add(y, add(batched("c"), other)), {2, 2, 2});
}

TEST_F(VulkanChains, AddendsOfRows) {
    Tensor y = add(add(product("a"), bias), add(product("b", DType::Q8_0), bias));
    expect_chains(model, add(y, add(batched("c"), bias)), {2, 3, 3});
}

// A product takes two, if the first is of its rows.
TEST_F(VulkanChains, TwoAdditions) {
    Tensor y = add(other, add(product("a"), bias));
    y = add(y, add(add(product("b", DType::Q4_0), bias), other));
    y = add(y, add(add(product("c"), other), bias));
    expect_chains(model, add(y, add(add(batched("e"), bias), other)), {3, 3, 2, 3});
}

// The gate may be the first product or the second.
TEST_F(VulkanChains, GatedUnits) {
    Tensor y = other;
    for (const char* unit : {"silu", "gelu"}) {
        const std::string name = unit;
        Tensor first = product(name + "1", DType::Q5_0), second = product(name + "2", DType::Q5_0);
        y = add(y, glu(first, second, unit));
        first = product(name + "3"), second = product(name + "4");
        y = add(y, glu(second, first, unit));
    }
    Tensor first = batched("b1"), second = batched("b2");
    expect_chains(model, add(y, glu(first, second, "silu")), {3, 3, 3, 3, 3});
}

TEST_F(VulkanChains, OtherReadersOfProducts) {
    Tensor a = product("a"), sum = add(a, other);
    Tensor gate = product("gate"), up = product("up"), unit = glu(gate, up, "silu");
    expect_chains(model, add(add(sum, unit), add(a, up)), {1, 1, 1});
}

TEST_F(VulkanChains, ProductsAddedToThemselves) {
    Tensor a = product("a");
    expect_chains(model, add(a, a), {1});
}

TEST_F(VulkanChains, AddendsOfOtherAxes) {
    Tensor y = add(product("a"), model.weight("of_d", DType::F32, {d}, {}));
    y = add(y, add(product("b"), model.weight("of_heads", DType::F32, {heads}, {})));
    y = add(y, add(product("c"), model.activation("per_token", {d})));
    y = add(y, add(product("e"), model.activation("per_head", {heads})));
    expect_chains(model, y, {1, 1, 1, 1});
}

// A device has some heads of the product, and finds those of the addend in a value of all heads.
TEST_F(VulkanChains, AddendsThatLieApart) {
    Axis kv = model.axis("kv_heads", 5);
    Tensor norm = model.weight("norm", DType::F32, {kv, d}, {});
    Tensor all = rms_norm(model.activation("all", {kv, d}), norm, 1e-6);
    Tensor y = linear(x, model.weight("w", DType::F32, {kv, d}, {k}));
    model.finish(add(y, all));
    test::expect_close_on_two(model, {random_step(0, 1), random_step(0, 7), random_step(0, 40)},
                              1e-11);
}

TEST_F(VulkanChains, ProductsThatDiffer) {
    Tensor y = glu(product("a", DType::Q8_0), product("b", DType::Q4_0), "silu");
    Tensor e = linear(model.activation("z", {k}), model.weight("e", DType::F32, {heads, d}, {k}));
    expect_chains(model, add(y, glu(product("c"), e, "silu")), {1, 1, 1, 1});
}

// Rows of several tokens and heads that all meet the same matrix.
TEST_F(VulkanChains, ProductsOfManyAxes) {
    Axis n = model.axis("n", 5);
    auto every = [&](const std::string& name) {
        return linear(of_heads, model.weight(name, DType::F32, {n}, {k}, 0.1f));
    };
    Tensor y = add(every("a"), model.activation("like", {heads, n}));
    y = add(y, add(every("b"), model.weight("row", DType::F32, {n}, {})));
    Tensor gate = every("gate"), up = every("up");
    expect_chains(model, add(y, glu(gate, up, "gelu")), {2, 3, 3});
}

// Memory that the first chain is done with is not given to the second, which would have to wait.
TEST_F(VulkanChains, ChainsSideBySide) {
    Axis n = model.axis("n", 48);
    auto chain = [&](const std::string& name) {
        Tensor first = linear(x, model.weight(name + "1", DType::F32, {n}, {k}, 0.1f));
        Tensor second = linear(first, model.weight(name + "2", DType::F32, {k}, {n}, 0.1f));
        return linear(second, model.weight(name + "3", DType::F32, {n}, {k}, 0.1f));
    };
    const Tensor one = chain("one"), other_one = chain("other");
    model.finish(add(one, other_one));
    std::vector<int64_t> offsets;
    for (const kernels::Launch& launch : test::launches(model, 1))
        if (launch.operations.back().output.where == kernels::Where::Arena)
            offsets.push_back(launch.operations.back().output.offset);
    EXPECT_GE(offsets.size(), 8u);
    std::ranges::sort(offsets);
    EXPECT_EQ(std::ranges::adjacent_find(offsets), offsets.end()) << "memory is used twice";
    test::expect_close(model, {random_step(0, 1), random_step(0, 40)}, 1e-10);
}

}  // namespace
}  // namespace tandem
