// Attention to a cache that another node writes, of the wanted rows alone: as if of all tokens.
#include <gtest/gtest.h>

#include "graph/rope.h"
#include "kernels/cpu_case.h"
#include "kernels/vulkan_case.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Tensor;
using test::random_step;
using test::SmallModel;
using Steps = std::vector<graph::StepInputs>;

struct Case {
    int64_t cells = 700, window = 0;
    bool sinks = false, second = false;  // a second pair of queries and keys
};
constexpr Case cases[] = {{}, {.cells = 400, .window = 50, .sinks = true}, {.second = true}};

Tensor build(SmallModel& model, const Case& how) {
    Axis kv = model.axis("kv_heads", 2), q_per_kv = model.axis("q_per_kv", 3);
    Axis d = model.axis("d", 32), slots = model.axis("slots", 3);
    Axis cells = model.axis("cells", how.cells);
    auto queries = [&](const std::string& name) {
        return rope(model.activation(name, {kv, q_per_kv, d}), model.graph.input("positions"),
                    graph::Rope{.dims = 32});
    };
    auto state = [&](const std::string& name) {
        return model.graph.state(name, DType::F16, {slots, kv, cells}, {d});
    };
    auto keys = [&](const std::string& name) { return model.activation(name, {kv, d}); };
    graph::Cache cache{state("k_cache"), state("v_cache")};
    graph::Attention of_writer{.window = how.window}, of_reader = of_writer;
    if (how.sinks) of_reader.sinks = model.weight("sinks", DType::F32, {kv, q_per_kv}, {});
    if (how.second) {
        Axis all = model.axis("all_cells", how.cells);
        Tensor rotary = model.graph.state("rotary", DType::F16, {slots, all}, {d});
        of_writer.q = queries("q2");
        of_writer.k = model.activation("k2", {d});
        of_writer.cache = rotary;
    }
    Tensor mixed = attend(queries("q"), keys("k"), keys("v"), cache, 0.2, of_writer);
    return add(mixed, attend(queries("other"), {}, {}, cache, 0.2, of_reader));
}

// Prompts of several sequences, of which some, all or the last tokens are wanted, and what follows.
Steps steps() {
    Steps all{random_step(0, 301), random_step(301, 89), test::step_of({{1, 0, 40}, {2, 0, 1}}),
              test::step_of({{0, 390, 1}, {1, 40, 1}, {2, 1, 1}}), random_step(391, 5)};
    all[0].rows = {300};
    std::erase_if(all[1].rows, [](int32_t row) { return row % 7 == 3; });
    all[2].rows = {0, 3, 39, 40};
    all[3].rows = {0, 2};
    return all;
}

TEST(CacheReaders, RunOverRows) {
    for (const Case& how : cases) {
        SmallModel model;
        model.finish_in_head(build(model, how));
        int moved = 0;
        for (size_t i = model.graph.head_begin(); i < model.graph.nodes().size(); ++i)
            moved += model.graph.nodes()[i].op->name == "attend";
        EXPECT_EQ(moved, 1);
    }
}

TEST(CacheReaders, GiveWhatTheyGiveOfAllTokens) {
    for (const Case& how : cases) {
        SmallModel model, in_body;
        model.finish_in_head(build(model, how));
        in_body.finish(build(in_body, how));
        auto reference = [] { return std::make_unique<kernels::ReferenceDevice>("reference", 0); };
        EXPECT_EQ(model.run(reference(), steps()), in_body.run(reference(), steps()));
        test::expect_close(model, steps(), 1e-10, test::attention_bound_of(DType::F16, DType::F16));
    }
}

class VulkanCacheReaders : public test::Vulkan {};

TEST_F(VulkanCacheReaders, GiveWhatTheyGiveOfAllTokens) {
    for (const Case& how : cases) {
        SmallModel model;
        model.finish_in_head(build(model, how));
        test::expect_close(model, steps(), 1e-10, test::in_floats);
        test::expect_close_on_two(model, steps(), 1e-10);
    }
}

}  // namespace
}  // namespace tandem
