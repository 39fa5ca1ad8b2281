#include "kernels/cpu/chain.h"

#include <algorithm>

#include "kernels/cpu/forms.h"

namespace tandem::kernels::cpu {

namespace {

bool of_tokens(const graph::View& view) {
    return !view.axes.empty() && view.axes[0]->live() && view.axes[0]->name == "tokens";
}

// Memory of an activation, and how far apart tokens lie.
struct Place {
    const std::byte *begin = nullptr, *end = nullptr;
    int64_t stride = 0;  // elements; -1: tiles of tokens, or a whole value

    bool overlaps(const Place& other) const { return begin < other.end && other.begin < end; }
    bool same_rows(const Place& other) const {
        return begin == other.begin && stride == other.stride && stride > 0;
    }
};

bool is_activation(const Operand& operand) {
    return operand.where == Where::Arena || operand.where == Where::Sending ||
           operand.where == Where::Landing;
}

Place place_of(const Operand& operand, const Site& site) {
    const graph::View view = site.view(operand);
    int64_t last = 0;
    for (size_t i = 0; i < view.extents.size(); ++i)
        last += (view.extents[i] - 1) * view.strides[i];
    return {view.data, view.data + (last + 1) * 4, of_tokens(view) ? view.strides[0] : -1};
}

// What a form takes is less than f32 rows of whole tiles and blocks.
Place place_of_form(const Operand& operand, const Site& site) {
    const graph::View view = site.view(operand);
    const int64_t bytes = tiles_of(view.extents[0]) * tile_tokens *
                          ((columns_of(view) + 255) / 256 + 1) * 256 * int64_t(sizeof(float));
    return {view.data, view.data + bytes, -1};
}

// What a launch reads and writes of activations.
struct Places {
    std::vector<Place> read, written;

    // Whether it may run for some tokens before `earlier` has run for all: it writes nothing there
    // but over the same tokens' rows.
    bool may_follow(const Places& earlier) const {
        for (const Place& to : written)
            for (const auto* places : {&earlier.read, &earlier.written})
                for (const Place& place : *places)
                    if (to.overlaps(place) && !to.same_rows(place)) return false;
        return true;
    }
};

bool by_tokens(const Launch& launch) {
    if (!kernel_table()[size_t(launch.kernel->number)]->by_tokens) return false;
    // Where a value has tokens at all, they are its rows.
    auto in_order = [](const graph::View& view) {
        return of_tokens(view) || std::none_of(view.axes.begin(), view.axes.end(),
                                               [](graph::Axis axis) { return axis->live(); });
    };
    for (const Operation& operation : launch.operations) {
        if (!of_tokens(operation.output.view)) return false;
        for (const Operand& input : operation.inputs)
            if (input && !in_order(input.view)) return false;
    }
    return true;
}

bool of_few(const Launch& launch) { return !in_tiles(launch.operations[0].output.view); }

// Of a few tokens with long rows. All members together have more to save than by not meeting.
bool is_divided(const Launch& launch) {
    constexpr int64_t most_columns = 8192;
    return of_few(launch) &&
           std::any_of(launch.operations.begin(), launch.operations.end(),
                       [](const Operation& operation) {
                           return columns_of(operation.output.view) > most_columns;
                       });
}

// Of one token, which is one member's, who does one launch after another.
bool of_one(const Launch& launch) {
    return std::all_of(
        launch.operations.begin(), launch.operations.end(),
        [](const Operation& operation) { return operation.output.view.extents[0] == 1; });
}

Places places_of(const Launch& launch, const Site& site) {
    Places places;
    for (const Operation& operation : launch.operations) {
        for (const Operand& input : operation.inputs)
            if (is_activation(input)) places.read.push_back(place_of(input, site));
        places.written.push_back(operation.node ? place_of(operation.output, site)
                                                : place_of_form(operation.output, site));
    }
    return places;
}

}  // namespace

std::vector<Chain> chains_of(std::span<const Launch> launches, const Site& site) {
    std::vector<Chain> chains;
    std::vector<Places> links;  // of the last chain
    for (size_t i = 0; i < launches.size(); ++i) {
        const Launch& launch = launches[i];
        if (!by_tokens(launch) || is_divided(launch)) {
            chains.push_back({.first = i, .last = i + 1});
            continue;
        }
        const bool few = of_few(launch);
        const Places places = places_of(launch, site);
        bool follows = !chains.empty() && chains.back().by_tokens && chains.back().of_few == few;
        for (size_t link = 0; follows && link < links.size(); ++link)
            follows = of_one(launch) || places.may_follow(links[link]);
        if (!follows) {
            chains.push_back({.first = i, .last = i, .by_tokens = true, .of_few = few});
            links.clear();
        }
        chains.back().last = i + 1;
        links.push_back(places);
    }
    return chains;
}

}  // namespace tandem::kernels::cpu
