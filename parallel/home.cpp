#include "parallel/home.h"

#include <algorithm>
#include <regex>

#include "gguf/error.h"
#include "parallel/plan.h"

namespace tandem::parallel {

using graph::Graph;
using graph::Kind;
using graph::Value;

namespace {

// Which weights a home names.
class Pattern {
  public:
    explicit Pattern(const Home& home) try : expression_(home.pattern), blocks_(home.blocks) {
    } catch (const std::regex_error&) {
        throw Error(home.asked_by + ": \"" + home.pattern +
                    "\" cannot be used as a regular expression");
    }

    bool fits(const Value& value) const {
        return value.kind == Kind::Weight && value.layer < blocks_ &&
               std::regex_search(value.rows.tensor, expression_);
    }
    bool fits_any(const Graph& graph, const Part& part) const {
        return std::ranges::any_of(part.values,
                                   [&](int value) { return fits(graph.value(value)); });
    }

  private:
    std::regex expression_;
    int64_t blocks_;
};

[[noreturn]] void throw_nothing_to_move(const Graph& graph, const Home& home,
                                        const Pattern& pattern) {
    for (const Value& value : graph.values())
        if (pattern.fits(value))
            throw Error(home.asked_by + ": " + value.rows.tensor +
                        " stays with its layer, and so do all weights of that name: only what can "
                        "be cut has a home of its own");
    throw Error(home.asked_by + ": no weight that is computed with has \"" + home.pattern +
                "\" in its name; tandem inspect shows the names");
}

}  // namespace

std::vector<const Home*> homes_of(const Graph& graph, std::span<const Part> parts,
                                  std::span<const Home> homes, std::vector<std::string>& idle) {
    std::vector<const Home*> of_parts(parts.size(), nullptr);
    for (const Home& home : homes) {
        const Pattern pattern(home);
        bool named = false, moved = false;
        for (size_t i = 0; i < parts.size(); ++i) {
            if (!pattern.fits_any(graph, parts[i])) continue;
            named = true;
            if (of_parts[i]) continue;
            of_parts[i] = &home;
            moved = true;
        }
        if (!named && !home.optional) throw_nothing_to_move(graph, home, pattern);
        if (!moved)
            idle.push_back(home.asked_by + " moves nothing: " +
                           (named ? "another home before it has all that is cut with what it names"
                                  : "no weight has that name there"));
    }
    return of_parts;
}

Rest::Rest(const Graph& graph, std::span<const Part> all, std::span<const Home* const> homes,
           const DeviceTable& devices, size_t sharing)
    : moved(graph.values().size(), false), table(devices) {
    table.devices.resize(sharing);
    for (size_t i = 0; i < all.size(); ++i) {
        if (!homes[i]) {
            parts.push_back(all[i]);
            continue;
        }
        const Group& group = homes[i]->group;
        for (int value : all[i].values) {
            moved[size_t(value)] = true;
            for (int device : group) {
                if (size_t(device) >= sharing) continue;
                const int64_t bytes =
                    local_bytes(graph.value(value), Placement::replicated({device}), device, table);
                int64_t& free = table.devices[size_t(device)].free_bytes;
                free = std::max<int64_t>(0, free - bytes / int64_t(group.size()));
            }
        }
    }
}

}  // namespace tandem::parallel
