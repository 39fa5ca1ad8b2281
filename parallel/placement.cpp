#include "parallel/placement.h"

#include <algorithm>

#include "gguf/error.h"

namespace tandem::parallel {

bool contains(const Group& group, int device) {
    return std::find(group.begin(), group.end(), device) != group.end();
}

bool includes(const Group& group, const Group& part) {
    return std::includes(group.begin(), group.end(), part.begin(), part.end());
}

Group unite(const Group& a, const Group& b) {
    Group all;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
}

std::string to_string(const Group& group) {
    std::string text = "{";
    for (int device : group) text += (text.size() > 1 ? "," : "") + std::to_string(device);
    return text + "}";
}

size_t Partition::member(int device) const {
    auto found = std::find(group.begin(), group.end(), device);
    check(found != group.end(), "the device belongs to the group of the partition");
    return size_t(found - group.begin());
}

Range Partition::range(size_t member, Axis a) const {
    if (!divides(a)) return {0, a->extent};
    int64_t begin = bounds[member], end = bounds[member + 1];
    if (!inner) return {begin, end};
    int64_t per_unit = inner->extent;
    if (begin == end) return {0, 0};
    if (a == axis) return {begin / per_unit, (end + per_unit - 1) / per_unit};
    bool within_one = end - begin < per_unit;
    if (!within_one) return {0, per_unit};
    return {begin % per_unit, begin % per_unit + (end - begin)};
}

Group Partition::owners() const {
    Group owners;
    for (size_t i = 0; i < group.size(); ++i)
        if (!empty(i)) owners.push_back(group[i]);
    return owners;
}

std::string to_string(const Partition& partition) {
    std::string text(role(partition.axis));
    if (partition.inner) text += " x " + std::string(role(partition.inner));
    text += " " + std::to_string(partition.bounds.back()) + " =";
    for (size_t i = 0; i < partition.group.size(); ++i)
        text +=
            (i > 0 ? " + " : " ") + std::to_string(partition.bounds[i + 1] - partition.bounds[i]);
    return text;
}

std::string to_string(const Placement& placement) {
    switch (placement.kind) {
        case Placement::Kind::Replicated:
            return "R" + to_string(placement.group);
        case Placement::Kind::Partial:
            return "P" + to_string(placement.group);
        case Placement::Kind::Split:
            return "S(" + placement.partition->axis->name + ")";
    }
    return {};
}

}  // namespace tandem::parallel
