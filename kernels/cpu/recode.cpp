#include "kernels/cpu/recode.h"

#include <array>
#include <cstring>

namespace tandem::kernels::cpu {

namespace {

using gguf::DType;

// Codes of 2 bits of 32 elements in 8 bytes, of which byte k holds elements k, k + 8, k + 16 and
// k + 24 (regroup.h).
int joined(const uint8_t* codes, int element) {
    return codes[element % 8] >> element % 32 / 8 * 2 & 3;
}
void join(uint8_t* codes, int element, int code) {
    codes[element % 8] = uint8_t(codes[element % 8] | code << element % 32 / 8 * 2);
}

// Where TQ1_0 has an element: a byte and which of its digits. 32 bytes and then 16 have five
// digits, each for as many elements side by side as there are bytes; 4 have four.
struct Digit {
    uint8_t byte, number;
};
constexpr std::array<Digit, 256> tq1_0_digits = [] {
    std::array<Digit, 256> all = {};
    size_t element = 0;
    auto put = [&](int first, int bytes, int digits) {
        for (int digit = 0; digit < digits; ++digit)
            for (int byte = 0; byte < bytes; ++byte)
                all[element++] = {uint8_t(first + byte), uint8_t(digit)};
    };
    put(0, 32, 5);
    put(32, 16, 5);
    put(48, 4, 4);
    return all;
}();
constexpr int tq1_0_codes = 52;  // bytes, which d follows
constexpr int powers_of_three[] = {81, 27, 9, 3, 1};

// Half of a packed block of TQ2_0: d, codes.
constexpr int half_bytes = 34;
const uint8_t* codes_of(const uint8_t* packed, int element) {
    return packed + element / 128 * half_bytes + 2 + element % 128 / 32 * 8;
}

template <typename Code>
void pack_halves(const uint8_t* d, Code code, uint8_t* packed) {
    std::memset(packed, 0, 2 * half_bytes);
    for (int half = 0; half < 2; ++half) std::memcpy(packed + half * half_bytes, d, 2);
    for (int i = 0; i < 256; ++i) join(packed + (codes_of(packed, i) - packed), i, code(i));
}

// A byte is a fraction of 256, rounded up: its digits are what multiplying it by 3 carries.
void tq1_0_from_file(const uint8_t* block, uint8_t* packed) {
    std::array<std::array<uint8_t, 5>, tq1_0_codes> digits;
    for (size_t byte = 0; byte < digits.size(); ++byte) {
        uint8_t rest = block[byte];
        for (uint8_t& digit : digits[byte]) {
            digit = uint8_t(rest * 3 >> 8);
            rest = uint8_t(rest * 3);
        }
    }
    auto code = [&](int i) {
        const Digit at = tq1_0_digits[size_t(i)];
        return digits[at.byte][at.number];
    };
    pack_halves(block + tq1_0_codes, code, packed);
}

void tq1_0_to_file(const uint8_t* packed, uint8_t* block) {
    std::memcpy(block + tq1_0_codes, packed, 2);
    std::array<int, tq1_0_codes> numbers = {};
    for (int i = 0; i < 256; ++i) {
        const Digit at = tq1_0_digits[size_t(i)];
        numbers[at.byte] += powers_of_three[at.number] * joined(codes_of(packed, i), i);
    }
    constexpr int all = 3 * 81;
    for (size_t byte = 0; byte < numbers.size(); ++byte)
        block[byte] = uint8_t((numbers[byte] * 256 + all - 1) / all);
}

// 32 bytes have 4 x 32 elements, one above the other, and 32 more the others; then d.
constexpr int tq2_0_codes = 64;
int tq2_0_byte(int element) { return element / 128 * 32 + element % 32; }
int tq2_0_shift(int element) { return element % 128 / 32 * 2; }

void tq2_0_from_file(const uint8_t* block, uint8_t* packed) {
    pack_halves(
        block + tq2_0_codes, [&](int i) { return block[tq2_0_byte(i)] >> tq2_0_shift(i) & 3; },
        packed);
}

void tq2_0_to_file(const uint8_t* packed, uint8_t* block) {
    std::memcpy(block + tq2_0_codes, packed, 2);
    for (int i = 0; i < 256; ++i) {
        uint8_t& byte = block[tq2_0_byte(i)];
        byte = uint8_t(byte | joined(codes_of(packed, i), i) << tq2_0_shift(i));
    }
}

// d, then four neighbours in a byte.
void q2_0_from_file(const uint8_t* block, uint8_t* packed) {
    std::memcpy(packed, block, 2);
    std::memset(packed + 2, 0, 16);
    for (int i = 0; i < 64; ++i)
        join(packed + 2 + i / 32 * 8, i, block[2 + i / 4] >> i % 4 * 2 & 3);
}

void q2_0_to_file(const uint8_t* packed, uint8_t* block) {
    std::memcpy(block, packed, 2);
    for (int i = 0; i < 64; ++i) {
        uint8_t& four = block[2 + i / 4];
        four = uint8_t(four | joined(packed + 2 + i / 32 * 8, i) << i % 4 * 2);
    }
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

}  // namespace

const Recoding* recoding(DType dtype) {
    static constexpr Recoding tq1_0{tq1_0_from_file, tq1_0_to_file};
    static constexpr Recoding tq2_0{tq2_0_from_file, tq2_0_to_file};
    static constexpr Recoding q2_0{q2_0_from_file, q2_0_to_file};
    static constexpr Recoding iq4_kss{iq4_kss_from_file, iq4_kss_to_file};
    static constexpr Recoding iq2_kl{iq2_kl_from_file, iq2_kl_to_file};
    switch (dtype) {
        case DType::TQ1_0:
            return &tq1_0;
        case DType::TQ2_0:
            return &tq2_0;
        case DType::Q2_0:
            return &q2_0;
        case DType::IQ4_KSS:
            return &iq4_kss;
        case DType::IQ2_KL:
            return &iq2_kl;
        default:
            return nullptr;
    }
}

}  // namespace tandem::kernels::cpu
