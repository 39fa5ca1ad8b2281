// Norms and rotations of heads that Vulkan devices leave to attention's launch, and those that they
// must not.
#include "graph/rope.h"
#include "kernels/vulkan_case.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Shape;
using graph::Tensor;
using test::SmallModel;
using test::step_of;

const std::vector<graph::StepInputs> steps = {step_of({{0, 0, 40}}), step_of({{0, 40, 1}}),
                                              step_of({{2, 0, 1}, {0, 41, 5}, {1, 0, 2}}),
                                              step_of({{0, 46, 1}, {1, 2, 30}})};

struct Case {
    int64_t d = 32, dims = d;
    bool halves = true, normed = true, weighted = true, turned = true;
    DType cache = DType::F16;
};

class VulkanHeads : public test::Vulkan {
  protected:
    Tensor on_its_way(Tensor x, const std::string& name, const Case& how) {
        if (how.normed)
            x = how.weighted ? rms_norm(x, model.weight(name + ".norm", DType::F32, {}, {d}), 1e-6)
                             : rms_norm(x, 1e-6);
        return how.turned ? turned(x, int(how.dims), how.halves) : x;
    }
    Tensor turned(Tensor x, int dims, bool halves = true) {
        return rope(x, model.graph.input("positions"),
                    {.dims = dims, .base = 100, .halves = halves, .magnitude = 1.1});
    }
    graph::Cache caches(DType dtype) {
        return {model.graph.state("k_cache", dtype, {slots, kv, cells}, {d}),
                model.graph.state("v_cache", dtype, {slots, kv, cells}, {d})};
    }
    // Queries, keys and values as products would leave them, one after another.
    void begin(int64_t length) {
        d = model.axis("d", length);
        q = model.activation("q", {kv, q_per_kv, d});
        k = model.activation("k", {kv, d});
        v = model.activation("v", {kv, d});
    }

    std::vector<size_t> chains(int64_t tokens) const {
        return test::chains(model, "attend", tokens);
    }
    void expect_chain(Tensor y, size_t length) {
        model.finish(y);
        for (int64_t tokens : {1, 40}) EXPECT_EQ(chains(tokens), std::vector{length}) << tokens;
        test::expect_close(model, steps, 1e-10);
    }

    SmallModel model;
    Axis kv = model.axis("kv_heads", 2), q_per_kv = model.axis("q_per_kv", 3), d = nullptr;
    Axis slots = model.axis("slots", 3), cells = model.axis("cells", 96);
    Tensor q, k, v;
};

class VulkanHeadsOf : public VulkanHeads, public testing::WithParamInterface<Case> {};

TEST_P(VulkanHeadsOf, NormedAndTurned) {
    const Case& how = GetParam();
    begin(how.d);
    q = on_its_way(q, "q", how);
    k = on_its_way(k, "k", how);
    expect_chain(attend(q, k, v, caches(how.cache), 0.3), 1 + 2 * (how.normed + how.turned));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, VulkanHeadsOf,
    testing::Values(Case{}, Case{.cache = DType::Q8_0}, Case{.halves = false, .cache = DType::BF16},
                    Case{.d = 80, .dims = 24, .weighted = false, .cache = DType::F32},
                    Case{.d = 18, .dims = 10, .halves = false, .cache = DType::F16},
                    Case{.d = 256, .normed = false, .cache = DType::Q8_0},
                    Case{.d = 64, .dims = 32, .cache = DType::Q4_0},
                    Case{.d = 33, .dims = 4, .normed = false}, Case{.d = 64, .turned = false}),
    [](const auto& test) { return "n" + std::to_string(test.index); });

// Values have a norm without a weight, and queries of another layer read what is in the caches.
TEST_F(VulkanHeads, NormedValuesAndQueriesAlone) {
    begin(32);
    v = rms_norm(v, 1e-6);
    q = turned(q, 32);
    k = turned(k, 32);
    const graph::Cache cache = caches(DType::F16);
    Tensor first = attend(q, k, v, cache, 0.3);
    model.finish(attend(turned(first, 16), {}, {}, cache, 0.2));
    for (int64_t tokens : {1, 40}) EXPECT_EQ(chains(tokens), (std::vector<size_t>{4, 2}));
    test::expect_close(model, steps, 1e-10);
}

// The rotary part of latent attention.
TEST_F(VulkanHeads, SecondPairs) {
    d = model.axis("d", 96);
    Axis one = model.axis("one_head", 1), heads = model.axis("heads", 6);
    Axis rotary = model.axis("rotary", 20);
    Tensor rows = model.graph.state("rows", DType::F16, {slots, one, cells}, {d});
    q = model.activation("q", {one, heads, d}, 0.3f);
    Tensor c = model.activation("c", {one, d});
    Tensor q2 = model.activation("q2", {one, heads, rotary});
    Tensor k2 = model.activation("k2", {rotary});
    c = rms_norm(c, model.weight("c.norm", DType::F32, {}, {d}), 1e-6);
    k2 = turned(k2, 20, false);
    q2 = turned(q2, 20, false);
    Tensor second = model.graph.state("k2_cache", DType::F16, {slots, cells}, {rotary});
    expect_chain(attend(q, c, {}, {rows, rows}, 0.3, {.q = q2, .k = k2, .cache = second}), 4);
}

TEST_F(VulkanHeads, OtherReadersOfQueries) {
    begin(32);
    q = turned(q, 32);
    k = turned(k, 32);
    // Only what stands behind the queries' own rotation.
    expect_chain(add(attend(q, k, v, caches(DType::F16), 0.3), q), 2);
}

// Norms over all heads together, and a rotation of what is turned already.
TEST_F(VulkanHeads, OtherNorms) {
    begin(32);
    k = rms_norm(k, model.weight("norm", DType::F32, {}, {kv, d}), 1e-6);
    q = turned(turned(q, 32), 16);
    expect_chain(attend(q, k, v, caches(DType::F16), 0.3), 2);
}

// Devices that have some of the heads, which lie apart in values of all heads.
TEST_F(VulkanHeads, OperandsThatLieApart) {
    d = model.axis("d", 20);
    Axis many = model.axis("heads", 5);
    auto whole = [&](const std::string& name, const Shape& axes) {
        Tensor norm = model.weight(name + ".norm", DType::F32, axes, {});
        return turned(rms_norm(model.activation(name, axes), norm, 1e-6), 20);
    };
    graph::Cache cache{model.graph.state("k_cache", DType::F16, {slots, many, cells}, {d}),
                       model.graph.state("v_cache", DType::F32, {slots, many, cells}, {d})};
    model.finish(attend(whole("q", {many, q_per_kv, d}), whole("k", {many, d}),
                        whole("v", {many, d}), cache, 0.3));
    test::expect_close_on_two(model, steps, 1e-10);
}

}  // namespace
}  // namespace tandem
