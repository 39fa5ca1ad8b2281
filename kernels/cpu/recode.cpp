#include "kernels/cpu/recode.h"

#include <cstring>

#include "kernels/cpu/join_bits.h"

namespace tandem::kernels::cpu {

namespace {

using gguf::DType;

// d, then codes of 2 bits of 64 elements, four neighbours in a byte.
void q2_0_from_file(const uint8_t* block, uint8_t* packed) {
    uint8_t codes[64];
    for (int i = 0; i < 64; ++i) codes[i] = block[2 + i / 4] >> i % 4 * 2 & 3;
    std::memcpy(packed, block, 2);
    for (int group = 0; group < 2; ++group)
        join_bits<2>(codes + 32 * group, 0, packed + 2 + 8 * group);
}

void q2_0_to_file(const uint8_t* packed, uint8_t* block) {
    uint8_t codes[64] = {};
    for (int group = 0; group < 2; ++group)
        part_bits<2>(packed + 2 + 8 * group, 0, codes + 32 * group);
    std::memcpy(block, packed, 2);
    for (int i = 0; i < 64; ++i)
        block[2 + i / 4] = uint8_t(block[2 + i / 4] | codes[i] << i % 4 * 2);
}

// Half of a packed block of TQ2_0: d, codes of four groups of 32 elements.
constexpr int half_bytes = 34;
int place_of_group(int group) { return group / 4 * half_bytes + 2 + group % 4 * 8; }
void put_scales(const uint8_t* d, uint8_t* packed) {
    for (int half = 0; half < 2; ++half) std::memcpy(packed + half * half_bytes, d, 2);
}

// 32 bytes have 4 x 32 elements, one above the other, and 32 more the others; then d.
constexpr int tq2_0_codes = 64;

void tq2_0_from_file(const uint8_t* block, uint8_t* packed) {
    put_scales(block + tq2_0_codes, packed);
    for (int group = 0; group < 8; ++group)
        join_bits<2>(block + group / 4 * 32, group % 4 * 2, packed + place_of_group(group));
}

void tq2_0_to_file(const uint8_t* packed, uint8_t* block) {
    std::memcpy(block + tq2_0_codes, packed, 2);
    for (int group = 0; group < 8; ++group)
        part_bits<2>(packed + place_of_group(group), group % 4 * 2, block + group / 4 * 32);
}

// Bytes of TQ1_0 of so many digits of base 3, each digit of as many elements side by side as there
// are bytes; d follows.
struct Digits {
    int first, bytes, count;
};
constexpr Digits tq1_0_digits[] = {{0, 32, 5}, {32, 16, 5}, {48, 4, 4}};
constexpr int tq1_0_codes = 52, powers_of_three[] = {81, 27, 9, 3, 1};

// A byte is a fraction of 256, rounded up: its digits are what multiplying it by 3 carries.
void tq1_0_from_file(const uint8_t* block, uint8_t* packed) {
    uint8_t codes[256], rest[tq1_0_codes], *to = codes;
    std::memcpy(rest, block, sizeof rest);
    for (const Digits& digits : tq1_0_digits)
        for (int digit = 0; digit < digits.count; ++digit, to += digits.bytes)
            for (int i = 0; i < digits.bytes; ++i) {
                const int three_times = rest[digits.first + i] * 3;
                to[i] = uint8_t(three_times >> 8);
                rest[digits.first + i] = uint8_t(three_times);
            }
    put_scales(block + tq1_0_codes, packed);
    for (int group = 0; group < 8; ++group)
        join_bits<2>(codes + 32 * group, 0, packed + place_of_group(group));
}

void tq1_0_to_file(const uint8_t* packed, uint8_t* block) {
    uint8_t codes[256] = {};
    for (int group = 0; group < 8; ++group)
        part_bits<2>(packed + place_of_group(group), 0, codes + 32 * group);
    const uint8_t* from = codes;
    int numbers[tq1_0_codes] = {};
    for (const Digits& digits : tq1_0_digits)
        for (int digit = 0; digit < digits.count; ++digit, from += digits.bytes)
            for (int i = 0; i < digits.bytes; ++i)
                numbers[digits.first + i] += powers_of_three[digit] * from[i];
    constexpr int all = 3 * 81;
    for (int i = 0; i < tq1_0_codes; ++i) block[i] = uint8_t((numbers[i] * 256 + all - 1) / all);
    std::memcpy(block + tq1_0_codes, packed, 2);
}

// R, then words of 16 bits, eight for each 32 elements. Their lowest bits are the scale; what is
// left, x, are the codes x ^ x / 2.
constexpr int kss_words = 64;

void iq4_kss_from_file(const uint8_t* block, uint8_t* packed) {
    std::memcpy(packed, block, 4);
    uint8_t *scales = packed + 4, *codes = packed + 12;
    for (int i = 0; i < kss_words; ++i) {
        uint16_t word;
        std::memcpy(&word, block + 4 + 2 * i, 2);
        if (i % 8 == 0) scales[i / 8] = 0;
        scales[i / 8] = uint8_t(scales[i / 8] | (word & 1) << i % 8);
        const int rest = word & 0xfffe;
        word = uint16_t(rest ^ rest >> 1);
        std::memcpy(codes + 2 * i, &word, 2);
    }
}

void iq4_kss_to_file(const uint8_t* packed, uint8_t* block) {
    std::memcpy(block, packed, 4);
    const uint8_t *scales = packed + 4, *codes = packed + 12;
    for (int i = 0; i < kss_words; ++i) {
        uint16_t word;
        std::memcpy(&word, codes + 2 * i, 2);
        for (int shift : {1, 2, 4, 8}) word = uint16_t(word ^ word >> shift);
        word = uint16_t(word | (scales[i / 8] >> i % 8 & 1));
        std::memcpy(block + 4 + 2 * i, &word, 2);
    }
}

// R, high bits of scales, low bits, 4 bits of codes: of 16 codes those of two groups share bytes;
// then their fifth bits, of which a byte has one of every group. A code has two elements.
constexpr int kl_front = 8, kl_codes = 64, kl_group = 10;

void iq2_kl_from_file(const uint8_t* block, uint8_t* packed) {
    std::memcpy(packed, block, kl_front);
    for (int group = 0; group < 8; ++group) {
        uint32_t words[2] = {};
        uint16_t fifth = 0;
        for (int i = 0; i < 16; ++i) {
            const uint32_t code = block[kl_front + group / 2 * 16 + i] >> group % 2 * 4 & 15;
            const uint32_t high = block[kl_front + kl_codes + i] >> group & 1;
            const int quad = i / 2, upper = i % 2;
            words[quad / 4] |= code << (16 * upper + 4 * (quad % 4));
            fifth = uint16_t(fifth | high << (8 * upper + quad));
        }
        std::memcpy(packed + kl_front + kl_group * group, words, 8);
        std::memcpy(packed + kl_front + kl_group * group + 8, &fifth, 2);
    }
}

void iq2_kl_to_file(const uint8_t* packed, uint8_t* block) {
    std::memcpy(block, packed, kl_front);
    for (int group = 0; group < 8; ++group) {
        uint32_t words[2];
        uint16_t fifth;
        std::memcpy(words, packed + kl_front + kl_group * group, 8);
        std::memcpy(&fifth, packed + kl_front + kl_group * group + 8, 2);
        for (int i = 0; i < 16; ++i) {
            const int quad = i / 2, upper = i % 2;
            const uint32_t code = words[quad / 4] >> (16 * upper + 4 * (quad % 4)) & 15;
            const int high = fifth >> (8 * upper + quad) & 1;
            uint8_t& low = block[kl_front + group / 2 * 16 + i];
            low = uint8_t(low | code << group % 2 * 4);
            uint8_t& bits = block[kl_front + kl_codes + i];
            bits = uint8_t(bits | high << group);
        }
    }
}

// 4 bits of `count` seeds of a group, of which those of groups g and g + 4 share bytes; packed, a
// group has bytes of its own.
template <int count>
void pack_nibbles(const uint8_t* of_file, int group, uint8_t* packed) {
    const uint8_t* const bytes = of_file + group % 4 * count;
    auto nibble = [&](int i) { return bytes[i] >> group / 4 * 4 & 15; };
    for (int i = 0; i < count / 2; ++i) packed[i] = uint8_t(nibble(i) | nibble(i + count / 2) << 4);
}
template <int count>
void unpack_nibbles(const uint8_t* packed, int group, uint8_t* of_file) {
    uint8_t* const bytes = of_file + group % 4 * count;
    for (int i = 0; i < count; ++i) {
        const int nibble = packed[i % (count / 2)] >> i / (count / 2) * 4 & 15;
        bytes[i] = uint8_t(bytes[i] | nibble << group / 4 * 4);
    }
}

// R and scales, low bytes of seeds, 4 bits above.
constexpr int kt1_front = 12, kt1_low = 32;

void iq1_kt_from_file(const uint8_t* block, uint8_t* packed) {
    std::memcpy(packed, block, kt1_front);
    for (int group = 0; group < 8; ++group) {
        uint8_t* const to = packed + kt1_front + 6 * group;
        std::memcpy(to, block + kt1_front + 4 * group, 4);
        pack_nibbles<4>(block + kt1_front + kt1_low, group, to + 4);
    }
}

void iq1_kt_to_file(const uint8_t* packed, uint8_t* block) {
    std::memcpy(block, packed, kt1_front);
    for (int group = 0; group < 8; ++group) {
        const uint8_t* const from = packed + kt1_front + 6 * group;
        std::memcpy(block + kt1_front + 4 * group, from, 4);
        unpack_nibbles<4>(from + 4, group, block + kt1_front + kt1_low);
    }
}

// R, then scales with top bits of seeds, low bytes, 4 bits above.
constexpr int kt4_low = 4 + 32, kt4_above = kt4_low + 64;

void iq4_kt_from_file(const uint8_t* block, uint8_t* packed) {
    std::memcpy(packed, block, 4);
    for (int group = 0; group < 8; ++group) {
        uint8_t* const to = packed + 4 + 16 * group;
        std::memcpy(to, block + 4 + 4 * group, 4);
        std::memcpy(to + 4, block + kt4_low + 8 * group, 8);
        pack_nibbles<8>(block + kt4_above, group, to + 12);
    }
}

void iq4_kt_to_file(const uint8_t* packed, uint8_t* block) {
    std::memcpy(block, packed, 4);
    for (int group = 0; group < 8; ++group) {
        const uint8_t* const from = packed + 4 + 16 * group;
        std::memcpy(block + 4 + 4 * group, from, 4);
        std::memcpy(block + kt4_low + 8 * group, from + 4, 8);
        unpack_nibbles<8>(from + 12, group, block + kt4_above);
    }
}

constexpr RecodingOfType recodings[] = {
    {DType::Q2_0, {q2_0_from_file, q2_0_to_file}},
    {DType::TQ2_0, {tq2_0_from_file, tq2_0_to_file}},
    {DType::TQ1_0, {tq1_0_from_file, tq1_0_to_file}},
    {DType::IQ4_KSS, {iq4_kss_from_file, iq4_kss_to_file}},
    {DType::IQ2_KL, {iq2_kl_from_file, iq2_kl_to_file}},
    {DType::IQ1_KT, {iq1_kt_from_file, iq1_kt_to_file}},
    {DType::IQ4_KT, {iq4_kt_from_file, iq4_kt_to_file}},
};

}  // namespace

const Recoding* recoding(DType dtype) { return find(recodings, dtype); }

}  // namespace tandem::kernels::cpu
