// Mode `graph`: for every part of every layer, how many devices share it and how unevenly.
//
// Minimises the seconds of parallel/cost.h. The residual stream passes from the group of one layer
// to that of the next, so the best groups follow from dynamic programming over the layers; within a
// layer each part takes the members that serve it best. Memory is a bound: devices that would be
// too full get a price per byte, raised until everything fits. Layers that are alike change sides
// at the same price, though, so that some of them go back as far as there is room.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

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

// Where every layer and every part of it is.
struct Mapping {
    double priced = std::numeric_limits<double>::infinity();  // seconds, and what the bytes cost
    std::vector<size_t> groups;                               // [layer + 1]
    std::vector<const Arrangement*> parts;
};

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
            joined.push_back(
                is_in_shared_cache(question.graph, int64_t(layer) - 1, question.moved));
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

    // The best one at these prices.
    Mapping choose() const {
        Mapping mapping;
        bool closed = ends_together();
        std::vector own(parts_of.size(), std::vector<double>(groups.size(), 0.0));
        for (size_t layer = 0; layer < own.size(); ++layer)
            for (size_t g = 0; g < groups.size(); ++g)
                for (size_t part : parts_of[layer]) own[layer][g] += best(part, g).first;
        for (size_t first = 0; first < groups.size(); ++first) {
            auto [sum, chosen] = path(own, first, closed);
            if (sum < mapping.priced) mapping.priced = sum, mapping.groups = chosen;
        }
        for (size_t i = 0; i < question.parts.size(); ++i)
            mapping.parts.push_back(best(i, mapping.groups[layer_of(i)]).second);
        return mapping;
    }

    size_t layer_of(size_t part) const { return size_t(question.parts[part].layer) + 1; }

    double seconds(const Mapping& mapping) const {
        double sum = 0;
        for (const Arrangement* part : mapping.parts) sum += part->seconds;
        for (size_t layer = 1; layer < mapping.groups.size(); ++layer)
            sum += exchange[in_prompts[layer]][mapping.groups[layer - 1]][mapping.groups[layer]];
        return sum;
    }

    // Bytes that the parts put on each device.
    std::vector<double> bytes(const Mapping& mapping) const {
        std::vector<double> sums(question.table.size(), 0.0);
        for (size_t i = 0; i < question.parts.size(); ++i) {
            const Group& group = groups[mapping.groups[layer_of(i)]];
            for (size_t j = 0; j < group.size(); ++j)
                sums[size_t(group[j])] += mapping.parts[i]->shares[j] * costs.load(i).bytes;
        }
        return sums;
    }

    // Devices that do not keep so much of their memory for what is not part of a part.
    std::vector<size_t> too_full(const Mapping& mapping, double kept) const {
        std::vector<size_t> full;
        const std::vector<double> held = bytes(mapping);
        for (size_t i = 0; i < held.size(); ++i)
            if (held[i] > (1 - kept) * double(question.table.devices[i].free_bytes))
                full.push_back(i);
        return full;
    }

    // `mapping` with the layers in [first, last) as they are in `other`.
    Mapping with(Mapping mapping, const Mapping& other, size_t first, size_t last) const {
        for (size_t layer = first; layer < last; ++layer) {
            mapping.groups[layer] = other.groups[layer];
            for (size_t part : parts_of[layer]) mapping.parts[part] = other.parts[part];
        }
        return mapping;
    }

    bool is_whole(const Mapping& mapping) const {
        if (ends_together() && mapping.groups.front() != mapping.groups.back()) return false;
        for (size_t layer = 1; layer < mapping.groups.size(); ++layer)
            if (joined[layer] && mapping.groups[layer] != mapping.groups[layer - 1]) return false;
        return true;
    }

    // The fastest that fits of those between the two: all layers as in one of them but for a row of
    // layers, and perhaps both ends, as in the other. None where none fits.
    std::optional<Mapping> between(const Mapping& one, const Mapping& other, double kept) const {
        std::optional<Mapping> found;
        double least = std::numeric_limits<double>::infinity();
        const size_t end = parts_of.size() - 1;  // the head
        for (bool ends : {false, true})
            for (size_t last = 1; last <= end; ++last) {
                Mapping mapping = with(one, other, 1, last);
                if (ends) mapping = with(with(mapping, other, 0, 1), other, end, end + 1);
                if (!is_whole(mapping) || !too_full(mapping, kept).empty()) continue;
                if (double next = seconds(mapping); next < least) least = next, found = mapping;
            }
        return found;
    }

    // The fastest that was found to leave so much of every device.
    std::optional<Mapping> choose_within(double kept) {
        std::ranges::fill(prices, 0.0);
        // Prices start where holding a part costs a thousandth of computing it.
        double all_seconds = 0, all_bytes = 0;
        for (size_t i = 0; i < question.parts.size(); ++i) {
            all_seconds += costs.alone(i, 0);
            all_bytes += costs.load(i).bytes;
        }
        const double step = all_bytes > 0 ? 1e-3 * all_seconds / all_bytes : 0;
        Mapping mapping = choose(), before = mapping;
        for (int round = 0; round < 32; ++round) {
            const std::vector<size_t> full = too_full(mapping, kept);
            if (full.empty()) break;
            for (size_t device : full) prices[device] = std::max(step, 2 * prices[device]);
            Mapping next = choose();
            if (next.groups == mapping.groups && next.parts == mapping.parts) continue;
            before = std::exchange(mapping, std::move(next));
        }
        return between(mapping, before, kept);
    }

    Choice choice(const Mapping& mapping) const {
        Choice choice;
        for (size_t group : mapping.groups) choice.groups.push_back(groups[group]);
        for (const Arrangement* part : mapping.parts) {
            choice.cuts.push_back(*part->cut);
            choice.shares.push_back(part->shares);
        }
        return choice;
    }
};

}  // namespace

Choice choose_by_cost(const Question& question) {
    Search search(question);
    // A tenth is left for norms, scratch and rounding, or less where that is too much.
    for (double kept : {0.1, 0.03})
        if (const std::optional<Mapping> mapping = search.choose_within(kept))
            return search.choice(*mapping);
    // More devices than two that are alike may all change sides at one price.
    return choose_by_layers(question);
}

}  // namespace tandem::parallel
