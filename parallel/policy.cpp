#include "parallel/policy.h"

#include <algorithm>
#include <numeric>

#include "gguf/error.h"
#include "parallel/apportion.h"
#include "parallel/plan.h"

namespace tandem::parallel {

namespace {

std::vector<double> normalized(std::vector<double> shares) {
    double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (double& share : shares) share /= sum;
    return shares;
}

// -ts, or else the fallback for each device.
template <typename Fallback>
std::vector<double> ratio(const Question& question, Fallback fallback) {
    if (!question.options.ratio.empty()) return normalized(question.options.ratio);
    std::vector<double> shares;
    for (const DeviceRow& row : question.table.devices) shares.push_back(fallback(row));
    return normalized(shares);
}

size_t layer_count(const Question& question) { return size_t(question.graph.layers()) + 2; }

// Every part whole where its layer is.
Choice whole(const Question& question, std::vector<Group> groups) {
    Choice choice{.groups = std::move(groups)};
    for (const Part& part : question.parts) {
        choice.cuts.push_back(part.cuts[0]);
        choice.shares.push_back({1});
    }
    return choice;
}

Choice choose_one_device(const Question& question) {
    return whole(question,
                 std::vector<Group>(layer_count(question), {question.options.main_device}));
}

// True if the embedding and the head read the same table.
bool tied(const Question& question) {
    for (size_t i = 0; i < question.graph.values().size(); ++i) {
        const graph::Value& value = question.graph.value(int(i));
        if (value.kind != graph::Kind::Weight || value.layer >= 0 || question.moved[i]) continue;
        for (int node : question.graph.readers(int(i)))
            if (question.graph.nodes()[size_t(node)].layer == question.graph.layers()) return true;
    }
    return false;
}

// A bound between blocks, moved out of runs of blocks that share a cache to the nearer end.
int64_t outside_of_shared_caches(const Question& question, int64_t bound) {
    const auto is_inside = [&](int64_t at) {
        return is_in_shared_cache(question.graph, at, question.moved);
    };
    int64_t below = bound, above = bound;
    while (is_inside(below)) --below;
    while (is_inside(above)) ++above;
    return bound - below <= above - bound ? below : above;
}

// Blocks in runs: device i has those from bounds[i] up to bounds[i + 1], the first device that has
// any the embedding, too, and the last one the head. A tied table is one part, so its two layers
// stay together on the first.
class Runs {
  public:
    Runs(const Question& question, std::vector<int64_t> bounds)
        : question_(&question), bounds_(std::move(bounds)), tied_(tied(question)) {
        for (size_t i = 0; i < question.graph.values().size(); ++i) {
            std::vector<int>& layers = readers_.emplace_back();
            if (question.moved[i]) continue;
            const graph::Kind kind = question.graph.value(int(i)).kind;
            if (kind != graph::Kind::Weight && kind != graph::Kind::State) continue;
            for (int node : question.graph.readers(int(i)))
                layers.push_back(question.graph.nodes()[size_t(node)].layer);
        }
    }

    std::vector<Group> groups() const {
        std::vector<Group> groups;
        for (size_t i = 0; i < devices(); ++i)
            groups.insert(groups.end(), size_t(bounds_[i + 1] - bounds_[i]), {int(i)});
        Group first = groups.front(), last = groups.back();
        groups.insert(groups.begin(), first);
        groups.push_back(tied_ ? first : last);
        return groups;
    }

    // Moves as few blocks as it takes from devices that are too full to others. False where the
    // devices have no room for all runs.
    bool relieve() {
        for (size_t i = devices(); --i > 0;)  // to the device before,
            while (is_too_full(i)) move(bounds_[i], 1);
        for (size_t i = 0; i + 1 < devices(); ++i)  // and what is too much there, to those behind
            while (is_too_full(i)) move(bounds_[i + 1], -1);
        return !is_too_full(devices() - 1);
    }

  private:
    size_t devices() const { return bounds_.size() - 1; }

    void move(int64_t& bound, int64_t step) const {
        do bound += step;
        while (is_in_shared_cache(question_->graph, bound, question_->moved));
    }

    // By the weights and states that its layers read.
    bool is_too_full(size_t device) const {
        const std::vector<Group> groups = this->groups();
        const Placement here = Placement::replicated({int(device)});
        int64_t bytes = 0;
        for (size_t i = 0; i < readers_.size(); ++i)
            if (std::ranges::any_of(readers_[i], [&](int layer) {
                    return groups[size_t(layer) + 1] == here.group;
                }))
                bytes += local_bytes(question_->graph.value(int(i)), here, int(device),
                                     question_->table);
        return bytes > question_->table.devices[device].free_bytes;
    }

    const Question* question_;
    std::vector<int64_t> bounds_;
    std::vector<std::vector<int>> readers_;  // [value]: layers; none of what has another home
    bool tied_;
};

}  // namespace

bool is_in_shared_cache(const graph::Graph& graph, int64_t bound, const std::vector<bool>& moved) {
    for (size_t i = 0; i < graph.values().size(); ++i) {
        if (!moved.empty() && moved[i]) continue;
        const graph::Value& state = graph.value(int(i));
        if (state.kind != graph::Kind::State || state.layer >= bound) continue;
        for (int reader : graph.readers(int(i)))
            if (graph.nodes()[size_t(reader)].layer >= bound) return true;
    }
    return false;
}

// Runs of blocks, as many on each device as its share. By memory, a device that this would make too
// full leaves what it cannot hold to others; where there is no room for all, the shares stand.
// Without blocks there is nothing to divide.
Choice choose_by_layers(const Question& question) {
    if (question.graph.layers() < 1) return choose_one_device(question);
    std::vector<double> shares = ratio(question, [](const DeviceRow& row) {
        return double(std::max<int64_t>(1, row.free_bytes));
    });
    Cut blocks;
    graph::AxisDefinition axis{"blocks", question.graph.layers()};
    blocks.axis = &axis;
    std::vector<double> carry(shares.size(), 0.0);
    std::vector<int64_t> bounds = apportion(blocks, shares, carry);
    for (int64_t& bound : bounds) bound = outside_of_shared_caches(question, bound);
    const Runs by_share(question, std::move(bounds));
    Runs relieved = by_share;
    const bool fits = question.options.ratio.empty() && relieved.relieve();
    return whole(question, (fits ? relieved : by_share).groups());
}

namespace {

// Every part over all devices by one ratio, but for those with a share of 0: they would only wait.
Choice choose_by_ratio(const Question& question) {
    std::vector<double> shares = ratio(question, [](const DeviceRow&) { return 1.0; });
    Group sharing;
    for (size_t device = 0; device < shares.size(); ++device)
        if (shares[device] > 0) sharing.push_back(int(device));
    std::erase(shares, 0.0);
    Choice choice{.groups = std::vector<Group>(layer_count(question), sharing)};
    for (const Part& part : question.parts) {
        choice.cuts.push_back(best_cut(part, sharing.size()));
        choice.shares.push_back(shares);
    }
    return choice;
}

Choice choose_graph(const Question& question) {
    return question.options.ratio.empty() ? choose_by_cost(question) : choose_by_ratio(question);
}

constexpr Policy table[] = {
    {"none", "one device", {}, choose_one_device},
    {"layer", "whole layers on one device each", {}, choose_by_layers, true},
    {"tensor", "every layer cut over all devices by one ratio", divisible_roles, choose_by_ratio},
    {"graph", "every part where it costs least", divisible_roles, choose_graph, true},
};

}  // namespace

std::span<const Policy> policies() { return table; }

const Policy& find_policy(std::string_view name) {
    std::string known;
    for (const Policy& policy : table) {
        if (policy.name == name) return policy;
        known += (known.empty() ? "" : ", ") + std::string(policy.name);
    }
    throw Error("split mode \"" + std::string(name) + "\" does not exist; choose one of " + known);
}

}  // namespace tandem::parallel
