#include "kernels/vulkan/turns.h"

#include <cmath>
#include <numbers>

#include "graph/rope.h"

namespace tandem::kernels::vulkan {

namespace {

uint64_t fraction_of_turn(double radians) {
    const double turns = radians / (2 * std::numbers::pi);
    return uint64_t(std::ldexp(turns - std::floor(turns), 64));
}

}  // namespace

Address keep_turns(const Operation& rope, const Site& site) {
    std::vector<float> factors;
    if (rope.inputs[2]) factors = site.vectors.at(rope.inputs[2].value);
    std::vector<uint64_t> turns;
    for (double radians : graph::rope_angles(graph::rope_of(*rope.node), factors))
        turns.push_back(fraction_of_turn(radians));
    return site.keep(std::as_bytes(std::span(turns)));
}

}  // namespace tandem::kernels::vulkan
