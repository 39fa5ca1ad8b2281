// Asking memory for what is read in order, in two steps: the nearest cache has too few requests
// under way to cover the way from memory, so the next one asks first.
//
// Processors with AVX512-BF16 and no AMX but Zen 4 are taken for a Zen 5, which looks ahead itself:
// there one step is faster than two. A Zen 4, likewise, follows a stream that one or two tokens
// pass, and asking for more takes time from what is under way; more tokens pass so slowly that it
// looks too short a way ahead, and then the middle cache should ask.
#pragma once

#include <cstdint>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// How far in front of its use, in bytes. At 16 bytes a nanosecond these are 128 and 512 ns: more
// than the way from a farther cache, and from memory.
constexpr int64_t near_ahead = 2048, far_ahead = 8192;

[[gnu::always_inline]] inline void prefetch_near(const uint8_t* at) {
    __builtin_prefetch(at, 0, 3);
}
[[gnu::always_inline]] inline void prefetch_far(const uint8_t* at) { __builtin_prefetch(at, 0, 2); }

// Of a stream that some tokens pass, the line that is read near_ahead later, and one that is read
// far_ahead later.
template <int tokens>
[[gnu::always_inline]] inline void prefetch_lines(const uint8_t* near, const uint8_t* far) {
    if constexpr (!crosses) {
        prefetch_far(far);
        prefetch_near(near);
    } else if (!on_zen4) {
        prefetch_near(far);
    } else if (tokens > 2) {
        prefetch_far(far);
    }
}
// Of a stream whose unpacking takes so long that on a Zen 4 memory must be asked, too.
[[gnu::always_inline]] inline void prefetch_unpacked(const uint8_t* at) {
    if (crosses && !on_zen4) return prefetch_near(at + far_ahead);
    prefetch_far(at + far_ahead);
    prefetch_near(at + near_ahead);
}
// Of a stream whose line at `at` is at work.
template <int tokens>
[[gnu::always_inline]] inline void prefetch_line(const uint8_t* at) {
    prefetch_lines<tokens>(at + near_ahead, at + far_ahead);
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
