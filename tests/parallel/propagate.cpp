// What falls out of the pass, with no special code: on the graphs of real files.
#include "parallel/propagate.h"

#include <gtest/gtest.h>

#include "graph/ops.h"
#include "parallel/project.h"
#include "planned.h"

namespace tandem::parallel {
namespace {

using test::count;
using test::equal_devices;
using test::exchanges;
using test::plan_fixture;
using test::Planned;
using Lines = std::vector<std::string>;

const char* const dense[] = {"llama-rope-factors", "llama-yarn-bf16", "qwen3-bf16", "llama-q-q4_0"};
const char* const mixtures[] = {"llama-moe", "qwen3moe"};

const graph::Node& node_of(const Placed& placed, const Compute& compute) {
    return placed.graph->nodes()[size_t(compute.node)];
}

// The op that made the value of a transfer.
std::string_view maker(const Placed& placed, const Transfer& transfer) {
    const Instance& from = placed.instances[size_t(transfer.from)];
    return placed.graph->nodes()[size_t(placed.graph->value(from.value).node)].op->name;
}

template <typename Visit>
void each_exchange(const Placed& placed, Visit visit) {
    for (const auto& step : placed.steps)
        if (auto* exchange = std::get_if<Exchange>(&step)) visit(*exchange);
}

TEST(Propagate, one_device_exchanges_nothing) {
    for (std::string mode : {"none", "layer", "tensor", "graph"})
        for (const char* name : {"llama-rope-factors", "qwen3moe", "llama-q-q4_k_m"}) {
            Planned planned = plan_fixture(name, equal_devices(1), {.mode = mode});
            Lines lines = exchanges(planned.placed);
            ASSERT_EQ(lines.size(), 1u) << name << " " << mode;
            EXPECT_EQ(count(lines, "fetch {0} -> host"), 1u);
        }
}

TEST(Propagate, none_uses_the_main_device) {
    Planned planned =
        plan_fixture("llama-rope-factors", equal_devices(3), {.mode = "none", .main_device = 2});
    ASSERT_EQ(exchanges(planned.placed).size(), 1u);
    EXPECT_EQ(count(exchanges(planned.placed), "fetch {2} -> host"), 1u);
}

// Two per layer, one for the embedding; the logits are fetched where they are.
TEST(Propagate, two_all_reduces_per_layer) {
    for (const char* name : dense)
        for (size_t devices : {2, 3, 4}) {
            Planned planned = plan_fixture(name, equal_devices(devices), {.mode = "tensor"});
            Lines lines = exchanges(planned.placed);
            size_t layers = size_t(planned.graph->layers());
            EXPECT_EQ(count(lines, "all_reduce "), 2 * layers + 1) << name;
            EXPECT_EQ(count(lines, "fetch "), 1u) << name;
            EXPECT_EQ(lines.size(), 2 * layers + 2) << name;
        }
}

// A mixture's partial sums flow through the weighting: one reduce of [tokens embd], of
// [rows embd] in the head.
TEST(Propagate, a_mixture_is_reduced_once) {
    for (const char* name : mixtures) {
        Planned planned = plan_fixture(name, equal_devices(2), {.mode = "tensor"});
        const Placed& placed = planned.placed;
        EXPECT_EQ(count(exchanges(placed), "all_reduce "), 2 * size_t(planned.graph->layers()) + 1);
        size_t reduced = 0;
        each_exchange(placed, [&](const Exchange& exchange) {
            if (exchange.kind != Exchange::Kind::Sum) return;
            ASSERT_EQ(exchange.transfers.size(), 1u);
            const Instance& from = placed.instances[size_t(exchange.transfers[0].from)];
            const graph::Value& sum = planned.graph->value(from.value);
            const bool in_head = sum.node >= int(planned.graph->head_begin());
            EXPECT_EQ(to_string(sum.shape), in_head ? "[rows embd]" : "[tokens embd]");
            reduced += maker(placed, exchange.transfers[0]) == "moe_ffn";
        });
        EXPECT_EQ(reduced, size_t(planned.graph->layers()));
    }
}

// The branches are reduced; what they are added to stays where it is.
TEST(Propagate, the_residual_never_crosses_the_wire) {
    for (const char* name : {"llama-rope-factors", "qwen3-bf16", "llama-moe", "qwen3moe"}) {
        Planned planned = plan_fixture(name, equal_devices(3), {.mode = "tensor"});
        each_exchange(planned.placed, [&](const Exchange& exchange) {
            if (exchange.to_host) return;
            for (const Transfer& transfer : exchange.transfers) {
                EXPECT_NE(maker(planned.placed, transfer), "add") << name;
                EXPECT_NE(maker(planned.placed, transfer), "rms_norm") << name;
            }
        });
    }
}

TEST(Propagate, one_send_per_boundary) {
    // Four blocks, so that three devices get 1, 2 and 1 of them; an untied head stays on the last.
    Planned planned = plan_fixture("llama-yarn-bf16", equal_devices(3), {.mode = "layer"});
    Lines lines = exchanges(planned.placed);
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(count(lines, "send {0} -> {1}"), 1u);
    EXPECT_EQ(count(lines, "send {1} -> {2}"), 1u);
    EXPECT_EQ(count(lines, "fetch {2}"), 1u);
}

// A tied table is held once: the wanted rows go back to where the embedding is.
TEST(Propagate, a_tied_head_stays_with_the_embedding) {
    Planned planned = plan_fixture("qwen3-bf16", equal_devices(2), {.mode = "layer"});
    const Placed& placed = planned.placed;
    Lines lines = exchanges(placed);
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(count(lines, "send {0} -> {1}"), 1u);
    EXPECT_EQ(count(lines, "send {1} -> {0}"), 1u);
    EXPECT_EQ(count(lines, "fetch {0}"), 1u);
    each_exchange(placed, [&](const Exchange& exchange) {
        if (exchange.sources == Group{1}) {
            const int sent = placed.instances[size_t(exchange.transfers[0].from)].value;
            EXPECT_EQ(placed.graph->value(sent).shape[0], placed.graph->rows());
        }
    });
}

TEST(Propagate, layers_follow_the_ratio) {
    Planned planned =
        plan_fixture("llama-yarn-bf16", equal_devices(3), {.mode = "layer", .ratio = {3, 0, 1}});
    EXPECT_EQ(planned.plan.groups, (std::vector<Group>{{0}, {0}, {0}, {0}, {2}, {2}}));
    EXPECT_EQ(count(exchanges(planned.placed), "send {0} -> {2}"), 1u);
}

// y = 2 W x + b, W cut along its rows' elements.
TEST(Propagate, a_bias_is_added_once_after_the_reduction) {
    auto graph = std::make_unique<graph::Graph>();
    graph::Axis vocab = graph->axis("vocab", 8), ffn = graph->axis("ffn", 6);
    graph::Axis embd = graph->axis("embd", 4);
    auto weight = [&](const char* name, graph::Shape rows, graph::Shape columns) {
        return graph->weight(name, gguf::DType::F32, rows, columns, {.tensor = name});
    };
    graph::Tensor x = embed(weight("table", {vocab}, {ffn}), graph->input("ids"));
    graph->begin_layer(0);
    graph::Tensor down = linear(x, weight("down", {embd}, {ffn}));
    graph::Tensor doubled = scale(down, 2);
    graph::Tensor biased = add(doubled, weight("bias", {embd}, {}));
    graph->begin_head();
    graph->set_result(select_rows(biased, graph->input("rows")));
    graph->begin_layer(1);
    Planned planned = test::plan_on(std::move(graph), equal_devices(2), {.mode = "tensor"});
    EXPECT_EQ(to_string(planned.placed),
              "%0:S(ffn) = embed(table:S(ffn), ids:R{0,1})\n"
              "%1:P{0,1} = linear(%0:S(ffn), down:S(ffn))\n"
              "%2:P{0,1} = scale(%1:P{0,1})\n"
              "all_reduce {0,1} -> {0,1}: %2\n"
              "%3:R{0,1} = add(%2:R{0,1}, bias:R{0,1})\n"
              "head:\n"
              "%4:R{0,1} = select_rows(%3:R{0,1}, rows:R{0,1})\n"
              "fetch {0} -> host: %4\n");
}

// Addends of two branches are added where they are and reduced once; a device that has only one of
// them passes it on.
TEST(Propagate, a_sum_of_addends_stays_one) {
    auto graph = std::make_unique<graph::Graph>();
    graph::Axis embd = graph->axis("embd", 4), vocab = graph->axis("vocab", 3);
    graph::Axis one = graph->axis("a.ffn", 5), two = graph->axis("b.ffn", 1);
    auto weight = [&](const char* name, graph::Shape rows, graph::Shape columns) {
        return graph->weight(name, gguf::DType::F32, rows, columns, {.tensor = name});
    };
    graph::Tensor x = rms_norm(embed(weight("table", {vocab}, {embd}), graph->input("ids")),
                               weight("norm", {embd}, {}), 1e-6);
    graph::Tensor a_up = linear(x, weight("a.up", {one}, {embd}));
    graph::Tensor a = linear(a_up, weight("a.down", {embd}, {one}));
    graph::Tensor b_up = linear(x, weight("b.up", {two}, {embd}));
    graph::Tensor b = linear(b_up, weight("b.down", {embd}, {two}));
    graph::Tensor sum = add(a, b);
    graph->begin_layer(0);
    graph->begin_head();
    sum = select_rows(sum, graph->input("rows"));
    graph->set_result(rms_norm(sum, weight("last", {embd}, {}), 1e-6));
    Planned planned = test::plan_on(std::move(graph), equal_devices(2), {.mode = "tensor"});
    const Placed& placed = planned.placed;
    Lines lines = exchanges(placed);
    EXPECT_EQ(count(lines, "all_reduce "), 2u) << to_string(placed);  // the embedding and the sum
    EXPECT_NE(to_string(placed).find("%6:P{0,1} = add(%3:P{0,1}, %5:P{0})"), std::string::npos)
        << to_string(placed);
    auto adds = [&](int device) {
        size_t found = 0;
        for (const auto& item : project(placed, device, Stage::Body, 8, {}, nullptr, {}).items)
            if (auto* segment = std::get_if<Segment>(&item))
                for (const kernels::Launch& launch : segment->launches)
                    found += launch.operations[0].node->op->name == "add";
        return found;
    };
    EXPECT_EQ(adds(0), 1u);
    EXPECT_EQ(adds(1), 0u);
}

// Addends of devices that the layer does not have: its weights are not there.
TEST(Propagate, addends_of_another_group_are_reduced_to_the_layers) {
    graph::Graph graph;
    graph::Axis vocab = graph.axis("vocab", 8), embd = graph.axis("embd", 4);
    graph::Tensor table =
        graph.weight("table", gguf::DType::F32, {vocab}, {embd}, {.tensor = "table"});
    graph::Tensor x = embed(table, graph.input("ids"));
    graph.begin_layer(0);
    graph::Tensor factor =
        graph.weight("factor", gguf::DType::F32, {embd}, {}, {.tensor = "factor"});
    graph::Tensor scaled = mul(x, factor);
    graph.begin_head();
    graph.set_result(select_rows(scaled, graph.input("rows")));
    Plan plan{.groups = {{0, 1}, {1, 2}, {1, 2}}};
    plan.partitions.push_back({.axis = vocab, .group = {0, 1}, .bounds = {0, 4, 8}});
    plan.anchors.resize(graph.values().size());
    plan.anchors[size_t(table.value)] = Placement::split(&plan.partitions[0]);
    plan.anchors[size_t(factor.value)] = Placement::replicated({1, 2});
    EXPECT_EQ(to_string(propagate(graph, plan, equal_devices(3))),
              "%0:P{0,1} = embed(table:S(vocab), ids:R{0,1,2})\n"
              "all_reduce {0,1} -> {1,2}: %0\n"
              "%1:R{1,2} = mul(%0:R{1,2}, factor:R{1,2})\n"
              "head:\n"
              "%2:R{1,2} = select_rows(%1:R{1,2}, rows:R{0,1,2})\n"
              "fetch {1} -> host: %2\n");
}

// The choice of experts is made once where devices round differently, else by everyone.
TEST(Propagate, choices_are_broadcast_where_devices_round_differently) {
    for (const char* name : mixtures) {
        DeviceTable mixed = equal_devices(3);
        Planned same = plan_fixture(name, mixed, {.mode = "tensor"});
        mixed.devices[1].rounding = "other";
        Planned planned = plan_fixture(name, mixed, {.mode = "tensor"});
        size_t layers = size_t(planned.graph->layers()), broadcasts = 0;
        each_exchange(planned.placed, [&](const Exchange& exchange) {
            for (const Transfer& transfer : exchange.transfers)
                if (maker(planned.placed, transfer) == "top_k") {
                    EXPECT_EQ(kind_name(exchange), "broadcast");
                    EXPECT_EQ(exchange.sources, Group{0});
                    EXPECT_EQ(exchange.receivers, (Group{1, 2}));
                    ++broadcasts;
                }
        });
        EXPECT_EQ(broadcasts, layers);
        EXPECT_EQ(exchanges(planned.placed).size(), exchanges(same.placed).size() + layers);
        EXPECT_EQ(count(exchanges(same.placed), "broadcast"), 0u);
        for (const auto& step : planned.placed.steps)
            if (auto* compute = std::get_if<Compute>(&step))
                if (node_of(planned.placed, *compute).op->name == "top_k") {
                    EXPECT_EQ(compute->devices, Group{0});
                }
    }
}

TEST(Propagate, a_share_of_0_takes_no_part) {
    for (const char* mode : {"tensor", "graph"}) {
        Planned planned =
            plan_fixture("qwen3moe", equal_devices(3), {.mode = mode, .ratio = {1, 0, 2}});
        for (const Group& group : planned.plan.groups) EXPECT_EQ(group, (Group{0, 2}));
        each_exchange(planned.placed, [&](const Exchange& exchange) {
            EXPECT_FALSE(contains(exchange.sources, 1) || contains(exchange.receivers, 1));
        });
    }
    Planned one = plan_fixture("qwen3moe", equal_devices(2), {.mode = "tensor", .ratio = {0, 1}});
    EXPECT_EQ(exchanges(one.placed), (Lines{"fetch {1} -> host: %80"}));
}

// A device whose share is too small for a unit launches nothing of a part that is cut.
TEST(Propagate, an_empty_range_launches_nothing) {
    for (const char* name : {"llama-rope-factors", "qwen3moe", "llama-q-q4_0"}) {
        Planned planned =
            plan_fixture(name, equal_devices(3), {.mode = "tensor", .ratio = {100, 0.01, 200}});
        for (Stage stage : {Stage::Body, Stage::Head}) {
            Program program = project(planned.placed, 1, stage, 8, {}, nullptr, {});
            for (const auto& item : program.items) {
                if (auto* segment = std::get_if<Segment>(&item)) {
                    for (const kernels::Launch& launch : segment->launches)
                        for (const kernels::Operand& operand : launch.operations[0].inputs)
                            EXPECT_GT(operand.view.elements(), 0)
                                << name << " " << launch.operations[0].node->op->name;
                }
                if (auto* meeting = std::get_if<Meeting>(&item)) {
                    EXPECT_TRUE(meeting->sends.empty()) << name;
                }
            }
        }
        each_exchange(planned.placed, [&](const Exchange& exchange) {
            EXPECT_FALSE(contains(exchange.sources, 1)) << name;
        });
    }
}

// An axis of one unit has one owner: nobody else has an addend.
TEST(Propagate, one_owner_sends_what_nobody_adds_to) {
    Planned planned = plan_fixture("llama-q-q4_k_m", equal_devices(2), {.mode = "tensor"});
    Lines lines = exchanges(planned.placed);
    EXPECT_EQ(count(lines, "all_reduce "), 1u);  // the embedding
    EXPECT_EQ(count(lines, "broadcast {0} -> {0,1}"), 2u) << to_string(planned.placed);
    EXPECT_EQ(count(lines, "broadcast {1} -> {0,1}"), 2u);
}

// More devices than heads: queries are cut within a head, keys are held by several.
TEST(Propagate, more_devices_than_heads) {
    Planned planned = plan_fixture("qwen3-bf16", equal_devices(8), {.mode = "tensor"});
    size_t within = 0;
    for (const Partition& partition : planned.plan.partitions)
        if (role(partition.axis) == "kv_heads") {
            ASSERT_TRUE(partition.inner);
            EXPECT_EQ(to_string(partition),
                      "kv_heads x q_per_kv 8 = 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1");
            EXPECT_EQ(partition.range(2, partition.axis), partition.range(3, partition.axis));
            ++within;
        }
    EXPECT_EQ(within, 4u);
    EXPECT_EQ(count(exchanges(planned.placed), "all_reduce "), 9u);
    EXPECT_EQ(exchanges(planned.placed).size(), 10u);
}

}  // namespace
}  // namespace tandem::parallel
