#include "graph/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tandem::graph {

std::vector<double> rope_angles(const Rope& rope, const std::vector<float>& factors) {
    std::vector<double> angles(size_t(rope.dims / 2));
    for (size_t i = 0; i < angles.size(); ++i) {
        double angle = std::pow(rope.base, -2.0 * double(i) / rope.dims);
        if (!factors.empty()) angle /= factors[i];
        double ramp = (double(i) - rope.low) / std::max(0.001, rope.high - rope.low);
        double keep = rope.extrapolation * (1 - std::clamp(ramp, 0.0, 1.0));
        angles[i] = angle * ((1 - keep) / rope.scale + keep);
    }
    return angles;
}

double yarn_correction(const Rope& rope, double turns, double original_context) {
    return rope.dims * std::log(original_context / (2 * std::numbers::pi * turns)) /
           (2 * std::log(rope.base));
}

}  // namespace tandem::graph
