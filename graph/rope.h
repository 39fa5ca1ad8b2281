// Parameters of rotary position embeddings (Su et al. 2021), with YaRN (Peng et al. 2023).
#pragma once

#include <vector>

namespace tandem::graph {

struct Node;

// Pair i of the first `dims` elements of a head turns by position * angle(i); the rest stays.
struct Rope {
    int dims = 0;          // rotated elements, even
    double base = 10000;   // angle(i) = base^(-2i/dims) before scaling
    bool halves = false;   // pairs (i, i + dims/2), else neighbours (2i, 2i + 1)
    double scale = 1;      // angles are divided by it (linear scaling, or YaRN's long wavelengths)
    double magnitude = 1;  // of cos and sin
    // YaRN: pairs below `low` keep their angle, those above `high` are divided by `scale`, with a
    // ramp between; `extrapolation` 0 divides them all.
    double extrapolation = 0, low = 0, high = 0;

    bool operator==(const Rope&) const = default;
};

// Radians per position of each pair, scaling included. `factors` (empty or one per pair) divide the
// angles first, as rope_freqs.weight does.
std::vector<double> rope_angles(const Rope& rope, const std::vector<float>& factors);

// The parameters of a rope node.
Rope rope_of(const Node& node);

// The pair index at which a YaRN ramp begins or ends for `turns` (beta) rotations over the original
// context.
double yarn_correction(const Rope& rope, double turns, double original_context);

}  // namespace tandem::graph
