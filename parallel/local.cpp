#include "parallel/local.h"

#include <algorithm>

#include "gguf/error.h"

namespace tandem::parallel {

using kernels::Operand;
using kernels::Where;

std::vector<int64_t> dense_strides(const std::vector<int64_t>& extents) {
    std::vector<int64_t> strides(extents.size(), 1);
    for (size_t i = extents.size(); i-- > 1;) strides[i - 1] = strides[i] * extents[i];
    return strides;
}

Local::Local(const Placed& placed, int device, int64_t bucket)
    : placed_(placed), device_(device), bucket_(bucket) {
    for (size_t step = 0; step < placed.steps.size(); ++step) {
        std::vector<int> read;
        if (auto* compute = std::get_if<Compute>(&placed.steps[step])) {
            note_alias(*compute);
            if (computes(*compute)) read = compute->inputs;
        } else {
            auto& exchange = std::get<Exchange>(placed.steps[step]);
            if (contains(exchange.sources, device))
                for (const Transfer& transfer : exchange.transfers) read.push_back(transfer.from);
        }
        for (int instance : read) {
            if (instance < 0 || !is_activation(instance)) continue;
            std::vector<size_t>& steps = readers_[base(instance)];
            if (steps.empty() || steps.back() != step) steps.push_back(step);
        }
    }
}

bool Local::holds_work(const Compute& compute) const {
    if (!contains(compute.devices, device_)) return false;
    return !compute.partition || !compute.partition->empty(compute.partition->member(device_));
}

bool Local::computes(const Compute& compute) const {
    return holds_work(compute) && !aliases_.count(compute.output);
}

bool Local::has(int instance) const {
    const Placement& placement = placed_.instances[size_t(instance)].placement;
    if (!contains(placement.group, device_)) return false;
    return !placement.partition ||
           !placement.partition->empty(placement.partition->member(device_));
}

bool Local::is_activation(int instance) const {
    int value = placed_.instances[size_t(instance)].value;
    return placed_.graph->value(value).kind == graph::Kind::Activation;
}

// Where only one of a sum's addends is here, the sum is that addend under another name.
void Local::note_alias(const Compute& compute) {
    const graph::Node& node = placed_.graph->nodes()[size_t(compute.node)];
    std::vector<int> addends = node.op->rule(node).linear;
    if (addends.size() < 2 || !holds_work(compute)) return;
    int present = -1;
    size_t found = 0;
    for (int i : addends)
        if (has(compute.inputs[size_t(i)])) present = compute.inputs[size_t(i)], ++found;
    if (found < addends.size()) aliases_[compute.output] = present;
}

int Local::base(int instance) const {
    while (true) {
        const Instance& known = placed_.instances[size_t(instance)];
        auto alias = aliases_.find(instance);
        if (alias != aliases_.end()) {
            instance = alias->second;
        } else if (!known.joins.empty()) {
            const auto part = std::ranges::find_if(known.joins, [&](int i) { return has(i); });
            if (part == known.joins.end()) return -1;
            instance = *part;
        } else if (known.view_of >= 0) {
            instance = known.view_of;
        } else {
            return has(instance) ? instance : -1;
        }
    }
}

const std::vector<size_t>& Local::readers(int base) const {
    static const std::vector<size_t> none;
    auto found = readers_.find(base);
    return found == readers_.end() ? none : found->second;
}

Operand Local::operand(int instance) const {
    auto alias = aliases_.find(instance);
    if (alias != aliases_.end()) return operand(alias->second);
    const Instance& known = placed_.instances[size_t(instance)];
    const graph::Value& value = placed_.graph->value(known.value);
    Operand result{.where = Where::Arena, .value = known.value, .use = value.use};
    graph::View& view = result.view;
    view.dtype = value.dtype;
    view.axes = value.shape;
    view.columns = value.columns;
    const Partition* partition = known.placement.partition;
    for (Axis axis : value.shape) {
        Range range{0, axis->live() ? bucket_ : axis->extent};
        if (partition && partition->divides(axis))
            range = partition->range(partition->member(device_), axis);
        view.extents.push_back(range.size());
        view.begins.push_back(range.begin);
    }
    if (value.kind == graph::Kind::Input) result.where = Where::Input, result.input = value.name;
    if (value.kind == graph::Kind::State) result.where = Where::State;
    if (value.kind == graph::Kind::Weight) {
        result.where = Where::Weight;
        if (value.use == graph::Use::Vector) view.dtype = gguf::DType::F32;
    }
    bool stored_rows = result.where == Where::State ||
                       (result.where == Where::Weight && value.use != graph::Use::Vector);
    if (stored_rows) {
        check(known.view_of < 0, "a weight or a state is never a range of another");
        return result;
    }
    if (known.view_of >= 0) {
        // The elements of a view lie where its parent has them.
        Operand parent = operand(known.view_of);
        view.strides = parent.view.strides;
        result.offset = parent.offset;
        for (size_t i = 0; i < view.begins.size(); ++i)
            result.offset += (view.begins[i] - parent.view.begins[i]) * view.strides[i] * 4;
        return result;
    }
    view.strides = dense_strides(view.extents);
    return result;
}

}  // namespace tandem::parallel
