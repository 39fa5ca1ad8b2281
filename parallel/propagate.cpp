#include "parallel/propagate.h"

#include <algorithm>

#include "gguf/error.h"
#include "parallel/reshard.h"

namespace tandem::parallel {

using graph::Graph;
using graph::Node;
using graph::Rule;
using graph::Tensor;
using Kind = Placement::Kind;

namespace {

bool anchored(const Tensor& tensor) {
    return tensor->kind == graph::Kind::Weight || tensor->kind == graph::Kind::State;
}

class Pass {
  public:
    Pass(const Graph& graph, const Plan& plan, const DeviceTable& table)
        : graph_(graph), plan_(plan), table_(table), placed_{.graph = &graph}, reshard_(placed_) {
        for (size_t i = 0; i < graph.values().size(); ++i)
            if (graph.value(int(i)).kind == graph::Kind::Input)
                reshard_.define(int(i), Placement::replicated(everywhere()));
            else if (graph.value(int(i)).kind != graph::Kind::Activation)
                reshard_.define(int(i), plan.anchors[i]);
    }

    Placed run() {
        for (size_t i = 0; i < graph_.nodes().size(); ++i) {
            if (i == graph_.head_begin()) placed_.head_begin = placed_.steps.size();
            place(int(i), graph_.nodes()[i]);
        }
        reshard_.fetch(graph_.result().value);
        check_head();
        return std::move(placed_);
    }

  private:
    // The head's exchange memory has room for rows.
    void check_head() const {
        for (size_t i = placed_.head_begin; i < placed_.steps.size(); ++i)
            if (const auto* exchange = std::get_if<Exchange>(&placed_.steps[i]))
                for (const Transfer& transfer : exchange->transfers) {
                    const Instance& from = placed_.instances[size_t(transfer.from)];
                    check(!contains(graph_.value(from.value).shape, graph_.tokens()),
                          "a head exchanges rows");
                }
    }

    Group everywhere() const {
        Group all(table_.size());
        for (size_t i = 0; i < all.size(); ++i) all[i] = int(i);
        return all;
    }

    const Placement& placement(const Tensor& tensor) const {
        return placed_.instances[size_t(reshard_.defined(tensor.value))].placement;
    }

    bool uniform(const Group& group) const {
        const auto& devices = table_.devices;
        return std::all_of(group.begin(), group.end(), [&](int device) {
            return devices[size_t(device)].rounding == devices[size_t(group[0])].rounding;
        });
    }

    // True if the node's parts under this partition can be put together again, and its weights lie
    // that way: they never travel.
    bool can_cut(const Node& node, const Rule& rule, const Partition& partition) const {
        for (Axis axis : rule.whole)
            if (partition.divides(axis)) return false;
        for (const Tensor& input : node.inputs)
            if (input && anchored(input) && input->use != graph::Use::Vector &&
                mentions(input, partition) && placement(input).partition != &partition)
                return false;
        if (!partition.inner) return true;
        // Ranges of the axis alone overlap, so adding over them would count some of it twice.
        const graph::Shape& result = node.output.shape();
        if (contains(result, partition.axis)) return true;
        return std::any_of(node.inputs.begin(), node.inputs.end(), [&](const Tensor& input) {
            return input && contains(input.shape(), partition.inner);
        });
    }

    // The axis cut in an anchored operand; if none, in an activation.
    const Partition* choose_cut(const Node& node, const Rule& rule) const {
        for (bool look_at_anchored : {true, false})
            for (const Tensor& input : node.inputs) {
                if (!input || anchored(input) != look_at_anchored) continue;
                const Partition* partition = placement(input).partition;
                if (partition && can_cut(node, rule, *partition)) return partition;
            }
        return nullptr;
    }

    // True if all that the rule is linear in are addends of the group. What somebody has reduced
    // already is whole: to go on with its addends would reduce it again with every sum it is in.
    bool takes_addends(const Node& node, const Rule& rule, const Group& group) const {
        return !rule.linear.empty() &&
               std::all_of(rule.linear.begin(), rule.linear.end(), [&](int i) {
                   const Tensor& input = node.inputs[size_t(i)];
                   return reshard_.only_addends(input.value) &&
                          includes(group, placement(input).group);
               });
    }

    void place(int number, const Node& node) {
        Rule rule = node.op->rule(node);
        const Partition* cut = choose_cut(node, rule);
        Group group = cut ? cut->group : plan_.group(node.layer);
        Group deciding = group;
        if (node.op->discrete && !cut && !uniform(group)) deciding = {group.front()};

        bool stays_partial = !cut && takes_addends(node, rule, group);
        Group contributors;
        Compute compute{.node = number, .devices = deciding, .partition = cut};
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            const Tensor& input = node.inputs[i];
            bool linear =
                std::find(rule.linear.begin(), rule.linear.end(), int(i)) != rule.linear.end();
            if (!input) {
                compute.inputs.push_back(-1);
            } else if (stays_partial && linear) {
                compute.inputs.push_back(reshard_.defined(input.value));
                contributors = unite(contributors, placement(input).group);
            } else if (cut && mentions(input, *cut)) {
                compute.inputs.push_back(reshard_.bring(input.value, Placement::split(cut)));
            } else {
                compute.inputs.push_back(
                    reshard_.bring(input.value, Placement::replicated(deciding)));
            }
        }
        if (stays_partial) compute.devices = contributors;
        compute.output =
            reshard_.define(node.output.value, result(node, cut, stays_partial, compute.devices));
        placed_.steps.push_back(std::move(compute));
    }

    static bool mentions(const Tensor& tensor, const Partition& partition) {
        const graph::Shape& shape = tensor.shape();
        return std::any_of(shape.begin(), shape.end(),
                           [&](Axis axis) { return partition.divides(axis); });
    }

    static Placement result(const Node& node, const Partition* cut, bool stays_partial,
                            const Group& devices) {
        if (cut && mentions(node.output, *cut)) return Placement::split(cut);
        if (cut) return Placement::partial(cut->owners());
        if (stays_partial) return Placement::partial(devices);
        return Placement::replicated(devices);
    }

    const Graph& graph_;
    const Plan& plan_;
    const DeviceTable& table_;
    Placed placed_;
    Reshard reshard_;
};

}  // namespace

Placed propagate(const Graph& graph, const Plan& plan, const DeviceTable& table) {
    return Pass(graph, plan, table).run();
}

}  // namespace tandem::parallel
