// How much memory a device reads where the rate of its reads is measured.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tandem::kernels {

// `wanted`, more than caches hold, or else a quarter of what is free in whole pieces, one at least.
inline int64_t measured_bytes(int64_t wanted, int64_t free_bytes) {
    constexpr int64_t piece = int64_t(16) << 20;
    return std::min(wanted, std::max<int64_t>(free_bytes / 4 / piece, 1) * piece);
}

}  // namespace tandem::kernels
