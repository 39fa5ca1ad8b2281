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

// The extent of an axis of this role among the operands; 1 without one.
double extent(const Node& node, std::string_view wanted) {
    for (const graph::Tensor& input : node.inputs)
        for (graph::Axis axis : input ? input.shape() : graph::Shape{})
            if (role(axis) == wanted) return double(axis->extent);
    return 1;
}

// Elements of a token's that a device has of them.
double local_elements(const graph::Shape& shape, const Partition* cut, int device) {
    double product = 1;
    for (graph::Axis axis : shape)
        if (!axis->live())
            product *= double(cut ? cut->range(cut->member(device), axis).size() : axis->extent);
    return product;
}

// The partition that the node's weights and states follow.
const Partition* cut_of(const Node& node, const Plan& plan) {
    for (const graph::Tensor& input : node.inputs)
        if (input && (input->kind == Kind::Weight || input->kind == Kind::State))
            if (auto* cut = plan.anchors[size_t(input.value)].partition) return cut;
    return nullptr;
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
                 .float_multiply_adds = gguf::is_plain(value.dtype) ? count * chosen : 0,
                 .expert_bytes = bytes * chosen,
                 .expert_share = chosen};
    } else if (use == Use::Table) {
        work.bytes += bytes / double(size.rows);
    } else {
        work.bytes += bytes;
        if (use != Use::Matrix) return;
        work.multiply_adds += count;
        if (gguf::is_plain(value.dtype)) work.float_multiply_adds += count;
    }
}

// Multiply-adds of a token with one cell of a cache: the widest value that runs over the elements
// of a cell meets it, which is the queries, or is made of it, which is the result.
double multiply_adds_of_cell(const Node& node, const Value& cache, const Partition* cut,
                             int device) {
    double most = 0;
    auto meet = [&](const graph::Tensor& other) {
        if (other && other->kind == Kind::Activation && contains(other.shape(), cache.shape.back()))
            most = std::max(most, local_elements(other.shape(), cut, device));
    };
    for (const graph::Tensor& input : node.inputs) meet(input);
    meet(node.output);
    return most;
}

// A cache is read as far as it is filled, a ring as far as the window reaches. What does not grow
// with the context, windows and recurrent states, is read by every token. `again`: the node has
// read it as another operand, so that it comes from near.
void add_state(Work& work, const Node& node, const Value& value, const LocalSize& size,
               const Partition* cut, int device, bool again) {
    const double slots = extent(node, "slots");
    const double bytes = again ? 0 : stored_bytes(value, size) / slots;
    auto has = [&](std::string_view wanted) {
        return std::ranges::any_of(value.shape,
                                   [&](graph::Axis axis) { return role(axis) == wanted; });
    };
    const double as_float = gguf::is_plain(value.dtype) ? 1 : 0;
    if (has("cells")) {
        const double count = multiply_adds_of_cell(node, value, cut, device);
        work.cached_bytes += bytes / extent(node, "cells");
        work.cached_multiply_adds += count;
        work.cached_float_multiply_adds += as_float * count;
        return;
    }
    double read = bytes, count = double(size.rows * size.columns) / slots;
    if (has("window_cells")) {
        const double ring = extent(node, "window_cells");
        const double reach = std::min(ring, node.attributes.number("window"));
        read = bytes / ring * reach;
        count = multiply_adds_of_cell(node, value, cut, device) * reach;
        work.windows = {.cells = reach,
                        .bytes = work.windows.bytes + read,
                        .multiply_adds = work.windows.multiply_adds + count,
                        .float_multiply_adds = work.windows.float_multiply_adds + as_float * count};
    }
    work.bytes += read;
    work.sequence_bytes += read;
    work.multiply_adds += count;
    work.float_multiply_adds += as_float * count;
}

}  // namespace

Work& Work::operator+=(const Work& other) {
    bytes += other.bytes;
    multiply_adds += other.multiply_adds;
    float_multiply_adds += other.float_multiply_adds;
    expert_bytes += other.expert_bytes;
    expert_share = std::min(expert_share, other.expert_share);
    sequence_bytes += other.sequence_bytes;
    windows.cells = std::max(windows.cells, other.windows.cells);
    windows.bytes += other.windows.bytes;
    windows.multiply_adds += other.windows.multiply_adds;
    windows.float_multiply_adds += other.windows.float_multiply_adds;
    cached_bytes += other.cached_bytes;
    cached_multiply_adds += other.cached_multiply_adds;
    cached_float_multiply_adds += other.cached_float_multiply_adds;
    return *this;
}

double Work::bytes_of_step(double tokens, double sequences) const {
    const double chosen = 1 - std::pow(1 - expert_share, tokens);
    return bytes - expert_bytes + expert_bytes * chosen / expert_share +
           (sequences - 1) * sequence_bytes;
}

Work Work::behind(double before, double count) const {
    Work work = *this;
    if (windows.cells == 0) return work;
    const double filling = std::clamp(windows.cells - before, 0.0, count);
    const double seen =
        count > 0 ? (filling * (before + filling / 2) + (count - filling) * windows.cells) / count
                  : std::min(before, windows.cells);
    const double missing = 1 - seen / windows.cells;
    work.bytes -= missing * windows.bytes;
    work.sequence_bytes -= missing * windows.bytes;
    work.multiply_adds -= missing * windows.multiply_adds;
    work.float_multiply_adds -= missing * windows.float_multiply_adds;
    work.windows = {};
    return work;
}

Work work_of(const Node& node, const Plan& plan, int device) {
    Work work;
    const Partition* cut = cut_of(node, plan);
    if (cut && (!contains(cut->group, device) || cut->empty(cut->member(device)))) return work;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        const graph::Tensor& input = node.inputs[i];
        if (!input || (input->kind != Kind::Weight && input->kind != Kind::State)) continue;
        const bool again =
            std::any_of(node.inputs.begin(), node.inputs.begin() + int64_t(i),
                        [&](const graph::Tensor& other) { return other.value == input.value; });
        const LocalSize size = local_size(*input, plan.anchors[size_t(input.value)], device);
        if (size.rows == 0) continue;
        if (input->kind == Kind::State)
            add_state(work, node, *input, size, cut, device, again);
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
