// Codes of a few bits as packed blocks have them: b bits of 32 elements take 4 b bytes, of which
// byte k holds elements k, k + 4 b, k + 8 b and so on, the first in its lowest bits.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tandem::kernels::cpu {

// From 32 bytes that have those of an element each, from bit `shift` on: as many bytes at a time as
// a word has.
template <int bits>
inline void join_bits(const uint8_t* of_file, int shift, uint8_t* to) {
    using Word = std::conditional_t<bits == 1, uint32_t, uint64_t>;
    constexpr int bytes = 4 * bits;
    constexpr Word in_all_bytes = Word(-1) / 255, mask = in_all_bytes * ((1 << bits) - 1);
    for (int k = 0; k < bytes; k += int(sizeof(Word))) {
        Word joined = 0;
        for (int i = 0; i < 8 / bits; ++i) {
            Word word;
            std::memcpy(&word, of_file + k + i * bytes, sizeof word);
            joined |= (word >> shift & mask) << bits * i;
        }
        std::memcpy(to + k, &joined, sizeof joined);
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
