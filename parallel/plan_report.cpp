#include "parallel/plan_report.h"

#include <algorithm>

#include "parallel/communicator/box.h"

namespace tandem::parallel {

using graph::Graph;
using graph::Kind;
using graph::Value;

namespace {

// The partitions that the weights and states of every layer follow, [layer + 1], in the order in
// which the plan made them.
std::vector<std::vector<const Partition*>> parts_of_layers(const Graph& graph, const Plan& plan) {
    std::vector<std::vector<const Partition*>> parts(plan.groups.size());
    auto note = [&](int layer, const Partition* partition) {
        auto& known = parts[size_t(layer) + 1];
        if (partition && std::find(known.begin(), known.end(), partition) == known.end())
            known.push_back(partition);
    };
    for (const graph::Node& node : graph.nodes())
        for (const graph::Tensor& input : node.inputs)
            if (input && (input->kind == Kind::Weight || input->kind == Kind::State))
                note(node.layer, plan.anchors[size_t(input.value)].partition);
    return parts;
}

bool alike(const Partition& a, const Partition& b) {
    return role(a.axis) == role(b.axis) && !a.inner == !b.inner && a.group == b.group &&
           a.bounds == b.bounds;
}

bool alike(const LayersReport& a, const LayersReport& b) {
    return a.group == b.group &&
           std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(),
                      [](const Partition* x, const Partition* y) { return alike(*x, *y); });
}

std::vector<LayersReport> report_layers(const Graph& graph, const Plan& plan) {
    std::vector<LayersReport> layers;
    auto parts = parts_of_layers(graph, plan);
    for (int layer = -1; layer <= graph.layers(); ++layer) {
        LayersReport next{layer, layer, plan.group(layer), parts[size_t(layer) + 1]};
        const bool block = layer > 0 && layer < graph.layers();  // that may follow another
        if (block && alike(layers.back(), next))
            layers.back().last = layer;
        else
            layers.push_back(std::move(next));
    }
    return layers;
}

std::vector<WholeReport> report_whole(const Graph& graph, const Plan& plan,
                                      const DeviceTable& table) {
    std::vector<WholeReport> all;
    for (size_t i = 0; i < graph.values().size(); ++i) {
        const Value& value = graph.value(int(i));
        const Placement& anchor = plan.anchors[i];
        if (value.kind != Kind::Weight || anchor.kind != Placement::Kind::Replicated) continue;
        if (anchor.group.empty()) continue;  // read by no node, so that nobody has it
        auto found = std::find_if(all.begin(), all.end(), [&](const WholeReport& whole) {
            return whole.group == anchor.group;
        });
        if (found == all.end()) found = all.insert(found, {.group = anchor.group});
        ++found->weights;
        found->bytes += local_bytes(value, anchor, anchor.group.front(), table);
    }
    return all;
}

// Bytes of a value for one token or row.
int64_t bytes_of(const Value& value) {
    int64_t elements = 1;
    for (graph::Axis axis : value.shape) elements *= axis->live() ? 1 : axis->extent;
    return elements * 4;
}

std::vector<ExchangeReport> report_exchanges(const Placed& placed, size_t begin, size_t end) {
    std::vector<ExchangeReport> all;
    for (size_t step = begin; step < end; ++step) {
        auto* exchange = std::get_if<Exchange>(&placed.steps[step]);
        if (!exchange) continue;
        auto found = std::find_if(all.begin(), all.end(), [&](const ExchangeReport& known) {
            return known.kind == kind_name(*exchange) && known.sources == exchange->sources &&
                   known.receivers == exchange->receivers;
        });
        if (found == all.end())
            found = all.insert(found, {.kind = kind_name(*exchange),
                                       .sources = exchange->sources,
                                       .receivers = exchange->receivers,
                                       .to_host = exchange->to_host});
        ++found->count;
        for (const Transfer& transfer : exchange->transfers) {
            const Instance& from = placed.instances[size_t(transfer.from)];
            found->bytes += bytes_of(placed.graph->value(from.value));
        }
    }
    return all;
}

// Elements of a cache's.
int64_t longest_row(const Graph& graph) {
    int64_t longest = 0;
    for (const Value& value : graph.values()) {
        const graph::Shape rows = value.row_axes();
        if (value.kind == Kind::State &&
            std::ranges::any_of(rows, [](graph::Axis axis) { return role(axis) == "cells"; }))
            longest = std::max(longest, graph::elements(value.column_axes()));
    }
    return longest;
}

// Logits of a run of the head that no device has whole.
int64_t gathered_bytes(const Placed& placed) {
    int64_t bytes = 0;
    for (const auto& step : placed.steps) {
        auto* exchange = std::get_if<Exchange>(&step);
        if (!exchange || !exchange->to_host || exchange->sources.size() < 2) continue;
        const Instance& logits = placed.instances[size_t(exchange->transfers[0].from)];
        bytes += head_rows * bytes_of(placed.graph->value(logits.value));
    }
    return bytes;
}

}  // namespace

int64_t scratch_bytes(const Programs& programs, Wire wire) {
    int64_t slot = programs.sending_bytes;
    if (wire != Wire::F32) slot += wire_bytes(wire, programs.sending_bytes);
    return programs.arena_bytes + 2 * slot + programs.landing_bytes;
}

std::vector<int64_t> scratch_bytes(const Placed& placed, const DeviceTable& table,
                                   std::span<const Programs> programs, Wire wire) {
    std::vector<int64_t> all;
    const int64_t longest = longest_row(*placed.graph);
    for (size_t i = 0; i < table.size(); ++i) {
        const kernels::Device* device = table.devices[i].device;
        all.push_back(scratch_bytes(programs[i], wire) + (device ? device->own_bytes(longest) : 0));
    }
    const auto host = std::ranges::find_if(table.devices, [](const DeviceRow& row) {
        return row.device && row.device->description().in_host_memory;
    });
    if (host != table.devices.end())
        all[size_t(host - table.devices.begin())] += gathered_bytes(placed);
    return all;
}

PlanReport report_plan(const Graph& graph, const Plan& plan, const Placed& placed,
                       const DeviceTable& table, std::span<const Programs> programs, Wire wire) {
    PlanReport report{.mode = plan.mode, .blocks = graph.layers(), .obstacles = plan.obstacles};
    const std::vector<int64_t> weights = weight_bytes(graph, plan, table);
    const std::vector<int64_t> states = state_bytes(graph, plan, table);
    const std::vector<int64_t> scratch = scratch_bytes(placed, table, programs, wire);
    const std::vector<DeviceWork> work = work_of(graph, plan, table.size());
    for (size_t i = 0; i < table.size(); ++i)
        report.devices.push_back({.name = table.devices[i].name,
                                  .weights = weights[i],
                                  .states = states[i],
                                  .scratch = scratch[i],
                                  .free = table.devices[i].free_bytes,
                                  .work = work[i]});
    std::vector<int64_t> needed;
    for (const DeviceReport& device : report.devices) needed.push_back(device.needed());
    for (size_t i = 0; i < table.size(); ++i)
        report.devices[i].lacking = lacking_bytes(table, needed, i);
    report.layers = report_layers(graph, plan);
    report.whole = report_whole(graph, plan, table);
    report.body = report_exchanges(placed, 0, placed.head_begin);
    report.head = report_exchanges(placed, placed.head_begin, placed.steps.size());
    return report;
}

}  // namespace tandem::parallel
