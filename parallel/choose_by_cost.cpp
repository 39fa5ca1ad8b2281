// Mode `graph`: for every part of every layer, how many devices share it and how unevenly.
//
// Minimises the seconds of parallel/cost.h. The residual stream passes from the group of one layer
// to that of the next, so the best groups follow from dynamic programming over the layers; within a
// layer each part takes the members that serve it best. Memory is a bound: devices that would be
// too full get a price per byte, raised until everything fits.
#include <algorithm>
#include <limits>
#include <numeric>

#include "parallel/cost.h"
#include "parallel/policy.h"

namespace tandem::parallel {

namespace {

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
