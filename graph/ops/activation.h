// The activation functions that gated feed-forward networks use, by their usual names.
#pragma once

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

}  // namespace tandem::graph::ops
