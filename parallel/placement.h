// Where values are: the vocabulary of the planner. After PyTorch DTensor's three placements, with a
// partition in place of an even division.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/axis.h"

namespace tandem::parallel {

using graph::Axis;

using Group = std::vector<int>;  // device numbers, ascending

bool contains(const Group& group, int device);
bool includes(const Group& group, const Group& part);
Group unite(const Group& a, const Group& b);
std::string to_string(const Group& group);  // "{0,2}"

struct Range {
    int64_t begin = 0, end = 0;
    int64_t size() const { return end - begin; }
    bool operator==(const Range&) const = default;
};

// Bounds of one axis over a group of devices; empty ranges are ordinary. It belongs to the axis, so
// everything that mentions the axis agrees by construction.
struct Partition {
    Axis axis = nullptr;
    // Set where more devices share the axis than it has units: the bounds then count units of
    // axis x inner, and each range is whole units of the axis or lies within one. What mentions
    // only the axis takes the covering range, so that neighbours may hold the same unit.
    Axis inner = nullptr;
    Group group;
    std::vector<int64_t> bounds;  // group.size() + 1, ascending from 0

    size_t member(int device) const;  // its place in the group
    bool divides(Axis a) const { return a == axis || (inner && a == inner); }
    bool empty(size_t member) const { return bounds[member] == bounds[member + 1]; }
    // The part of an axis that a member has: all of it for an axis that is not divided.
    Range range(size_t member, Axis a) const;
    Group owners() const;  // devices whose range is not empty
};

std::string to_string(const Partition& partition);  // "kv_heads 8 = 4 + 4"

struct Placement {
    enum class Kind {
        Replicated,  // all of it on every device of the group
        Split,       // divided by a partition
        Partial      // an addend of all of it on each contributor
    };
    Kind kind = Kind::Replicated;
    Group group;                           // of a Partial: its contributors
    const Partition* partition = nullptr;  // of a Split

    static Placement replicated(Group group) { return {Kind::Replicated, std::move(group)}; }
    static Placement split(const Partition* partition) {
        return {Kind::Split, partition->group, partition};
    }
    static Placement partial(Group contributors) {
        return {Kind::Partial, std::move(contributors)};
    }
    bool operator==(const Placement&) const = default;
};

std::string to_string(const Placement& placement);  // "R{0,1}", "S(blk.0.ffn)", "P{0,1}"

}  // namespace tandem::parallel
