// The activation functions that gated feed-forward networks use, by their usual names.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "gguf/error.h"

namespace tandem::graph::ops {

inline double silu(double x) { return x / (1 + std::exp(-x)); }

inline double gelu(double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

inline auto activation(std::string_view name) -> double (*)(double) {
    if (name == "silu") return silu;
    check(name == "gelu", "an activation is silu or gelu");
    return gelu;
}

inline double silu_of(double gate, double up) { return silu(gate) * up; }
inline double gelu_of(double gate, double up) { return gelu(gate) * up; }
// Not linear in `up`.
inline double clamped_swiglu(double gate, double up) {
    gate = std::min(gate, 7.0);
    return gate / (1 + std::exp(-1.702 * gate)) * (std::clamp(up, -7.0, 7.0) + 1);
}

// What a gated network makes of its two products.
inline auto gated_unit(std::string_view name) -> double (*)(double gate, double up) {
    if (name == "silu") return silu_of;
    if (name == "gelu") return gelu_of;
    check(name == "clamped_swiglu", "a gated unit is silu, gelu or clamped_swiglu");
    return clamped_swiglu;
}

}  // namespace tandem::graph::ops
