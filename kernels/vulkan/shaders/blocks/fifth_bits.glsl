// Q5_0 and Q5_1 keep the fifth bits of their 32 codes in a word.
#ifndef FIFTH_BITS
#define FIFTH_BITS

// The four bits from `first` on, each at its place above one of four 4-bit codes.
uint fifth_bits(uint word, uint first) {
    return ((((word >> first) & 15u) * 0x00204081u) & 0x01010101u) << 4;
}

// The same for four times four.
uvec4 sixteen_fifth_bits(uint word, uint first) {
    return uvec4(fifth_bits(word, first), fifth_bits(word, first + 4), fifth_bits(word, first + 8),
                 fifth_bits(word, first + 12));
}

#endif
