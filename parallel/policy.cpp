#include "parallel/policy.h"

#include <algorithm>
#include <numeric>

#include "gguf/error.h"
#include "parallel/apportion.h"

namespace tandem::parallel {

namespace {

constexpr std::string_view divisible[] = {"kv_heads", "k_heads", "ffn", "experts", "vocab"};

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
        if (value.kind != graph::Kind::Weight || value.layer >= 0) continue;
        for (int node : question.graph.readers(int(i)))
            if (question.graph.nodes()[size_t(node)].layer == question.graph.layers()) return true;
    }
    return false;
}

// A bound between blocks, moved out of runs of blocks that share a cache to the nearer end.
int64_t outside_of_shared_caches(const graph::Graph& graph, int64_t bound) {
    int64_t below = bound, above = bound;
    while (is_in_shared_cache(graph, below)) --below;
    while (is_in_shared_cache(graph, above)) ++above;
    return bound - below <= above - bound ? below : above;
}

}  // namespace

bool is_in_shared_cache(const graph::Graph& graph, int64_t bound) {
    for (size_t i = 0; i < graph.values().size(); ++i) {
        const graph::Value& state = graph.value(int(i));
        if (state.kind != graph::Kind::State || state.layer >= bound) continue;
        for (int reader : graph.readers(int(i)))
            if (graph.nodes()[size_t(reader)].layer >= bound) return true;
    }
    return false;
}

// Blocks in runs, as many on each device as its share; the embedding with the first of them, the
// head with the last. A tied table is one part, so its two layers stay together on the first.
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
    for (int64_t& bound : bounds) bound = outside_of_shared_caches(question.graph, bound);
    std::vector<Group> groups;
    for (size_t device = 0; device < shares.size(); ++device)
        groups.insert(groups.end(), size_t(bounds[device + 1] - bounds[device]), {int(device)});
    Group first = groups.front(), last = groups.back();
    groups.insert(groups.begin(), first);
    groups.push_back(tied(question) ? first : last);
    return whole(question, std::move(groups));
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
    {"layer", "whole layers on one device each", {}, choose_by_layers},
    {"tensor", "every layer cut over all devices by one ratio", divisible, choose_by_ratio},
    {"graph", "every part where it costs least", divisible, choose_graph},
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
