// Mode `graph`: for every part of every layer, how many devices share it and how unevenly.
//
// Minimises the seconds of one decoded token at half the context plus those of four prompt tokens
// in steps of the largest size, by the device table. The residual stream passes from the group of
// one layer to that of the next, so the best groups follow from dynamic programming over the
// layers; within a layer each part takes the members that serve it best. Memory is a bound: devices
// that would be too full get a price per byte, raised until everything fits.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "gguf/error.h"
#include "parallel/plan.h"
#include "parallel/policy.h"
#include "parallel/work.h"

namespace tandem::parallel {

using graph::Graph;
using graph::Use;
using graph::Value;

namespace {

constexpr double prompt_tokens = 4;

// What a part asks of the devices that have it.
struct Load {
    double bytes = 0;                 // held: weights and states
    double decode_bytes = 0;          // read for one token
    double step_bytes = 0;            // read once per prompt step
    double multiply_adds = 0;         // for one token
    double prompt_multiply_adds = 0;  // per token of a prompt, which ends where the head begins
    bool in_prompts = false;          // whether anything is done for every token of one
    double experts_used = 0;          // by a token, where it is a mixture
};

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

// One way to run a part within a group: who shares it, and what that costs.
struct Arrangement {
    const Cut* cut = nullptr;
    std::vector<double> shares;  // [member of the group]
    double seconds = 0;
};

class Costs {
  public:
    explicit Costs(const Question& question) : question_(question) {
        Plan alone;
        alone.anchors.assign(question.graph.values().size(), Placement::replicated({0}));
        for (const Part& part : question.parts) loads_.push_back(load_of(question, part, alone));
        // The first node makes the residual stream, [tokens embd].
        stream_bytes_ = 4.0 * double(question.graph.nodes()[0].output.shape().back()->extent);
    }

    const Load& load(size_t part) const { return loads_[part]; }

    // Seconds that the whole part takes on a device, for the token and the prompt tokens.
    double alone(size_t part, int device) const {
        const DeviceRow& row = question_.table.devices[size_t(device)];
        const Load& load = loads_[part];
        double bytes =
            load.decode_bytes + prompt_tokens * load.step_bytes / double(question_.options.bucket);
        return bytes / std::max(1.0, row.bytes_per_second) +
               (load.multiply_adds + prompt_tokens * load.prompt_multiply_adds) /
                   std::max(1.0, row.multiply_adds_per_second);
    }

    bool in_prompts(size_t part) const { return loads_[part].in_prompts; }
    // Bringing one value of the residual stream's size from some devices to others.
    double exchange(const Group& from, const Group& to, bool in_prompts) const {
        if (includes(from, to)) return 0;
        return between(unite(from, to), in_prompts);
    }
    // Adding up what the contributors have, for the whole group.
    double reduce(const Group& contributors, const Group& group, bool in_prompts) const {
        if (group.size() == 1 && contributors == group) return 0;
        return between(unite(contributors, group), in_prompts);
    }

    // The ways to run a part within a group.
    std::vector<Arrangement> arrangements(size_t part, const Group& group,
                                          const std::vector<Group>& subsets) const {
        std::vector<Arrangement> all;
        for (const Group& sharing : subsets) {
            if (!includes(group, sharing)) continue;
            for (const Cut& cut : question_.parts[part].cuts)
                if (sharing.size() == 1 || cut.units() >= int64_t(sharing.size()))
                    all.push_back(arrange(part, cut, group, sharing));
        }
        return all;
    }

  private:
    double between(const Group& group, bool in_prompts) const {
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

    Arrangement arrange(size_t part, const Cut& cut, const Group& group,
                        const Group& sharing) const {
        Arrangement result{.cut = &cut, .shares = std::vector<double>(group.size(), 0.0)};
        double speed = 0;  // parts per second, all together
        for (int device : sharing) speed += 1 / std::max(alone(part, device), 1e-15);
        for (size_t i = 0; i < group.size(); ++i)
            if (contains(sharing, group[i]))
                result.shares[i] = 1 / std::max(alone(part, group[i]), 1e-15) / speed;
        result.seconds =
            slowest(part, cut, group, result.shares) + reduce(sharing, group, in_prompts(part));
        return result;
    }

    // Seconds until the last member is done.
    double slowest(size_t part, const Cut& cut, const Group& group,
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

    const Question& question_;
    std::vector<Load> loads_;
    double stream_bytes_ = 0;
};

// Devices that have room for anything; all where none has, so that one of them can say so.
Group roomy(const DeviceTable& table) {
    Group devices;
    for (size_t i = 0; i < table.size(); ++i)
        if (table.devices[i].free_bytes > 0) devices.push_back(int(i));
    if (!devices.empty()) return devices;
    devices.resize(table.size());
    std::iota(devices.begin(), devices.end(), 0);
    return devices;
}

// Groups worth trying: all for few devices, else each device alone and the fastest 2, 3, ... .
std::vector<Group> candidates(const DeviceTable& table) {
    const Group devices = roomy(table);
    const size_t count = devices.size();
    std::vector<Group> groups;
    if (count <= 4) {
        for (unsigned mask = 1; mask < 1u << count; ++mask) {
            Group group;
            for (size_t i = 0; i < count; ++i)
                if (mask >> i & 1) group.push_back(devices[i]);
            groups.push_back(group);
        }
    } else {
        Group by_speed = devices;
        std::stable_sort(by_speed.begin(), by_speed.end(), [&](int a, int b) {
            return table.devices[size_t(a)].bytes_per_second >
                   table.devices[size_t(b)].bytes_per_second;
        });
        for (int device : devices) groups.push_back({device});
        for (size_t size = 2; size <= count; ++size) {
            Group group(by_speed.begin(), by_speed.begin() + int64_t(size));
            std::sort(group.begin(), group.end());
            groups.push_back(group);
        }
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Group& a, const Group& b) { return a.size() > b.size(); });
    return groups;
}

struct Search {
    const Question& question;
    Costs costs;
    std::vector<Group> groups;
    // [layer + 1]
    std::vector<std::vector<size_t>> parts_of;
    std::vector<bool> in_prompts;  // whether prompts run it for all of their tokens
    std::vector<bool> joined;      // to the layer before, by a cache
    // What does not depend on prices is found once.
    std::vector<std::vector<std::vector<Arrangement>>> arrangements;  // [part][group]
    std::vector<std::vector<double>> exchange[2];                     // [in_prompts][from][to]
    std::vector<double> prices;                                       // [device]: per byte

    explicit Search(const Question& question)
        : question(question),
          costs(question),
          groups(candidates(question.table)),
          prices(question.table.size(), 0.0) {
        parts_of.resize(size_t(question.graph.layers()) + 2);
        for (size_t i = 0; i < question.parts.size(); ++i)
            parts_of[size_t(question.parts[i].layer) + 1].push_back(i);
        for (size_t layer = 0; layer < parts_of.size(); ++layer) {
            in_prompts.push_back(std::ranges::any_of(
                parts_of[layer], [&](size_t part) { return costs.in_prompts(part); }));
            joined.push_back(is_in_shared_cache(question.graph, int64_t(layer) - 1));
        }
        for (size_t part = 0; part < question.parts.size(); ++part) {
            arrangements.emplace_back();
            for (const Group& group : groups)
                arrangements.back().push_back(costs.arrangements(part, group, groups));
        }
        for (bool prompts : {false, true})
            for (const Group& from : groups) {
                exchange[prompts].emplace_back();
                for (const Group& to : groups)
                    exchange[prompts].back().push_back(costs.exchange(from, to, prompts));
            }
    }

    // Seconds of an arrangement and what its bytes cost.
    double price(size_t part, const Group& group, const Arrangement& arrangement) const {
        double sum = arrangement.seconds;
        for (size_t i = 0; i < group.size(); ++i)
            sum += prices[size_t(group[i])] * arrangement.shares[i] * costs.load(part).bytes;
        return sum;
    }

    // The best way to run a part within a group; among equals the one with most devices.
    std::pair<double, const Arrangement*> best(size_t part, size_t group) const {
        std::pair<double, const Arrangement*> found{std::numeric_limits<double>::infinity(),
                                                    &arrangements[part][group].front()};
        for (const Arrangement& arrangement : arrangements[part][group])
            if (double next = price(part, groups[group], arrangement); next < found.first)
                found = {next, &arrangement};
        return found;
    }

    // A part that the embedding and the head both read keeps the two together.
    bool ends_together() const {
        for (size_t part : parts_of[0])
            for (int value : question.parts[part].values)
                for (int reader : question.graph.readers(value))
                    if (question.graph.nodes()[size_t(reader)].layer == question.graph.layers())
                        return true;
        return false;
    }

    // The groups of all layers with the least sum of seconds; `first` fixes the embedding's.
    // `own` holds the seconds of each layer in each group.
    std::pair<double, std::vector<size_t>> path(const std::vector<std::vector<double>>& own,
                                                size_t first, bool closed) const {
        size_t layers = parts_of.size();
        constexpr double never = std::numeric_limits<double>::infinity();
        std::vector best(layers, std::vector<double>(groups.size(), never));
        std::vector from(layers, std::vector<size_t>(groups.size(), 0));
        for (size_t layer = 0; layer < layers; ++layer)
            for (size_t g = 0; g < groups.size(); ++g) {
                if (layer == 0 && g != first) continue;
                if (closed && layer + 1 == layers && g != first) continue;
                if (layer == 0) best[0][g] = own[0][g];
                for (size_t h = 0; layer > 0 && h < groups.size(); ++h) {
                    if (joined[layer] && h != g) continue;
                    double sum =
                        best[layer - 1][h] + exchange[in_prompts[layer]][h][g] + own[layer][g];
                    if (sum < best[layer][g]) best[layer][g] = sum, from[layer][g] = h;
                }
            }
        auto last = std::min_element(best.back().begin(), best.back().end());
        std::vector<size_t> chosen(layers);
        chosen.back() = size_t(last - best.back().begin());
        for (size_t layer = layers; layer-- > 1;) chosen[layer - 1] = from[layer][chosen[layer]];
        return {*last, chosen};
    }

    Choice choose() const {
        std::pair<double, std::vector<size_t>> least{std::numeric_limits<double>::infinity(), {}};
        bool closed = ends_together();
        std::vector own(parts_of.size(), std::vector<double>(groups.size(), 0.0));
        for (size_t layer = 0; layer < own.size(); ++layer)
            for (size_t g = 0; g < groups.size(); ++g)
                for (size_t part : parts_of[layer]) own[layer][g] += best(part, g).first;
        for (size_t first = 0; first < groups.size(); ++first) {
            auto next = path(own, first, closed);
            if (next.first < least.first) least = next;
        }
        Choice choice;
        for (size_t g : least.second) choice.groups.push_back(groups[g]);
        for (size_t i = 0; i < question.parts.size(); ++i) {
            const Arrangement& chosen =
                *best(i, least.second[size_t(question.parts[i].layer) + 1]).second;
            choice.cuts.push_back(*chosen.cut);
            choice.shares.push_back(chosen.shares);
        }
        return choice;
    }

    // Bytes that the parts put on each device.
    std::vector<double> bytes(const Choice& choice) const {
        std::vector<double> sums(question.table.size(), 0.0);
        for (size_t i = 0; i < question.parts.size(); ++i) {
            const Group& group = choice.groups[size_t(question.parts[i].layer) + 1];
            for (size_t j = 0; j < group.size(); ++j)
                sums[size_t(group[j])] += choice.shares[i][j] * costs.load(i).bytes;
        }
        return sums;
    }
};

}  // namespace

Choice choose_by_cost(const Question& question) {
    Search search(question);
    Choice choice = search.choose();
    // Prices start where holding a part costs a thousandth of computing it.
    double seconds = 0, bytes = 0;
    for (size_t i = 0; i < question.parts.size(); ++i) {
        seconds += search.costs.alone(i, 0);
        bytes += search.costs.load(i).bytes;
    }
    double step = bytes > 0 ? 1e-3 * seconds / bytes : 0;
    for (int round = 0; round < 32; ++round) {
        std::vector<double> held = search.bytes(choice);
        bool fits = true;
        for (size_t i = 0; i < held.size(); ++i) {
            // A tenth is left for what is not part of a part: norms, scratch, rounding.
            if (held[i] <= 0.9 * double(question.table.devices[i].free_bytes)) continue;
            fits = false;
            double& price = search.prices[i];
            price = std::max(step, 2 * price);
        }
        if (fits) return choice;
        choice = search.choose();
    }
    // Where layers are alike and exchanges dear, any prices put all of them on one device.
    return choose_by_layers(question);
}

}  // namespace tandem::parallel
