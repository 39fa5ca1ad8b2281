// Asking memory for what is read in order, in two steps: the nearest cache has too few requests
// under way to cover the way from memory, so the next one asks first.
//
// Processors with AVX512-BF16 and without AMX (Zen 4 and 5) follow a stream that is read line after
// line themselves: there one step is faster than two (decode of Q4_0 and Q8_0 by 4 to 15 %).
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
    prefetch_near(at + 2 * near_ahead);
#else
    prefetch_far(at + far_ahead);
    prefetch_near(at + near_ahead);
#endif
}

// The same where all of a large block is read from its first part on: the next one's must be there.
[[gnu::always_inline]] inline void prefetch_line_of_block(const uint8_t* at, int64_t block_bytes) {
    prefetch_far(at + block_bytes + 2 * far_ahead);
    prefetch_near(at + block_bytes + near_ahead);
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
