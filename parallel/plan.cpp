#include "parallel/plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "gguf/error.h"
#include "parallel/apportion.h"

namespace tandem::parallel {

using graph::Graph;
using graph::Kind;
using graph::Use;
using graph::Value;

namespace {

// Every reader's rule lets the axis be divided: then the weight may be, and never crosses the wire.
bool may_be_split(const Graph& graph, int value, const Partition& partition) {
    for (int reader : graph.readers(value)) {
        const graph::Node& node = graph.nodes()[size_t(reader)];
        for (Axis whole : node.op->rule(node).whole)
            if (partition.divides(whole)) return false;
    }
    return true;
}

// Raises the grain to the rows that devices pack together, where enough units remain.
void prefer_row_multiples(Cut& cut, const Graph& graph, const Part& part, const Group& group,
                          size_t sharing, const DeviceTable& table) {
    if (cut.inner) return;
    int64_t multiple = 1;
    for (int number : part.values) {
        const Value& value = graph.value(number);
        graph::Shape rows = value.row_axes();
        if (value.kind != Kind::Weight || rows.empty() || rows.back() != cut.axis) continue;
        for (int device : group)
            if (auto* d = table.devices[size_t(device)].device)
                multiple = std::lcm(multiple, d->row_multiple(value.dtype, value.use));
    }
    int64_t grain = std::lcm(cut.grain, multiple);
    if (cut.extent() / grain >= int64_t(sharing)) cut.grain = grain;
}

// "shared.ffn" of "blk.3.shared.ffn"
std::string name_in_layer(Axis axis) {
    const std::string& name = axis->name;
    if (!name.starts_with("blk.")) return name;
    return name.substr(name.find('.', 4) + 1);
}

void note_obstacle(Plan& plan, const Cut& cut, size_t sharing) {
    if (cut.units() >= int64_t(sharing) || cut.obstacle.empty()) return;
    plan.obstacles.push_back(
        cut.axis->name + " " + std::to_string(cut.extent()) +
        (cut.units() < 2 ? " cannot be cut"
                         : " can be cut into " + std::to_string(cut.units()) + " at most") +
        ": " + cut.obstacle);
}

// Which devices read the weights and states that nothing divides.
class Readers {
  public:
    Readers(const Graph& graph, const Plan& plan, std::span<const Part> parts,
            std::span<const Home* const> homes)
        : graph_(graph), plan_(plan) {
        for (size_t i = 0; i < parts.size(); ++i) {
            if (!homes[i]) continue;
            const Group& group = homes[i]->group;
            const Cut& cut = best_cut(parts[i], group.size());
            moved_.push_back({.axis = cut.axis, .inner = cut.inner, .group = group});
        }
    }

    Group of(int value) const {
        Group group;
        for (int reader : graph_.readers(value))
            group = unite(group, of(graph_.nodes()[size_t(reader)]));
        return group;
    }

  private:
    // A node is where what is cut of its weights and states is. Where none is, but something passes
    // that was cut, it depends on the nodes before where it is, which is in one of both groups.
    Group of(const graph::Node& node) const {
        Group group = plan_.group(node.layer);
        for (const graph::Tensor& input : node.inputs) {
            const Partition* partition = input ? dividing(input.shape()) : nullptr;
            if (!partition) continue;
            const bool anchored = input->kind == Kind::Weight || input->kind == Kind::State;
            if (anchored && may_be_split(graph_, input.value, *partition)) return partition->group;
            group = unite(group, partition->group);
        }
        return group;
    }

    const Partition* dividing(const graph::Shape& shape) const {
        for (const Partition& partition : moved_)
            if (std::ranges::any_of(shape, [&](Axis axis) { return partition.divides(axis); }))
                return &partition;
        return nullptr;
    }

    const Graph& graph_;
    const Plan& plan_;
    std::vector<Partition> moved_;  // without bounds
};

// Divides parts, one after another.
class Division {
  public:
    Division(const Graph& graph, const DeviceTable& table, Plan& plan)
        : graph_(graph), table_(table), plan_(plan) {}

    void divide(const Part& part, const Group& group, Cut cut, const std::vector<double>& shares) {
        size_t sharing =
            size_t(std::count_if(shares.begin(), shares.end(), [](double s) { return s > 0; }));
        note_obstacle(plan_, cut, sharing);
        prefer_row_multiples(cut, graph_, part, group, sharing, table_);
        std::vector<double>& carry = carries_[{name_in_layer(cut.axis), group}];
        carry.resize(shares.size());
        const Partition& partition =
            plan_.partitions.emplace_back(Partition{.axis = cut.axis,
                                                    .inner = cut.inner,
                                                    .group = group,
                                                    .bounds = apportion(cut, shares, carry)});
        for (int number : part.values) {
            const Value& value = graph_.value(number);
            bool mentions = std::any_of(value.shape.begin(), value.shape.end(),
                                        [&](Axis axis) { return partition.divides(axis); });
            if (mentions && may_be_split(graph_, number, partition))
                plan_.anchors[size_t(number)] = Placement::split(&partition);
        }
    }

    // Nothing is cut where all of it is to be on the one device on which it is already.
    void settle(const Part& part, const Home& home) {
        const bool there = std::ranges::all_of(part.values, [&](int value) {
            return std::ranges::all_of(graph_.readers(value), [&](int reader) {
                return plan_.group(graph_.nodes()[size_t(reader)].layer) == home.group;
            });
        });
        const size_t sharing = home.group.size();
        if (there && sharing == 1) return;
        divide(part, home.group, best_cut(part, sharing),
               std::vector<double>(sharing, 1 / double(sharing)));
    }

  private:
    const Graph& graph_;
    const DeviceTable& table_;
    Plan& plan_;
    // What rounding took away is carried on from layer to layer, for each kind of axis and group by
    // itself: with two kinds in turns, one would always give to the same devices.
    std::map<std::pair<std::string, Group>, std::vector<double>> carries_;
};

}  // namespace

void require_sensible(const PlanOptions& options, size_t devices) {
    find_policy(options.mode);
    if (devices == 0) throw Error("no device to run on: name at least one with -dev");
    const size_t sharing = options.sharing(devices);
    const std::string uncounted =
        options.home_devices > 0 ? " (those that only -ot or -cmoe name do not count)" : "";
    if (options.main_device < 0 || options.main_device >= int(sharing))
        throw Error("-mg " + std::to_string(options.main_device) + ": there " +
                    (sharing == 1 ? "is 1 device" : "are " + std::to_string(sharing) + " devices") +
                    ", counted from 0" + uncounted);
    if (options.ratio.empty()) return;
    if (options.ratio.size() != sharing)
        throw Error("-ts takes one share for each device, " + std::to_string(sharing) +
                    " in all, not " + std::to_string(options.ratio.size()) + uncounted);
    double sum = 0;
    for (double share : options.ratio) {
        if (!(share >= 0) || !std::isfinite(share))
            throw Error("-ts: a share is a number, 0 or more");
        sum += share;
    }
    if (sum <= 0) throw Error("-ts: at least one share must be above 0");
}

Plan make_plan(const Graph& graph, const DeviceTable& table, const PlanOptions& options) {
    require_sensible(options, table.size());
    const Policy& policy = find_policy(options.mode);
    const std::span<const std::string_view> roles =
        options.homes.empty() ? policy.divides : divisible_roles;
    const std::vector<Part> parts = find_parts(graph, roles);
    Plan plan{.mode = std::string(policy.name)};
    const std::vector<const Home*> homes = homes_of(graph, parts, options.homes, plan.idle);
    const Rest rest(graph, parts, homes, table, options.sharing(table.size()));
    Choice choice = policy.choose({graph, rest.parts, rest.moved, rest.table, options});

    plan.groups = std::move(choice.groups);
    plan.anchors.resize(graph.values().size());
    const Readers readers(graph, plan, parts, homes);
    for (size_t i = 0; i < graph.values().size(); ++i) {
        Kind kind = graph.value(int(i)).kind;
        if (kind == Kind::Weight || kind == Kind::State)
            plan.anchors[i] = Placement::replicated(readers.of(int(i)));
    }
    Division division(graph, table, plan);
    for (size_t i = 0, stays = 0; i < parts.size(); ++i) {
        if (homes[i]) {
            division.settle(parts[i], *homes[i]);
            continue;
        }
        const Group& group = plan.group(parts[i].layer);
        if (group.size() > 1)
            division.divide(parts[i], group, choice.cuts[stays], choice.shares[stays]);
        ++stays;
    }
    return plan;
}

LocalSize local_size(const Value& value, const Placement& anchor, int device) {
    LocalSize size{.rows = 1, .columns = 1};
    if (!contains(anchor.group, device)) return {.rows = 0, .columns = 0};
    graph::Shape rows = value.row_axes(), columns = value.column_axes();
    auto extent = [&](Axis axis) {
        return anchor.partition
                   ? anchor.partition->range(anchor.partition->member(device), axis).size()
                   : axis->extent;
    };
    for (Axis axis : columns) size.columns *= extent(axis);
    for (size_t i = 0; i < rows.size(); ++i)
        (value.use == Use::Experts && i == 0 ? size.matrices : size.rows) *= extent(rows[i]);
    if (size.columns == 0 || size.matrices == 0) size.rows = 0;
    return size;
}

int64_t local_bytes(const Value& value, const Placement& anchor, int device,
                    const DeviceTable& table) {
    LocalSize size = local_size(value, anchor, device);
    if (size.rows == 0) return 0;
    if (value.kind == Kind::Weight)
        if (auto* d = table.devices[size_t(device)].device)
            return d->packed_bytes(value.dtype, value.use, size.matrices, size.rows, size.columns);
    return size.matrices * size.rows * gguf::row_bytes(value.dtype, size.columns);
}

namespace {

std::vector<int64_t> bytes_of(Kind kind, const Graph& graph, const Plan& plan,
                              const DeviceTable& table) {
    std::vector<int64_t> sums(table.size(), 0);
    for (size_t i = 0; i < graph.values().size(); ++i) {
        if (graph.value(int(i)).kind != kind) continue;
        for (int device : plan.anchors[i].group)
            sums[size_t(device)] +=
                local_bytes(graph.value(int(i)), plan.anchors[i], device, table);
    }
    return sums;
}

}  // namespace

std::vector<int64_t> weight_bytes(const Graph& graph, const Plan& plan, const DeviceTable& table) {
    return bytes_of(Kind::Weight, graph, plan, table);
}

std::vector<int64_t> state_bytes(const Graph& graph, const Plan& plan, const DeviceTable& table) {
    return bytes_of(Kind::State, graph, plan, table);
}

}  // namespace tandem::parallel
