#include "parallel/home.h"

#include <algorithm>
#include <regex>

#include "gguf/error.h"

namespace tandem::parallel {

using graph::Graph;
using graph::Kind;
using graph::Value;

namespace {

// Weights by their tensors' names.
class Names {
  public:
    explicit Names(const Home& home) try : pattern_(home.pattern), blocks_(home.blocks) {
    } catch (const std::regex_error&) {
        throw Error(home.asked_by + ": \"" + home.pattern + "\" is no regular expression");
    }

    bool have(const Value& value) const {
        return value.kind == Kind::Weight && value.layer < blocks_ &&
               std::regex_search(value.rows.tensor, pattern_);
    }
    bool have_any_of(const Graph& graph, const Part& part) const {
        return std::ranges::any_of(part.values,
                                   [&](int value) { return have(graph.value(value)); });
    }

  private:
    std::regex pattern_;
    int64_t blocks_;
};

[[noreturn]] void throw_nothing_to_move(const Graph& graph, const Home& home, const Names& names) {
    for (const Value& value : graph.values())
        if (names.have(value))
            throw Error(home.asked_by + ": " + value.rows.tensor +
                        " stays with its layer, and so do all weights of that name: only what can "
                        "be cut has a home of its own");
    throw Error(home.asked_by + ": no weight of the model has \"" + home.pattern +
                "\" in its name; tandem inspect shows their names");
}

}  // namespace

std::vector<const Home*> homes_of(const Graph& graph, std::span<const Part> parts,
                                  std::span<const Home> homes) {
    std::vector<const Home*> of_parts(parts.size(), nullptr);
    for (const Home& home : homes) {
        const Names names(home);
        bool any = false;
        for (size_t i = 0; i < parts.size(); ++i) {
            if (!names.have_any_of(graph, parts[i])) continue;
            any = true;
            if (!of_parts[i]) of_parts[i] = &home;
        }
        if (!any && !home.optional) throw_nothing_to_move(graph, home, names);
    }
    return of_parts;
}

}  // namespace tandem::parallel
