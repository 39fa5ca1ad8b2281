// How Q3_K, Q4_K and Q5_K pack the 6 bit scales of their groups into 12 bytes.
#pragma once

#include <cstdint>

namespace tandem::gguf {

// Group j of 16: low halves in the nibbles of bytes 0 to 7, high bits in pairs in bytes 8 to 11.
inline int q3_k_scale(const uint8_t* packed, int j) {
    const int low = (packed[j % 8] >> (4 * (j / 8))) & 15;
    const int high = (packed[8 + j % 4] >> (2 * (j / 4))) & 3;
    return low | high << 4;
}

// Adds a scale to bytes that were zero.
inline void put_q3_k_scale(uint8_t* packed, int j, int scale) {
    packed[j % 8] |= uint8_t((scale & 15) << (4 * (j / 8)));
    packed[8 + j % 4] |= uint8_t((scale >> 4) << (2 * (j / 4)));
}

struct ScaleAndMinimum {
    int scale;
    int minimum;
};

// Group j of 8: the first four in the low bits of bytes 0 to 7; the others have their low halves in
// the nibbles of bytes 8 to 11, their high bits on top of the first four.
inline ScaleAndMinimum q4_k_scale(const uint8_t* packed, int j) {
    if (j < 4) return {packed[j] & 63, packed[j + 4] & 63};
    return {(packed[j + 4] & 15) | (packed[j - 4] >> 6) << 4,
            (packed[j + 4] >> 4) | (packed[j] >> 6) << 4};
}

}  // namespace tandem::gguf
