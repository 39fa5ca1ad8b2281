#include "parallel/part.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "gguf/error.h"

namespace tandem::parallel {

using graph::Graph;
using graph::Kind;
using graph::Shape;
using graph::Value;

namespace {

// Axes that share a weight or a state, as a forest.
class Connected {
  public:
    Axis root(Axis axis) {
        auto parent = parents_.try_emplace(axis, axis).first->second;
        return parent == axis ? axis : root(parent);
    }
    void join(Axis a, Axis b) { parents_[root(a)] = root(b); }

  private:
    std::map<Axis, Axis> parents_;
};

// Raises the grain of `cut` to what one weight's blocks demand.
void respect_blocks(Cut& cut, const Value& weight) {
    Shape columns = weight.column_axes();
    Axis cut_axis = cut.inner ? cut.inner : cut.axis;
    int at = find(columns, cut_axis);
    if (at < 0) return;
    int64_t block = gguf::traits(weight.dtype).block, stride = 1;
    for (size_t i = size_t(at) + 1; i < columns.size(); ++i) stride *= columns[i]->extent;
    int64_t grain = block / std::gcd(block, stride);
    // The runs of an axis that is not the outermost begin at multiples of its whole extent, too.
    size_t outermost = size_t(find(columns, cut.axis));
    int64_t whole = stride * cut.extent();
    if (outermost > 0 && whole % block != 0) grain = cut.extent();
    grain = std::lcm(cut.grain, grain);
    if (grain == cut.grain) return;
    cut.grain = std::min(grain, cut.extent());
    cut.obstacle = weight.rows.tensor + " has blocks of " + std::to_string(block) + " (" +
                   std::string(gguf::name(weight.dtype)) + ") in rows of " +
                   std::to_string(elements(columns));
}

std::vector<Cut> cuts_of(const Graph& graph, const std::vector<int>& values, Axis axis) {
    std::vector<Cut> cuts{{.axis = axis}};
    // Where several queries share a key head, more devices than heads divide the queries.
    for (int value : values)
        for (Axis other : graph.value(value).shape)
            if (role(axis) == "kv_heads" && role(other) == "q_per_kv" && cuts.size() == 1 &&
                other->extent > 1)
                cuts.push_back({.axis = axis, .inner = other});
    for (Cut& cut : cuts)
        for (int value : values)
            if (graph.value(value).kind == Kind::Weight) respect_blocks(cut, graph.value(value));
    return cuts;
}

}  // namespace

std::vector<Part> find_parts(const Graph& graph, std::span<const std::string_view> roles) {
    auto divisible = [&](Axis axis) {
        return std::find(roles.begin(), roles.end(), role(axis)) != roles.end();
    };
    Connected connected;
    for (const Value& value : graph.values()) {
        if (value.kind != Kind::Weight && value.kind != Kind::State) continue;
        Axis last = nullptr;
        for (Axis axis : value.shape) {
            if (!divisible(axis)) continue;
            if (last) connected.join(axis, last);
            last = axis;
        }
    }
    std::vector<Part> parts;
    std::map<Axis, size_t> part_of;
    std::vector<Shape> axes;  // of each part
    for (size_t i = 0; i < graph.values().size(); ++i) {
        const Value& value = graph.value(int(i));
        if (value.kind != Kind::Weight && value.kind != Kind::State) continue;
        for (Axis axis : value.shape) {
            if (!divisible(axis)) continue;
            auto [found, added] = part_of.try_emplace(connected.root(axis), parts.size());
            if (added) {
                parts.push_back({.layer = value.layer});
                axes.emplace_back();
            }
            Part& part = parts[found->second];
            if (part.values.empty() || part.values.back() != int(i)) part.values.push_back(int(i));
            if (!contains(axes[found->second], axis)) axes[found->second].push_back(axis);
        }
    }
    for (size_t i = 0; i < parts.size(); ++i) {
        for (std::string_view wanted : roles)
            for (Axis axis : axes[i])
                if (role(axis) == wanted)
                    for (Cut& cut : cuts_of(graph, parts[i].values, axis))
                        parts[i].cuts.push_back(std::move(cut));
        parts[i].name = parts[i].cuts[0].axis->name;
    }
    return parts;
}

const Cut& best_cut(const Part& part, size_t devices) {
    check(!part.cuts.empty(), "a part has an axis that can be cut");
    const Cut* best = &part.cuts[0];
    for (const Cut& cut : part.cuts) {
        if (cut.units() >= int64_t(devices)) return cut;
        if (cut.units() > best->units()) best = &cut;
    }
    return *best;
}

}  // namespace tandem::parallel
