// Codes of a few bits as packed blocks have them: b bits of 32 elements take 4 b bytes, of which
// byte k holds elements k, k + 4 b, k + 8 b and so on, the first in its lowest bits.
#pragma once

#include <cstdint>
#include <cstring>

namespace tandem::kernels::cpu {

// From 32 bytes that have those of an element each, from bit `shift` on: eight bytes at a time.
template <int bits>
inline void join_bits(const uint8_t* of_file, int shift, uint8_t* to) {
    constexpr int bytes = 4 * bits, together = bits == 1 ? 2 : bits;
    constexpr uint64_t in_all_bytes = uint64_t(-1) / 255, mask = in_all_bytes * ((1 << bits) - 1);
    for (int k = 0; k < bytes; k += 8) {
        uint64_t joined = 0;
        for (int i = 0; i < 8 / together; ++i) {
            uint64_t word;
            std::memcpy(&word, of_file + k + i * 4 * together, sizeof word);
            joined |= (word >> shift & mask) << together * i;
        }
        if (bits == 1) joined |= joined >> 31;  // elements 4 to 7 lie in the upper four bytes
        std::memcpy(to + k, &joined, bits == 1 ? 4 : 8);
    }
}

// Back to where they were, which are zeros.
template <int bits>
inline void part_bits(const uint8_t* joined, int shift, uint8_t* of_file) {
    constexpr int bytes = 4 * bits, mask = (1 << bits) - 1;
    for (int i = 0; i < 32; ++i)
        of_file[i] =
            uint8_t(of_file[i] | (joined[i % bytes] >> bits * (i / bytes) & mask) << shift);
}

}  // namespace tandem::kernels::cpu
