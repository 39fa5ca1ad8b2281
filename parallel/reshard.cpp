#include "parallel/reshard.h"

#include <algorithm>

#include "gguf/error.h"

namespace tandem::parallel {

using Kind = Placement::Kind;

Reshard::Reshard(Placed& placed) : placed_(placed) {
    instances_.resize(placed.graph->values().size());
}

int Reshard::add(int value, Placement placement, int view_of) {
    placed_.instances.push_back({value, std::move(placement), view_of});
    int instance = int(placed_.instances.size()) - 1;
    instances_[size_t(value)].push_back(instance);
    return instance;
}

int Reshard::define(int value, Placement placement) {
    check(instances_[size_t(value)].empty(), "a value is defined once");
    return add(value, std::move(placement));
}

bool Reshard::only_addends(int value) const {
    const std::vector<int>& all = instances_[size_t(value)];
    return std::all_of(all.begin(), all.end(), [&](int instance) {
        return placed_.instances[size_t(instance)].placement.kind == Kind::Partial;
    });
}

// An instance that serves as it is: a copy on more devices than asked for serves, too.
int Reshard::known(int value, const Placement& target) const {
    for (int instance : instances_[size_t(value)]) {
        const Placement& has = placed_.instances[size_t(instance)].placement;
        if (has == target) return instance;
        if (has.kind == Kind::Replicated && target.kind == Kind::Replicated &&
            includes(has.group, target.group))
            return instance;
    }
    return -1;
}

void Reshard::exchange(Exchange::Kind kind, const Group& sources, const Group& receivers,
                       bool to_host, Transfer transfer) {
    if (!placed_.steps.empty()) {
        // Neighbouring exchanges of one kind and group are one message.
        auto* last = std::get_if<Exchange>(&placed_.steps.back());
        bool new_head = placed_.steps.size() == placed_.head_begin;
        if (last && !new_head && last->kind == kind && last->sources == sources &&
            last->receivers == receivers && last->to_host == to_host) {
            last->transfers.push_back(transfer);
            return;
        }
    }
    placed_.steps.push_back(Exchange{.kind = kind,
                                     .sources = sources,
                                     .receivers = receivers,
                                     .to_host = to_host,
                                     .transfers = {transfer}});
}

int Reshard::replicate(int value, const Group& group) {
    Placement target = Placement::replicated(group);
    if (int instance = known(value, target); instance >= 0) return instance;
    check(placed_.graph->value(value).kind == graph::Kind::Activation,
          "only activations travel: " + placed_.graph->value(value).name);
    // A whole copy elsewhere is the cheapest source, then the ranges, then the addends.
    for (int instance : instances_[size_t(value)]) {
        const Placement has = placed_.instances[size_t(instance)].placement;
        if (has.kind != Kind::Replicated) continue;
        Group receivers;
        for (int device : group)
            if (!contains(has.group, device)) receivers.push_back(device);
        int nearest = has.group.front();
        for (int device : has.group)
            if (device <= receivers.front()) nearest = device;
        int copy = add(value, Placement::replicated(receivers));
        exchange(Exchange::Kind::Place, {nearest}, receivers, false, {instance, copy});
        if (receivers == group) return copy;
        // Some of the group had it before: both instances together are one.
        int both = add(value, target);
        placed_.instances[size_t(both)].joins = {instance, copy};
        return both;
    }
    int source = instances_[size_t(value)].front();
    const Placement has = placed_.instances[size_t(source)].placement;
    int copy = add(value, target);
    if (has.kind == Kind::Split)
        exchange(Exchange::Kind::Place, has.partition->owners(), group, false, {source, copy});
    else
        exchange(Exchange::Kind::Sum, has.group, group, false, {source, copy});
    return copy;
}

int Reshard::bring(int value, const Placement& target) {
    if (int instance = known(value, target); instance >= 0) return instance;
    check(target.kind != Kind::Partial, "nothing is brought to be an addend");
    if (target.kind == Kind::Replicated) return replicate(value, target.group);
    int whole = replicate(value, target.group);
    return add(value, target, whole);
}

void Reshard::fetch(int value) {
    int instance = instances_[size_t(value)].front();
    Placement has = placed_.instances[size_t(instance)].placement;
    if (has.kind == Kind::Partial) {
        instance = replicate(value, {has.group.front()});
        has = placed_.instances[size_t(instance)].placement;
    }
    Group sources = has.kind == Kind::Split ? has.partition->owners() : Group{has.group.front()};
    exchange(Exchange::Kind::Place, sources, {}, true, {instance, -1});
}

}  // namespace tandem::parallel
