#include "parallel/work.h"

#include <algorithm>
#include <cmath>

namespace tandem::parallel {

using graph::Kind;
using graph::Node;
using graph::Use;
using graph::Value;

namespace {

double stored_bytes(const Value& value, const LocalSize& size) {
    return double(size.matrices * size.rows) * double(gguf::row_bytes(value.dtype, size.columns));
}

bool is_float(const Value& value) { return gguf::traits(value.dtype).block == 1; }

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
        work += {.bytes = bytes * chosen,
                 .multiply_adds = count * chosen,
                 .float_multiply_adds = is_float(value) ? count * chosen : 0,
                 .expert_bytes = bytes * chosen,
                 .expert_share = chosen};
    } else if (use == Use::Table) {
        work.bytes += bytes / double(size.rows);
    } else {
        work.bytes += bytes;
        if (use != Use::Matrix) return;
        work.multiply_adds += count;
        if (is_float(value)) work.float_multiply_adds += count;
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
        const double count = double(size.rows * size.columns) / slots;
        work.bytes += bytes;
        work.multiply_adds += count;
        if (is_float(value)) work.float_multiply_adds += count;
        return;
    }
    const graph::Shape& shape = meets_operand ? node.inputs[0].shape() : node.output.shape();
    work.cached_bytes += bytes / extent(node, "cells");
    const double count = share * elements_of_token(shape);
    work.cached_multiply_adds += count;
    if (is_float(value)) work.cached_float_multiply_adds += count;
}

}  // namespace

Work& Work::operator+=(const Work& other) {
    bytes += other.bytes;
    multiply_adds += other.multiply_adds;
    float_multiply_adds += other.float_multiply_adds;
    expert_bytes += other.expert_bytes;
    expert_share = std::min(expert_share, other.expert_share);
    cached_bytes += other.cached_bytes;
    cached_multiply_adds += other.cached_multiply_adds;
    cached_float_multiply_adds += other.cached_float_multiply_adds;
    return *this;
}

double Work::bytes_of_step(double tokens) const {
    const double chosen = 1 - std::pow(1 - expert_share, tokens);
    return bytes - expert_bytes + expert_bytes * chosen / expert_share;
}

Work work_of(const Node& node, const Plan& plan, int device) {
    Work work;
    int states = 0;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        const graph::Tensor& input = node.inputs[i];
        if (!input || (input->kind != Kind::Weight && input->kind != Kind::State)) continue;
        const Placement& anchor = plan.anchors[size_t(input.value)];
        const bool again =
            std::any_of(node.inputs.begin(), node.inputs.begin() + int64_t(i),
                        [&](const graph::Tensor& other) { return other.value == input.value; });
        const bool state = input->kind == Kind::State, first_state = states == 0;
        if (state) ++states;
        if (std::find(anchor.group.begin(), anchor.group.end(), device) == anchor.group.end())
            continue;
        const LocalSize size = local_size(*input, anchor, device);
        if (size.rows == 0) continue;
        if (state)
            add_state(work, node, *input, size, first_state, again);
        else
            add_weight(work, node, *input, node.op->use ? node.op->use(i) : Use::Vector, size);
    }
    return work;
}

std::vector<DeviceWork> work_of(const graph::Graph& graph, const Plan& plan, size_t devices) {
    std::vector<DeviceWork> all(devices);
    for (size_t number = 0; number < graph.nodes().size(); ++number)
        for (size_t device = 0; device < devices; ++device)
            (number < graph.head_begin() ? all[device].body : all[device].head) +=
                work_of(graph.nodes()[number], plan, int(device));
    return all;
}

}  // namespace tandem::parallel
