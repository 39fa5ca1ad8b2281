#include "parallel/cost.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "parallel/plan.h"
#include "parallel/work.h"

namespace tandem::parallel {

using graph::Graph;
using graph::Use;
using graph::Value;

namespace {

constexpr double prompt_tokens = 4;

// Bytes that the device which needs most room for it keeps.
double held_bytes(const Value& value, const DeviceTable& table) {
    Placement whole = Placement::replicated({0});
    int64_t most = 0;
    for (size_t i = 0; i < table.size(); ++i) {
        whole.group = {int(i)};
        most = std::max(most, local_bytes(value, whole, int(i), table));
    }
    return double(most);
}

// `alone`: everything on device 0.
Load load_of(const Question& question, const Part& part, const Plan& alone) {
    const Graph& graph = question.graph;
    Load load;
    std::set<int> nodes;
    for (int number : part.values) {
        const Value& value = graph.value(number);
        load.bytes += held_bytes(value, question.table);
        for (int reader : graph.readers(number)) nodes.insert(reader);
    }
    Work token, body;
    for (int number : nodes) {
        const Work work = work_of(graph.nodes()[size_t(number)], alone, 0);
        token += work;
        if (size_t(number) < graph.head_begin()) body += work;
    }
    load.in_prompts = !nodes.empty() && size_t(*nodes.begin()) < graph.head_begin();
    const double cached = double(question.options.context) / 2;
    load.decode_bytes = token.bytes + cached * token.cached_bytes;
    load.multiply_adds = token.multiply_adds + cached * token.cached_multiply_adds;
    load.step_bytes =
        body.bytes_of_step(double(question.options.bucket)) + cached * body.cached_bytes;
    load.prompt_multiply_adds = body.multiply_adds + cached * body.cached_multiply_adds;
    for (int number : part.values)
        if (graph.value(number).use == Use::Experts)
            load.experts_used =
                std::round(token.expert_share * double(graph.value(number).shape[0]->extent));
    return load;
}

double choose(double n, double k) {
    return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1));
}

// P(at most `most` of `draws` fall to a device that has `share` of the experts).
double at_most(double most, double draws, double share) {
    double sum = 0;
    for (double k = 0; k <= std::min(most, draws); ++k)
        sum += choose(draws, k) * std::pow(share, k) * std::pow(1 - share, draws - k);
    return std::min(sum, 1.0);
}

}  // namespace

Costs::Costs(const Question& question) : question_(question) {
    Plan alone;
    alone.anchors.assign(question.graph.values().size(), Placement::replicated({0}));
    for (const Part& part : question.parts) loads_.push_back(load_of(question, part, alone));
    // The first node makes the residual stream, [tokens embd].
    stream_bytes_ = 4.0 * double(question.graph.nodes()[0].output.shape().back()->extent);
}

double Costs::alone(size_t part, int device) const {
    const DeviceRow& row = question_.table.devices[size_t(device)];
    const Load& load = loads_[part];
    double bytes =
        load.decode_bytes + prompt_tokens * load.step_bytes / double(question_.options.bucket);
    return bytes / std::max(1.0, row.bytes_per_second) +
           (load.multiply_adds + prompt_tokens * load.prompt_multiply_adds) /
               std::max(1.0, row.multiply_adds_per_second);
}

double Costs::exchange(const Group& from, const Group& to, bool in_prompts) const {
    if (includes(from, to)) return 0;
    return between(unite(from, to), in_prompts);
}

double Costs::reduce(const Group& contributors, const Group& group, bool in_prompts) const {
    if (group.size() == 1 && contributors == group) return 0;
    return between(unite(contributors, group), in_prompts);
}

std::vector<Arrangement> Costs::arrangements(size_t part, const Group& group,
                                             const std::vector<Group>& subsets) const {
    std::vector<Arrangement> all;
    for (const Group& sharing : subsets) {
        if (!includes(group, sharing)) continue;
        for (const Cut& cut : question_.parts[part].cuts)
            if (sharing.size() == 1) {
                all.push_back(arrange(part, cut, group, sharing, false));
            } else if (cut.units() >= int64_t(sharing.size())) {
                for (bool by_memory : {false, true})
                    all.push_back(arrange(part, cut, group, sharing, by_memory));
            }
    }
    return all;
}

double Costs::between(const Group& group, bool in_prompts) const {
    double seconds = 0, rate = std::numeric_limits<double>::infinity();
    for (int a : group)
        for (int b : group) {
            if (a == b) continue;
            const Link& link = question_.table.links[size_t(a)][size_t(b)];
            seconds = std::max(seconds, link.seconds);
            rate = std::min(rate, link.bytes_per_second);
        }
    double bytes = stream_bytes_ * double(group.size() - 1);
    double more = in_prompts ? prompt_tokens : 0;
    double steps = 1 + more / double(question_.options.bucket);
    return steps * seconds + (1 + more) * bytes / rate;
}

Arrangement Costs::arrange(size_t part, const Cut& cut, const Group& group, const Group& sharing,
                           bool by_memory) const {
    const auto weight = [&](int device) {
        return by_memory ? std::max(double(question_.table.devices[size_t(device)].free_bytes), 1.0)
                         : 1 / std::max(alone(part, device), 1e-15);
    };
    Arrangement result{.cut = &cut, .shares = std::vector<double>(group.size(), 0.0)};
    double all = 0;
    for (int device : sharing) all += weight(device);
    for (size_t i = 0; i < group.size(); ++i)
        if (contains(sharing, group[i])) result.shares[i] = weight(group[i]) / all;
    result.seconds =
        slowest(part, cut, group, result.shares) + reduce(sharing, group, in_prompts(part));
    return result;
}

double Costs::slowest(size_t part, const Cut& cut, const Group& group,
                      const std::vector<double>& shares) const {
    double most = 0;
    for (size_t i = 0; i < group.size(); ++i)
        most = std::max(most, shares[i] * alone(part, group[i]));
    if (role(cut.axis) != "experts") return most;
    // Which experts a token takes is chance: the expected largest load, over the counts that
    // each member may draw, taken as independent.
    double used = loads_[part].experts_used, expected = 0, below = 0;
    for (double units = 1; units <= used * double(group.size()); ++units) {
        double limit = most * units, all_below = 1;
        for (size_t i = 0; i < group.size(); ++i) {
            double per_expert = alone(part, group[i]) / used;
            double count = per_expert > 0 ? std::floor(limit / per_expert + 1e-9) : used;
            all_below *= at_most(count, used, shares[i]);
        }
        expected += limit * (all_below - below);
        below = all_below;
        if (below >= 1 - 1e-12) break;
    }
    return std::max(most, expected);
}

}  // namespace tandem::parallel
