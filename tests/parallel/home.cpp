// Weights that leave the devices of the split mode.
#include "parallel/home.h"

#include <gtest/gtest.h>

#include "gguf/error.h"
#include "parallel/plan.h"
#include "planned.h"

namespace tandem::parallel {
namespace {

using test::equal_devices;
using test::fixture_graph;
using test::plan_fixture;
using test::Planned;

// A home of the last of some devices, which is for this alone.
PlanOptions moving(const std::string& pattern, int home, const std::string& mode = "layer") {
    return {.mode = mode,
            .homes = {{.pattern = pattern, .group = {home}, .asked_by = "-ot " + pattern}},
            .home_devices = 1};
}

const Placement& anchor(const Planned& planned, const std::string& name) {
    for (size_t i = 0; i < planned.graph->values().size(); ++i)
        if (planned.graph->value(int(i)).name == name) return planned.plan.anchors[i];
    throw std::runtime_error("no value " + name);
}

Group holders(const Planned& planned, const std::string& name) {
    return anchor(planned, name).group;
}

std::string error_of(const std::string& model, const PlanOptions& options) {
    try {
        plan_fixture(model, equal_devices(2), options);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST(Homes, one_weight_takes_its_part_along) {
    const Planned planned =
        plan_fixture("llama-yarn-bf16", equal_devices(2), moving("blk.2.ffn_up", 1));
    for (const char* name : {"blk.2.ffn_gate", "blk.2.ffn_up", "blk.2.ffn_down"})
        EXPECT_EQ(holders(planned, name), Group{1}) << name;
    for (const char* name : {"blk.1.ffn_up", "blk.3.ffn_up", "blk.2.attn_q", "blk.2.ffn_norm"})
        EXPECT_EQ(holders(planned, name), Group{0}) << name;
}

// The input goes there, and what is made of it comes back; the residual stream stays.
TEST(Homes, cost_two_messages) {
    const Planned planned =
        plan_fixture("llama-yarn-bf16", equal_devices(2), moving("blk.[12].ffn", 1));
    const auto lines = test::exchanges(planned.placed);
    EXPECT_EQ(test::count(lines, "send {0} -> {1}"), 2u);
    EXPECT_EQ(test::count(lines, "send {1} -> {0}"), 2u);
    EXPECT_EQ(lines.size(), 5u);  // and the logits
}

// What the cut passes on its way has to be there, too: here norms of heads.
TEST(Homes, have_what_their_parts_pass) {
    const Planned planned =
        plan_fixture("qwen3-bf16", equal_devices(2), moving("blk.1.attn_v", 1, "tensor"));
    EXPECT_EQ(holders(planned, "blk.1.attn_q"), Group{1});
    EXPECT_EQ(holders(planned, "blk.1.k_cache"), Group{1});
    EXPECT_TRUE(contains(holders(planned, "blk.1.attn_q_norm"), 1));
    EXPECT_EQ(holders(planned, "blk.1.attn_norm"), Group{0});
}

TEST(Homes, of_several_devices_are_shared_equally) {
    PlanOptions options = moving("blk.0.ffn", 1);
    options.homes[0].group = {1, 2};
    options.home_devices = 2;
    const Planned planned = plan_fixture("llama-yarn-bf16", equal_devices(3), options);
    const Placement& up = anchor(planned, "blk.0.ffn_up");
    ASSERT_NE(up.partition, nullptr);
    const int64_t all = up.partition->axis->extent;
    EXPECT_EQ(up.partition->bounds, (std::vector<int64_t>{0, all / 2, all}));
}

TEST(Homes, the_first_that_names_a_weight_counts) {
    PlanOptions options = moving("blk.0.ffn", 1);
    options.homes.push_back({.pattern = "ffn", .group = {2}});
    options.home_devices = 2;
    const Planned planned = plan_fixture("llama-yarn-bf16", equal_devices(3), options);
    EXPECT_EQ(holders(planned, "blk.0.ffn_up"), Group{1});
    EXPECT_EQ(holders(planned, "blk.1.ffn_up"), Group{2});
}

TEST(Homes, may_be_of_the_first_blocks_alone) {
    PlanOptions options = moving("_exps\\.", 1);
    options.homes[0].blocks = 2;
    const Planned planned = plan_fixture("qwen3moe", equal_devices(2), options);
    EXPECT_EQ(holders(planned, "blk.1.ffn_up_exps"), Group{1});
    EXPECT_EQ(holders(planned, "blk.2.ffn_up_exps"), Group{0});
    EXPECT_EQ(holders(planned, "blk.1.ffn_gate_inp"), Group{0});
}

// Where a part is at home already nothing is cut, so that nothing has to be put together again.
TEST(Homes, where_the_layer_is_change_nothing) {
    PlanOptions options = moving("ffn", 0);
    options.home_devices = 0;
    options.ratio = {1, 1};
    const Planned planned = plan_fixture("llama-yarn-bf16", equal_devices(2), options);
    EXPECT_EQ(anchor(planned, "blk.0.ffn_up"), Placement::replicated({0}));
    EXPECT_EQ(holders(planned, "blk.3.attn_q"), Group{1});
    EXPECT_EQ(holders(planned, "blk.3.ffn_up"), Group{0});
}

// Devices that are only homes have no share, and -ts and -mg do not count them.
TEST(Homes, of_their_own_have_no_share) {
    for (const char* mode : {"layer", "tensor", "graph"}) {
        PlanOptions options = moving("blk.0.ffn", 2, mode);
        for (const std::vector<double>& ratio : {std::vector<double>{}, {3, 1}}) {
            options.ratio = ratio;
            const Planned planned = plan_fixture("llama-yarn-bf16", equal_devices(3), options);
            for (const Group& group : planned.plan.groups) EXPECT_FALSE(contains(group, 2)) << mode;
        }
    }
    PlanOptions options = moving("blk.0.ffn", 1);
    options.ratio = {1, 1};
    EXPECT_EQ(
        error_of("llama-yarn-bf16", options),
        "-ts takes one share for each device, 1 in all, not 2 (those that only -ot or -cmoe name "
        "do not count)");
    options = moving("blk.0.ffn", 1, "none");
    options.main_device = 1;
    EXPECT_EQ(error_of("llama-yarn-bf16", options),
              "-mg 1: there is 1 device, counted from 0 (those that only -ot or -cmoe name do not "
              "count)");
}

// A device that is full of what has its home there gets no layers.
TEST(Homes, take_room_from_layers) {
    PlanOptions options = moving("blk.[0-3].ffn", 1);
    options.home_devices = 0;
    DeviceTable table = equal_devices(2);
    const auto graph = fixture_graph("llama-yarn-bf16");
    const Plan far = make_plan(*graph, table, options);
    const int64_t moved = weight_bytes(*graph, far, table)[1];
    table.devices[1].free_bytes = moved;
    const Plan plan = make_plan(*graph, table, options);
    for (const Group& group : plan.groups) EXPECT_EQ(group, Group{0});
    EXPECT_LE(weight_bytes(*graph, plan, table)[1], moved);
}

// Its rotary part has no head to be cut by, and yet is a part of it.
TEST(Homes, have_caches_that_nothing_divides) {
    const auto sum = [](const PlanOptions& options) {
        const Planned planned = plan_fixture("deepseek2-lite", equal_devices(2), options);
        return state_bytes(*planned.graph, planned.plan, planned.table);
    };
    const std::vector<int64_t> before = sum({}), after = sum(moving("attn", 1));
    EXPECT_GT(before[0], 0);
    EXPECT_EQ(after, (std::vector<int64_t>{0, before[0] + before[1]}));
}

// Layers that read a table or a cache together are on one device, unless that has left them.
TEST(Homes, set_layers_free) {
    PlanOptions options = moving("token_embd", 3);
    options.ratio = {1, 1, 1};
    Planned planned = plan_fixture("gemma3", equal_devices(4), options);
    EXPECT_EQ(planned.plan.groups.back(), Group{2});
    options.homes[0].pattern = "attn";
    planned = plan_fixture("gemma4-dense", equal_devices(4), options);
    EXPECT_EQ(planned.plan.groups[size_t(planned.graph->layers())], Group{2});
    options = {.ratio = {1, 1, 1}};
    planned = plan_fixture("gemma4-dense", equal_devices(3), options);
    EXPECT_NE(planned.plan.groups[size_t(planned.graph->layers())], Group{2});
}

TEST(Homes, that_have_nothing_are_told) {
    PlanOptions options = moving("ffn_up", 1);
    options.homes.push_back({.pattern = "ffn_down", .group = {2}, .asked_by = "-ot ffn_down=c"});
    options.homes.push_back(
        {.pattern = "exps", .group = {2}, .optional = true, .asked_by = "-cmoe"});
    options.home_devices = 2;
    const Planned planned = plan_fixture("llama-yarn-bf16", equal_devices(3), options);
    EXPECT_EQ(planned.plan.idle,
              (std::vector<std::string>{
                  "-ot ffn_down=c moves nothing: another home before it has all that is cut with "
                  "what it names",
                  "-cmoe moves nothing: no weight has that name there"}));
}

TEST(Homes, need_something_to_move) {
    EXPECT_EQ(
        error_of("llama-yarn-bf16", moving("exps", 1)),
        "-ot exps: no weight that is computed with has \"exps\" in its name; tandem inspect shows "
        "the names");
    EXPECT_EQ(error_of("llama-yarn-bf16", moving("ffn_norm", 1)),
              "-ot ffn_norm: blk.0.ffn_norm.weight stays with its layer, and so do all weights of "
              "that name: only what can be cut has a home of its own");
    EXPECT_EQ(error_of("llama-yarn-bf16", moving("(", 1)),
              "-ot (: \"(\" cannot be used as a regular expression");
    PlanOptions options = moving("exps", 1);
    options.homes[0].optional = true;
    EXPECT_EQ(error_of("llama-yarn-bf16", options), "no error");
}

}  // namespace
}  // namespace tandem::parallel
