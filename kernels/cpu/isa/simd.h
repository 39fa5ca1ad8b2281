// Vectors of one instruction set: `lanes` 32-bit lanes, each of which is a row of a packed matrix.
// The one platform file: everything else in isa/ is written with these words and compiled once per
// set.
//
// Sources in isa/ use no containers or algorithms of the standard library: an inline function that
// was compiled for a newer set must not be the one that the linker keeps for all.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace tandem::kernels::cpu::TANDEM_ISA {

#if defined(__AVX512VNNI__)

inline constexpr int lanes = 16;
// dot() multiplies unsigned codes by signed ones; signed codes are given this bias first.
inline constexpr int signed_bias = 128;
using I = __m512i;  // integers: 32-bit lanes, or 4 bytes per lane
using F = __m512;   // floats

inline I load(const uint8_t* p) { return _mm512_loadu_si512(p); }
inline void store(uint8_t* p, I a) { _mm512_storeu_si512(p, a); }
inline I load_u16(const uint8_t* p) {
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
inline I load_u8(const uint8_t* p) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline I load_s8(const uint8_t* p) {
    return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline I splat(int32_t x) { return _mm512_set1_epi32(x); }
inline I splat_bytes(int x) { return _mm512_set1_epi8(char(x)); }
inline I splat_quad(const int8_t* p) {
    int32_t quad;
    std::memcpy(&quad, p, 4);
    return _mm512_set1_epi32(quad);
}
inline I table16(const int8_t* p) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline I bit_and(I a, I b) { return _mm512_and_si512(a, b); }
inline I bit_or(I a, I b) { return _mm512_or_si512(a, b); }
inline I bit_xor(I a, I b) { return _mm512_xor_si512(a, b); }
inline I shift_right(I a, int bits) { return _mm512_srlv_epi32(a, _mm512_set1_epi32(bits)); }
inline I shift_left(I a, int bits) { return _mm512_sllv_epi32(a, _mm512_set1_epi32(bits)); }
inline I shift_right_signed(I a, int bits) { return _mm512_srav_epi32(a, _mm512_set1_epi32(bits)); }
inline I add(I a, I b) { return _mm512_add_epi32(a, b); }
inline I lookup(I table, I index) { return _mm512_shuffle_epi8(table, index); }
// 4 bytes of a table, for each lane those with its number.
inline I gather(const void* table, I index) { return _mm512_i32gather_epi32(index, table, 4); }
// Byte b of every lane in all four bytes of the lane.
inline I repeat_byte(I a, int b) {
    return _mm512_shuffle_epi8(
        a, _mm512_add_epi8(_mm512_set1_epi32(b * 0x01010101),
                           _mm512_set4_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0)));
}
// a with byte `from` of b in place of its byte `to`, in every lane.
template <int from, int to>
inline I put_byte(I a, I b) {
    return _mm512_mask_shuffle_epi8(a, 0x1111111111111111ull << to, b,
                                    _mm512_set4_epi32((12 + from) << 8 * to, (8 + from) << 8 * to,
                                                      (4 + from) << 8 * to, from << 8 * to));
}
// The upper halves of a's and b's lanes side by side, a's in the lower half.
inline I upper_halves(I a, I b) {
    return _mm512_mask_shuffle_epi8(b, 0x3333333333333333ull, a,
                                    _mm512_set4_epi32(0x0f0e, 0x0b0a, 0x0706, 0x0302));
}
// 16 halves and 16 more: one of each side by side in every lane.
inline I pair_halves(I a) {
    const I lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_permutexvar_epi16(
        _mm512_or_si512(lane, _mm512_slli_epi32(_mm512_add_epi32(lane, _mm512_set1_epi32(16)), 16)),
        a);
}
// a | value in the bytes where `bytes` has one of `bits`.
inline I or_where(I a, I bytes, I bits, int value) {
    return _mm512_mask_or_epi32(
        a, 0xffff, a,
        _mm512_maskz_mov_epi8(_mm512_test_epi8_mask(bytes, bits), _mm512_set1_epi8(char(value))));
}
// -a in the bytes where `bytes` has one of `bits`.
inline I negate_where(I a, I bytes, I bits) {
    return _mm512_mask_sub_epi8(a, _mm512_test_epi8_mask(bytes, bits), _mm512_setzero_si512(), a);
}
inline I select_less(I a, I b, I yes, I no) {
    return _mm512_mask_mov_epi32(no, _mm512_cmplt_epi32_mask(a, b), yes);
}
// sum + the products of a lane's 4 unsigned bytes with 4 signed ones.
inline I dot(I sum, I codes, I quad) { return _mm512_dpbusd_epi32(sum, codes, quad); }
inline I dot_signed(I sum, I biased, I quad) { return dot(sum, biased, quad); }
// Signed bytes as dot_signed() wants them.
inline I biased(I bytes) { return _mm512_xor_si512(bytes, _mm512_set1_epi8(char(0x80))); }

inline F to_float(I a) { return _mm512_cvtepi32_ps(a); }
inline F as_float(I a) { return _mm512_castsi512_ps(a); }
inline I as_int(F a) { return _mm512_castps_si512(a); }
inline F load_f32(const void* p) { return _mm512_loadu_ps(p); }
inline F load_f16(const void* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
}
// The f16 in the lower half of every lane.
inline F float_of_half(I a) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(a)); }
inline F splat_f16(const void* p) {
    int16_t half;
    std::memcpy(&half, p, 2);
    return _mm512_cvtph_ps(_mm256_set1_epi16(half));
}
inline F load_bf16(const void* p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(
        _mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p))), 16));
}
inline F zero() { return _mm512_setzero_ps(); }
inline F splat(float x) { return _mm512_set1_ps(x); }
inline F add(F a, F b) { return _mm512_add_ps(a, b); }
inline F sub(F a, F b) { return _mm512_sub_ps(a, b); }
inline F mul(F a, F b) { return _mm512_mul_ps(a, b); }
inline F div(F a, F b) { return _mm512_div_ps(a, b); }
inline F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
inline F max(F a, F b) { return _mm512_max_ps(a, b); }
inline F min(F a, F b) { return _mm512_min_ps(a, b); }
inline F abs(F a) { return _mm512_abs_ps(a); }
inline I round_to_int(F a) { return _mm512_cvtps_epi32(a); }
inline void store(float* p, F a) { _mm512_storeu_ps(p, a); }
// To nearest, halves to even.
inline void store_f16(uint8_t* p, F a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}
inline void store_bf16(uint8_t* p, F a) {
    I bits = _mm512_castps_si512(a), odd = bit_and(shift_right(bits, 16), splat(1));
    I rounded = add(bits, add(odd, splat(0x7fff)));
    I quiet = bit_or(bits, splat(0x400000));  // rounding could turn what is no number into one
    rounded = _mm512_mask_mov_epi32(rounded, _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), quiet);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm512_cvtepi32_epi16(shift_right(rounded, 16)));
}
inline void store_bytes(int8_t* p, I a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a));
}
// x where a >= limit, else 0
inline F keep_from(F a, float limit, F x) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, splat(limit), _CMP_GE_OQ), x);
}
inline float sum(F a) { return _mm512_reduce_add_ps(a); }
inline int32_t sum(I a) { return _mm512_reduce_add_epi32(a); }
inline I max(I a, I b) { return _mm512_max_epi32(a, b); }
inline int32_t largest(I a) { return _mm512_reduce_max_epi32(a); }
// Of blocks of `Size` lanes: the even ones of a, each followed by the one of b at the same place;
// and the odd ones.
template <int Size>
inline F even_blocks(F a, F b) {
    if constexpr (Size == 8) return _mm512_shuffle_f32x4(a, b, 0x44);
    if constexpr (Size == 4) return _mm512_mask_shuffle_f32x4(a, 0xf0f0, b, b, 0xa0);
    if constexpr (Size == 2)
        return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
    if constexpr (Size == 1) return _mm512_mask_moveldup_ps(a, 0xaaaa, b);
}
template <int Size>
inline F odd_blocks(F a, F b) {
    if constexpr (Size == 8) return _mm512_shuffle_f32x4(a, b, 0xee);
    if constexpr (Size == 4) return _mm512_mask_shuffle_f32x4(b, 0x0f0f, a, a, 0xf5);
    if constexpr (Size == 2)
        return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
    if constexpr (Size == 1) return _mm512_mask_movehdup_ps(b, 0x5555, a);
}

#elif defined(__AVX2__)

inline constexpr int lanes = 8;
#if defined(__AVXVNNI__)
inline constexpr int signed_bias = 128;
#else
inline constexpr int signed_bias = 0;
#endif
using I = __m256i;
using F = __m256;

inline I load(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
inline void store(uint8_t* p, I a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a); }
inline I load_u16(const uint8_t* p) {
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline I load_u8(const uint8_t* p) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
inline I load_s8(const uint8_t* p) {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
inline I splat(int32_t x) { return _mm256_set1_epi32(x); }
inline I splat_bytes(int x) { return _mm256_set1_epi8(char(x)); }
inline I splat_quad(const int8_t* p) {
    int32_t quad;
    std::memcpy(&quad, p, 4);
    return _mm256_set1_epi32(quad);
}
inline I table16(const int8_t* p) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline I bit_and(I a, I b) { return _mm256_and_si256(a, b); }
inline I bit_or(I a, I b) { return _mm256_or_si256(a, b); }
inline I bit_xor(I a, I b) { return _mm256_xor_si256(a, b); }
inline I shift_right(I a, int bits) { return _mm256_srlv_epi32(a, _mm256_set1_epi32(bits)); }
inline I shift_left(I a, int bits) { return _mm256_sllv_epi32(a, _mm256_set1_epi32(bits)); }
inline I shift_right_signed(I a, int bits) { return _mm256_srav_epi32(a, _mm256_set1_epi32(bits)); }
inline I add(I a, I b) { return _mm256_add_epi32(a, b); }
inline I lookup(I table, I index) { return _mm256_shuffle_epi8(table, index); }
inline I gather(const void* table, I index) {
    return _mm256_i32gather_epi32(static_cast<const int*>(table), index, 4);
}
inline I repeat_byte(I a, int b) {
    return _mm256_shuffle_epi8(a, _mm256_add_epi8(_mm256_set1_epi32(b * 0x01010101),
                                                  _mm256_broadcastsi128_si256(_mm_set_epi32(
                                                      0x0c0c0c0c, 0x08080808, 0x04040404, 0))));
}
inline I or_where(I a, I bytes, I bits, int value) {
    I none = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bits), _mm256_setzero_si256());
    return _mm256_or_si256(a, _mm256_andnot_si256(none, _mm256_set1_epi8(char(value))));
}
inline I negate_where(I a, I bytes, I bits) {
    I none = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bits), _mm256_setzero_si256());
    return _mm256_blendv_epi8(_mm256_sub_epi8(_mm256_setzero_si256(), a), a, none);
}
inline I select_less(I a, I b, I yes, I no) {
    return _mm256_blendv_epi8(no, yes, _mm256_cmpgt_epi32(b, a));
}
#if defined(__AVXVNNI__)
inline I dot(I sum, I codes, I quad) { return _mm256_dpbusd_avx_epi32(sum, codes, quad); }
inline I dot_signed(I sum, I biased, I quad) { return dot(sum, biased, quad); }
inline I biased(I bytes) { return _mm256_xor_si256(bytes, _mm256_set1_epi8(char(0x80))); }
#else
// The sums of two products stay below 2^15, as codes below 128 are multiplied by signed bytes.
inline I dot(I sum, I codes, I quad) {
    I pairs = _mm256_maddubs_epi16(codes, quad);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
inline I dot_signed(I sum, I codes, I quad) {
    return dot(sum, _mm256_abs_epi8(codes), _mm256_sign_epi8(quad, codes));
}
inline I biased(I bytes) { return bytes; }
#endif

inline F to_float(I a) { return _mm256_cvtepi32_ps(a); }
inline F as_float(I a) { return _mm256_castsi256_ps(a); }
inline I as_int(F a) { return _mm256_castps_si256(a); }
inline F load_f32(const void* p) { return _mm256_loadu_ps(static_cast<const float*>(p)); }
inline F load_f16(const void* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
inline F float_of_half(I a) {
    I halves = _mm256_permute4x64_epi64(_mm256_packus_epi32(a, a), 0x08);
    return _mm256_cvtph_ps(_mm256_castsi256_si128(halves));
}
inline F splat_f16(const void* p) {
    int16_t half;
    std::memcpy(&half, p, 2);
    return _mm256_cvtph_ps(_mm_set1_epi16(half));
}
inline F load_bf16(const void* p) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(
        _mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))), 16));
}
inline F zero() { return _mm256_setzero_ps(); }
inline F splat(float x) { return _mm256_set1_ps(x); }
inline F add(F a, F b) { return _mm256_add_ps(a, b); }
inline F sub(F a, F b) { return _mm256_sub_ps(a, b); }
inline F mul(F a, F b) { return _mm256_mul_ps(a, b); }
inline F div(F a, F b) { return _mm256_div_ps(a, b); }
inline F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
inline F max(F a, F b) { return _mm256_max_ps(a, b); }
inline F min(F a, F b) { return _mm256_min_ps(a, b); }
inline F abs(F a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
inline I round_to_int(F a) { return _mm256_cvtps_epi32(a); }
inline void store(float* p, F a) { _mm256_storeu_ps(p, a); }
inline void store_f16(uint8_t* p, F a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}
inline void store_bf16(uint8_t* p, F a) {
    I bits = _mm256_castps_si256(a), odd = bit_and(shift_right(bits, 16), splat(1));
    I rounded = add(bits, add(odd, splat(0x7fff))), quiet = bit_or(bits, splat(0x400000));
    I unordered = _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q));
    I upper = shift_right(_mm256_blendv_epi8(rounded, quiet, unordered), 16);
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(p),
        _mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1)));
}
inline void store_bytes(int8_t* p, I a) {
    __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(words, words));
}
inline F keep_from(F a, float limit, F x) {
    return _mm256_and_ps(_mm256_cmp_ps(a, splat(limit), _CMP_GE_OQ), x);
}
inline float sum(F a) {
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_shuffle_ps(half, half, 1)));
}
inline int32_t sum(I a) {
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1)));
}
inline I max(I a, I b) { return _mm256_max_epi32(a, b); }
inline int32_t largest(I a) {
    __m128i half = _mm_max_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    return _mm_cvtsi128_si32(_mm_max_epi32(half, _mm_shuffle_epi32(half, 0xb1)));
}
template <int Size>
inline F even_blocks(F a, F b) {
    if constexpr (Size == 4) return _mm256_permute2f128_ps(a, b, 0x20);
    if constexpr (Size == 2)
        return _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
    if constexpr (Size == 1) return _mm256_blend_ps(a, _mm256_moveldup_ps(b), 0xaa);
}
template <int Size>
inline F odd_blocks(F a, F b) {
    if constexpr (Size == 4) return _mm256_permute2f128_ps(a, b, 0x31);
    if constexpr (Size == 2)
        return _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
    if constexpr (Size == 1) return _mm256_blend_ps(_mm256_movehdup_ps(a), b, 0xaa);
}

#else

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
inline I splat(int32_t x) {
    return each_lane<I>([&](int) { return uint32_t(x); });
}
inline I splat_bytes(int x) { return splat(int32_t(uint32_t(x & 0xff) * 0x01010101u)); }
inline I splat_quad(const int8_t* p) {
    int32_t quad;
    std::memcpy(&quad, p, 4);
    return splat(quad);
}
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
inline I lookup(const Table& table, I index) {
    return each_byte([&](int i, int s) { return table.entry[index.lane[i] >> s & 15]; });
}
inline I gather(const void* table, I index) {
    return each_lane<I>([&](int i) {
        uint32_t entry;
        std::memcpy(&entry, static_cast<const uint8_t*>(table) + size_t(index.lane[i]) * 4, 4);
        return entry;
    });
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
inline I dot_signed(I sum, I codes, I quad) {
    return each_lane<I>([&](int i) {
        int32_t total = int32_t(sum.lane[i]);
        for (int s = 0; s < 32; s += 8)
            total += int8_t(codes.lane[i] >> s) * int8_t(quad.lane[i] >> s);
        return uint32_t(total);
    });
}
inline I biased(I bytes) { return bytes; }

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
    return each_lane<I>([&](int i) { return uint32_t(int32_t(__builtin_rintf(a.lane[i]))); });
}
inline void store(float* p, F a) { std::memcpy(p, a.lane, sizeof a.lane); }
inline void store_f16(uint8_t* p, F a) {
    for (int i = 0; i < lanes; ++i) {
        uint16_t half = float_to_half(a.lane[i]);
        std::memcpy(p + 2 * i, &half, 2);
    }
}
inline void store_bf16(uint8_t* p, F a) {
    for (int i = 0; i < lanes; ++i) {
        uint32_t bits;
        std::memcpy(&bits, &a.lane[i], 4);
        bits = a.lane[i] == a.lane[i] ? bits + 0x7fff + (bits >> 16 & 1) : bits | 0x400000;
        uint16_t upper = uint16_t(bits >> 16);
        std::memcpy(p + 2 * i, &upper, 2);
    }
}
inline void store_bytes(int8_t* p, I a) {
    for (int i = 0; i < lanes; ++i) p[i] = int8_t(a.lane[i]);
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

#endif

}  // namespace tandem::kernels::cpu::TANDEM_ISA
