// Asking memory for what is read in order, in two steps: the nearest cache has too few requests
// under way to cover the way from memory, so the next one asks first.
//
// A Zen 5, which has AVX512-BF16 and no AMX, follows streams itself: there one step is faster than
// two.
#pragma once

#include <cstdint>

namespace tandem::kernels::cpu::TANDEM_ISA {

// How far in front of its use, in bytes.
constexpr int64_t near_ahead = 2048, far_ahead = 8192;

[[gnu::always_inline]] inline void prefetch_near(const uint8_t* at) {
    __builtin_prefetch(at, 0, 3);
}
[[gnu::always_inline]] inline void prefetch_far(const uint8_t* at) { __builtin_prefetch(at, 0, 2); }

// Of a stream whose line at `at` is at work.
[[gnu::always_inline]] inline void prefetch_line(const uint8_t* at) {
#if defined(__AVX512BF16__)
    prefetch_near(at + far_ahead);
#else
    prefetch_far(at + far_ahead);
    prefetch_near(at + near_ahead);
#endif
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
