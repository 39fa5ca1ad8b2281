#include "kernels/vulkan/turns.h"

#include <cmath>
#include <numbers>

#include "gguf/error.h"
#include "graph/rope.h"

namespace tandem::kernels::vulkan {

namespace {

uint64_t fraction_of_turn(double radians) {
    const double turns = radians / (2 * std::numbers::pi);
    // A little less than a whole turn is rounded to one.
    const double fraction = turns - std::floor(turns);
    return fraction < 1 ? uint64_t(std::ldexp(fraction, 64)) : 0;
}

}  // namespace

Address keep_turns(const Operation& rope, const Site& site) {
    std::vector<float> factors;
    if (rope.inputs[2]) factors = site.vectors.at(rope.inputs[2].value);
    std::vector<uint64_t> turns;
    for (double radians : graph::rope_angles(graph::rope_of(*rope.node), factors)) {
        if (!std::isfinite(radians))
            throw Error(
                (factors.empty() ? "the model's rotary embedding"
                                 : rope.node->inputs[2]->rows.tensor) +
                " makes an angle that is no finite number, as factors of 0 or NaN do; the file is "
                "damaged");
        turns.push_back(fraction_of_turn(radians));
    }
    return site.keep(std::as_bytes(std::span(turns)));
}

}  // namespace tandem::kernels::vulkan
