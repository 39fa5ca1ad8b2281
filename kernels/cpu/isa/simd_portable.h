// The words of simd.h for any processor: arrays and loops. simd_avx512.h says what they mean.
#pragma once

#include <cstdint>
#include <cstring>

namespace tandem::kernels::cpu::TANDEM_ISA {

inline constexpr int lanes = 8;
inline constexpr int signed_bias = 0;
struct I {
    uint32_t lane[lanes];
};
struct F {
    float lane[lanes];
};

template <typename To, typename Each>
inline To each_lane(Each each) {
    To result;
    for (int i = 0; i < lanes; ++i) result.lane[i] = each(i);
    return result;
}
template <typename Each>
inline I each_byte(Each each) {
    return each_lane<I>([&](int i) {
        uint32_t word = 0;
        for (int b = 0; b < 4; ++b) word |= uint32_t(uint8_t(each(i, 8 * b))) << 8 * b;
        return word;
    });
}
inline float half_to_float(uint16_t h) {
    uint32_t sign = uint32_t(h & 0x8000) << 16, rest = h & 0x7fff;
    float value;
    uint32_t bits = rest << 13;
    std::memcpy(&value, &bits, 4);
    value *= 0x1p112f;  // moves the exponent's bias; subnormals come out right
    if (rest >= 0x7c00) bits |= 0x7f800000, std::memcpy(&value, &bits, 4);
    std::memcpy(&bits, &value, 4);
    bits |= sign;
    std::memcpy(&value, &bits, 4);
    return value;
}
inline uint16_t float_to_half(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    uint32_t sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    if (rest > 0x7f800000) return uint16_t(sign | 0x7e00);
    if (rest >= 0x477ff000) return uint16_t(sign | 0x7c00);
    if (rest < 0x38800000) {  // subnormal: units of 2^-24
        float units;
        std::memcpy(&units, &rest, 4);
        return uint16_t(sign | uint32_t(__builtin_rintf(units * 0x1p24f)));
    }
    return uint16_t(sign | (rest + 0xfff + (rest >> 13 & 1) - (112u << 23)) >> 13);
}

inline I load(const uint8_t* p) {
    I result;
    std::memcpy(result.lane, p, sizeof result.lane);
    return result;
}
inline void store(uint8_t* p, I a) { std::memcpy(p, a.lane, sizeof a.lane); }
inline I load_u16(const uint8_t* p) {
    return each_lane<I>([&](int i) { return uint32_t(p[2 * i] | p[2 * i + 1] << 8); });
}
inline I load_u8(const uint8_t* p) {
    return each_lane<I>([&](int i) { return uint32_t(p[i]); });
}
inline I load_s8(const uint8_t* p) {
    return each_lane<I>([&](int i) { return uint32_t(int32_t(int8_t(p[i]))); });
}
inline I load_s8_pairs(const uint8_t* p) {
    return each_lane<I>([&](int i) {
        return uint32_t(uint16_t(int8_t(p[2 * i]))) | uint32_t(int8_t(p[2 * i + 1])) << 16;
    });
}
inline I load_parts(const uint8_t* const (&at)[2]) {
    I result;
    for (int i = 0; i < 2; ++i) std::memcpy(result.lane + 4 * i, at[i], 16);
    return result;
}
inline I splat(int32_t x) {
    return each_lane<I>([&](int) { return uint32_t(x); });
}
inline I zeros() { return splat(0); }
inline I splat_at(const int32_t* p) { return splat(*p); }
inline I splat_bytes(int x) { return splat(int32_t(uint32_t(x & 0xff) * 0x01010101u)); }
struct Table {
    int8_t entry[16];
};
inline Table table16(const int8_t* p) {
    Table table;
    std::memcpy(table.entry, p, 16);
    return table;
}
inline I bit_and(I a, I b) {
    return each_lane<I>([&](int i) { return a.lane[i] & b.lane[i]; });
}
inline I bit_or(I a, I b) {
    return each_lane<I>([&](int i) { return a.lane[i] | b.lane[i]; });
}
inline I bit_xor(I a, I b) {
    return each_lane<I>([&](int i) { return a.lane[i] ^ b.lane[i]; });
}
inline I shift_right(I a, int bits) {
    return each_lane<I>([&](int i) { return a.lane[i] >> bits; });
}
inline I shift_left(I a, int bits) {
    return each_lane<I>([&](int i) { return a.lane[i] << bits; });
}
inline I shift_right_signed(I a, int bits) {
    return each_lane<I>([&](int i) { return uint32_t(int32_t(a.lane[i]) >> bits); });
}
inline I add(I a, I b) {
    return each_lane<I>([&](int i) { return a.lane[i] + b.lane[i]; });
}
inline I mul(I a, I b) {
    return each_lane<I>([&](int i) { return a.lane[i] * b.lane[i]; });
}
inline I add_bytes(I a, I b) {
    return each_byte([&](int i, int s) { return (a.lane[i] >> s) + (b.lane[i] >> s); });
}
inline I add_in_halves(I a, I b) {
    return each_lane<I>([&](int i) {
        const uint32_t low = a.lane[i] + b.lane[i];
        const uint32_t high = (a.lane[i] >> 16) + (b.lane[i] >> 16);
        return (low & 0xffff) | high << 16;
    });
}
inline I max_in_halves(I a, I b) {
    auto larger = [](uint32_t x, uint32_t y) { return uint16_t(int16_t(x) < int16_t(y) ? y : x); };
    return each_lane<I>([&](int i) {
        const uint32_t low = larger(a.lane[i], b.lane[i]);
        const uint32_t high = larger(a.lane[i] >> 16, b.lane[i] >> 16);
        return low | high << 16;
    });
}
inline I in_register(I a) {
    asm("" : "+m"(a));  // there is none that it fits
    return a;
}
inline I lookup(const Table& table, I index) {
    return each_byte([&](int i, int s) { return table.entry[index.lane[i] >> s & 15]; });
}
inline I select_bit(I where, int bit, I yes, I no) {
    return each_byte([&](int i, int s) {
        return (where.lane[i] >> (s + bit) & 1 ? yes.lane[i] : no.lane[i]) >> s;
    });
}
inline I gather(const void* table, I index) {
    return each_lane<I>([&](int i) {
        uint32_t entry;
        std::memcpy(&entry, static_cast<const uint8_t*>(table) + size_t(index.lane[i]) * 4, 4);
        return entry;
    });
}
inline void gather_pairs(const void* table, I index, I* halves) {
    const I first = each_lane<I>([&](int i) { return 2 * index.lane[i]; });
    halves[0] = gather(table, first);
    halves[1] = gather(static_cast<const uint8_t*>(table) + 4, first);
}
inline I repeat_byte(I a, int b) {
    return each_lane<I>([&](int i) { return (a.lane[i] >> 8 * b & 0xff) * 0x01010101u; });
}
inline I or_where(I a, I bytes, I bits, int value) {
    return each_byte([&](int i, int s) {
        bool any = (bytes.lane[i] & bits.lane[i]) >> s & 0xff;
        return (a.lane[i] >> s & 0xff) | (any ? uint32_t(value) : 0);
    });
}
inline I negate_where(I a, I bytes, I bits) {
    return each_byte([&](int i, int s) {
        bool any = (bytes.lane[i] & bits.lane[i]) >> s & 0xff;
        return any ? 0 - (a.lane[i] >> s) : a.lane[i] >> s;
    });
}
inline I select_less(I a, I b, I yes, I no) {
    return each_lane<I>(
        [&](int i) { return int32_t(a.lane[i]) < int32_t(b.lane[i]) ? yes.lane[i] : no.lane[i]; });
}
inline I dot(I sum, I codes, I quad) {
    return each_lane<I>([&](int i) {
        int32_t total = int32_t(sum.lane[i]);
        for (int s = 0; s < 32; s += 8)
            total += int32_t(codes.lane[i] >> s & 0xff) * int8_t(quad.lane[i] >> s);
        return uint32_t(total);
    });
}
inline constexpr bool sums_in_halves = false;
template <typename Code>
inline I dot_halves_of(I sums, I codes, I quad) {
    return each_lane<I>([&](int i) {
        uint32_t halves = 0;
        for (int half = 0; half < 32; half += 16) {
            uint32_t total = sums.lane[i] >> half;
            for (int s = half; s < half + 16; s += 8)
                total += uint32_t(Code(codes.lane[i] >> s) * int8_t(quad.lane[i] >> s));
            halves |= (total & 0xffff) << half;
        }
        return halves;
    });
}
inline I dot_halves(I sums, I codes, I quad) { return dot_halves_of<uint8_t>(sums, codes, quad); }
inline I dot_halves_signed(I sums, I codes, I quad) {
    return dot_halves_of<int8_t>(sums, codes, quad);
}
inline I dot_signed(I sum, I codes, I quad) {
    return each_lane<I>([&](int i) {
        int32_t total = int32_t(sum.lane[i]);
        for (int s = 0; s < 32; s += 8)
            total += int8_t(codes.lane[i] >> s) * int8_t(quad.lane[i] >> s);
        return uint32_t(total);
    });
}
inline I join_halves(I a, I b) {
    return each_lane<I>([&](int i) { return (a.lane[i] & 0xffff) | (b.lane[i] & 0xffff0000); });
}
template <int first>
inline I in_turn(I a, I b) {
    return each_lane<I>([&](int i) {
        const int from = i / 4 * 4 + first + i % 4 / 2, bits = 16 * (i % 2);
        const uint32_t x = a.lane[from] >> bits, y = b.lane[from] >> bits;
        return (x & 0xff) | (y & 0xff) << 8 | (x & 0xff00) << 8 | (y & 0xff00) << 16;
    });
}
inline I first_in_turn(I a, I b) { return in_turn<0>(a, b); }
inline I last_in_turn(I a, I b) { return in_turn<2>(a, b); }
inline I times_halves(I a, I b) {
    return each_lane<I>([&](int i) {
        const uint32_t low = a.lane[i] * b.lane[i];
        const uint32_t high = (a.lane[i] >> 16) * (b.lane[i] >> 16);
        return (low & 0xffff) | high << 16;
    });
}
inline constexpr bool fast_pairs = false;
inline constexpr bool matrix_units = false, crosses = false;
inline constexpr bool looks_up_bytes = false, words_are_loops = true;
inline I dot_pairs(I sum, I a, I b) {
    return each_lane<I>([&](int i) {
        int32_t total = int32_t(sum.lane[i]);
        for (int s = 0; s < 32; s += 16) total += int16_t(a.lane[i] >> s) * int16_t(b.lane[i] >> s);
        return uint32_t(total);
    });
}
inline Table biased(const Table& table) { return table; }

inline F to_float(I a) {
    return each_lane<F>([&](int i) { return float(int32_t(a.lane[i])); });
}
inline F as_float(I a) {
    F result;
    std::memcpy(result.lane, a.lane, sizeof result.lane);
    return result;
}
inline I as_int(F a) {
    I result;
    std::memcpy(result.lane, a.lane, sizeof result.lane);
    return result;
}
inline F load_f32(const void* p) {
    F result;
    std::memcpy(result.lane, p, sizeof result.lane);
    return result;
}
inline F load_f16(const void* p) {
    uint16_t half[lanes];
    std::memcpy(half, p, sizeof half);
    return each_lane<F>([&](int i) { return half_to_float(half[i]); });
}
inline F float_of_half(I a) {
    return each_lane<F>([&](int i) { return half_to_float(uint16_t(a.lane[i])); });
}
inline F load_bf16(const void* p) {
    uint16_t half[lanes];
    std::memcpy(half, p, sizeof half);
    return as_float(each_lane<I>([&](int i) { return uint32_t(half[i]) << 16; }));
}
inline F splat(float x) {
    return each_lane<F>([&](int) { return x; });
}
inline F splat_f16(const void* p) {
    uint16_t half;
    std::memcpy(&half, p, 2);
    return splat(half_to_float(half));
}
inline F zero() { return splat(0.0f); }
inline F add(F a, F b) {
    return each_lane<F>([&](int i) { return a.lane[i] + b.lane[i]; });
}
inline F sub(F a, F b) {
    return each_lane<F>([&](int i) { return a.lane[i] - b.lane[i]; });
}
inline F mul(F a, F b) {
    return each_lane<F>([&](int i) { return a.lane[i] * b.lane[i]; });
}
inline F div(F a, F b) {
    return each_lane<F>([&](int i) { return a.lane[i] / b.lane[i]; });
}
inline F sqrt(F a) {
    return each_lane<F>([&](int i) { return __builtin_sqrtf(a.lane[i]); });
}
inline F fma(F a, F b, F c) {
    return each_lane<F>([&](int i) { return a.lane[i] * b.lane[i] + c.lane[i]; });
}
inline F max(F a, F b) {
    return each_lane<F>([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
inline F min(F a, F b) {
    return each_lane<F>([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}
inline F abs(F a) {
    return each_lane<F>([&](int i) { return __builtin_fabsf(a.lane[i]); });
}
inline I round_to_int(F a) {
    return each_lane<I>([&](int i) {
        const float whole = __builtin_rintf(a.lane[i]);
        const bool fits = whole >= -0x1p31f && whole < 0x1p31f;
        return fits ? uint32_t(int32_t(whole)) : uint32_t(1) << 31;
    });
}
inline void store(float* p, F a) { std::memcpy(p, a.lane, sizeof a.lane); }
inline void store_nontemporal(float* p, F a) { std::memcpy(p, a.lane, sizeof a.lane); }
inline void fence_nontemporal() {}
inline void store_f16(uint8_t* p, F a) {
    for (int i = 0; i < lanes; ++i) {
        uint16_t half = float_to_half(a.lane[i]);
        std::memcpy(p + 2 * i, &half, 2);
    }
}
inline void store_bytes(int8_t* p, I a) {
    for (int i = 0; i < lanes; ++i) p[i] = int8_t(a.lane[i]);
}
inline void store_halves(int16_t* p, I a) {
    for (int i = 0; i < lanes; ++i) p[i] = int16_t(a.lane[i]);
}
inline F keep_from(F a, float limit, F x) {
    return each_lane<F>([&](int i) { return a.lane[i] >= limit ? x.lane[i] : 0.0f; });
}
inline float sum(F a) {
    float total = 0;
    for (float x : a.lane) total += x;
    return total;
}
inline int32_t sum(I a) {
    uint32_t total = 0;
    for (uint32_t x : a.lane) total += x;
    return int32_t(total);
}
inline I max(I a, I b) {
    return each_lane<I>(
        [&](int i) { return int32_t(a.lane[i]) > int32_t(b.lane[i]) ? a.lane[i] : b.lane[i]; });
}
inline int32_t largest(I a) {
    auto most = int32_t(a.lane[0]);
    for (uint32_t x : a.lane) most = int32_t(x) > most ? int32_t(x) : most;
    return most;
}
template <int Size>
inline F even_blocks(F a, F b) {
    return each_lane<F>([&](int i) { return i / Size % 2 ? b.lane[i - Size] : a.lane[i]; });
}
template <int Size>
inline F odd_blocks(F a, F b) {
    return each_lane<F>([&](int i) { return i / Size % 2 ? b.lane[i] : a.lane[i + Size]; });
}
template <int Size>
inline F kept_blocks(F a, F b) {
    return each_lane<F>([&](int i) { return i / Size % 2 ? b.lane[i] : a.lane[i]; });
}
template <int Size>
inline F swapped_blocks(F a, F b) {
    return each_lane<F>([&](int i) { return i / Size % 2 ? b.lane[i - Size] : a.lane[i + Size]; });
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
