// How blocks pack codes of 1, 2 or 4 bits: `width` bytes hold `width` elements in their lowest
// bits, the next `width` elements above them, and so on until the bytes are full.
#pragma once

#include <cstdint>

namespace tandem::gguf {

// Consecutive elements that share a place in their bytes.
template <int bits>
struct Run {
    const uint8_t* bytes;
    int shift;
    int operator[](int i) const { return (bytes[i] >> shift) & ((1 << bits) - 1); }
};

// The elements from `element` on, up to the next multiple of `width`.
template <int bits, int width = 32>
Run<bits> run(const uint8_t* plane, int element) {
    constexpr int layers = 8 / bits;
    return {plane + width * (element / (width * layers)) + element % width,
            bits * (element / width % layers)};
}

// Adds the code of one element to a plane that was zero there.
template <int bits, int width = 32>
void put_bits(uint8_t* plane, int element, int code) {
    const Run<bits> place = run<bits, width>(plane, element);
    plane[place.bytes - plane] |= uint8_t((code & ((1 << bits) - 1)) << place.shift);
}

// Element i where neighbours share a byte.
inline int nibble(const uint8_t* bytes, int i) { return (bytes[i / 2] >> (4 * (i % 2))) & 15; }

}  // namespace tandem::gguf
