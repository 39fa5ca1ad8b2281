#include "parallel/work.h"

#include <algorithm>

namespace tandem::parallel {

using graph::Kind;
using graph::Node;
using graph::Use;
using graph::Value;

namespace {

double stored_bytes(const Value& value, const LocalSize& size) {
    return double(size.matrices * size.rows) * double(gguf::row_bytes(value.dtype, size.columns));
}

// The extent of an axis of this role among the operands; 1 without one.
double extent(const Node& node, std::string_view wanted) {
    for (const graph::Tensor& input : node.inputs)
        for (graph::Axis axis : input ? input.shape() : graph::Shape{})
            if (role(axis) == wanted) return double(axis->extent);
    return 1;
}

double elements_of_token(const graph::Shape& shape) {
    double product = 1;
    for (graph::Axis axis : shape) product *= axis->live() ? 1 : double(axis->extent);
    return product;
}

// `use` is what this node does with it: a tied table is looked up by one node and multiplied by
// another.
void add_weight(Work& work, const Node& node, const Value& value, Use use, const LocalSize& size) {
    const double bytes = stored_bytes(value, size);
    const double count = double(size.matrices * size.rows * size.columns);
    if (use == Use::Experts) {
        const double chosen = extent(node, "used") / extent(node, role(value.shape[0]));
        work.bytes += bytes * chosen;
        work.multiply_adds += count * chosen;
    } else if (use == Use::Table) {
        work.bytes += bytes / double(size.rows);
    } else {
        work.bytes += bytes;
        if (use == Use::Matrix) work.multiply_adds += count;
    }
}

// A cache is read as far as it is filled: every cell meets the first operand, or makes a part of
// the result. What does not grow with the context, windows and recurrent states, is read whole by
// every token. `again`: the node has read it as another operand, so that it comes from near.
void add_state(Work& work, const Node& node, const Value& value, const LocalSize& size,
               bool meets_operand, bool again) {
    const double slots = extent(node, "slots");
    const double bytes = again ? 0 : stored_bytes(value, size) / slots;
    const double share = double(size.rows * size.columns) / double(graph::elements(value.shape));
    const bool grows = std::any_of(value.shape.begin(), value.shape.end(),
                                   [](graph::Axis axis) { return role(axis) == "cells"; });
    if (!grows) {
        work.bytes += bytes;
        work.multiply_adds += double(size.rows * size.columns) / slots;
        return;
    }
    const graph::Shape& shape = meets_operand ? node.inputs[0].shape() : node.output.shape();
    work.cached_bytes += bytes / extent(node, "cells");
    work.cached_multiply_adds += share * elements_of_token(shape);
}

}  // namespace

std::vector<DeviceWork> work_of(const graph::Graph& graph, const Plan& plan, size_t devices) {
    std::vector<DeviceWork> all(devices);
    for (size_t number = 0; number < graph.nodes().size(); ++number) {
        const Node& node = graph.nodes()[number];
        int states = 0;
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            const graph::Tensor& input = node.inputs[i];
            if (!input || (input->kind != Kind::Weight && input->kind != Kind::State)) continue;
            const Placement& anchor = plan.anchors[size_t(input.value)];
            const bool state = input->kind == Kind::State;
            const bool again =
                std::any_of(node.inputs.begin(), node.inputs.begin() + int64_t(i),
                            [&](const graph::Tensor& other) { return other.value == input.value; });
            const Use use = node.op->use ? node.op->use(i) : Use::Vector;
            for (int device : anchor.group) {
                const LocalSize size = local_size(*input, anchor, device);
                if (size.rows == 0) continue;
                DeviceWork& own = all[size_t(device)];
                Work& work = number < graph.head_begin() ? own.body : own.head;
                if (state)
                    add_state(work, node, *input, size, states == 0, again);
                else
                    add_weight(work, node, *input, use, size);
            }
            if (state) ++states;
        }
    }
    return all;
}

}  // namespace tandem::parallel
