// The words of simd.h for AVX2, with AVX-VNNI or without. simd_avx512.h says what they mean.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace tandem::kernels::cpu::TANDEM_ISA {

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
inline I load_s8_pairs(const uint8_t* p) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline I load_parts(const uint8_t* const (&at)[2]) {
    auto part = [&](int i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at[i])); };
    return _mm256_inserti128_si256(_mm256_castsi128_si256(part(0)), part(1), 1);
}
inline I splat(int32_t x) { return _mm256_set1_epi32(x); }
inline I zeros() {
    I a;
    asm volatile("vpxor %0, %0, %0" : "=x"(a));
    return a;
}
inline I splat_at(const int32_t* p) {
    I a;
    asm volatile("vpbroadcastd %1, %0" : "=x"(a) : "m"(*p));
    return a;
}
inline I splat_bytes(int x) { return _mm256_set1_epi8(char(x)); }
inline I table16(const int8_t* p) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline I bit_and(I a, I b) { return _mm256_and_si256(a, b); }
inline I bit_or(I a, I b) { return _mm256_or_si256(a, b); }
inline I bit_xor(I a, I b) { return _mm256_xor_si256(a, b); }
// By bits that the compiler knows, no register is taken for their number.
inline I shift_right(I a, int bits) {
    return __builtin_constant_p(bits) ? _mm256_srli_epi32(a, bits)
                                      : _mm256_srlv_epi32(a, splat(bits));
}
inline I shift_left(I a, int bits) {
    return __builtin_constant_p(bits) ? _mm256_slli_epi32(a, bits)
                                      : _mm256_sllv_epi32(a, splat(bits));
}
inline I shift_right_signed(I a, int bits) {
    return __builtin_constant_p(bits) ? _mm256_srai_epi32(a, bits)
                                      : _mm256_srav_epi32(a, splat(bits));
}
inline I add(I a, I b) { return _mm256_add_epi32(a, b); }
inline I mul(I a, I b) { return _mm256_mullo_epi32(a, b); }
inline I add_bytes(I a, I b) { return _mm256_add_epi8(a, b); }
inline I add_in_halves(I a, I b) { return _mm256_add_epi16(a, b); }
inline I max_in_halves(I a, I b) { return _mm256_max_epi16(a, b); }
inline I in_register(I a) {
    asm("" : "+x"(a));
    return a;
}
inline I lookup(I table, I index) { return _mm256_shuffle_epi8(table, index); }
inline I select_bit(I where, int bit, I yes, I no) {
    return _mm256_blendv_epi8(no, yes, shift_left(where, 7 - bit));
}
inline I gather(const void* table, I index) {
    return _mm256_i32gather_epi32(static_cast<const int*>(table), index, 4);
}
inline void gather_pairs(const void* table, I index, I* halves) {
    auto four = [&](__m128i numbers) {
        const auto* pairs = static_cast<const long long*>(table);
        return _mm256_castsi256_ps(_mm256_i32gather_epi64(pairs, numbers, 8));
    };
    const I ordered = _mm256_permute4x64_epi64(index, 0xd8);  // lanes 0, 1, 4, 5, 2, 3, 6, 7
    const F a = four(_mm256_castsi256_si128(ordered)),
            b = four(_mm256_extracti128_si256(ordered, 1));
    halves[0] = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88));
    halves[1] = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd));
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
inline I dot_halves(I sums, I codes, I quad) {
    return _mm256_add_epi16(sums, _mm256_maddubs_epi16(codes, quad));
}
inline I dot_halves_signed(I sums, I codes, I quad) {
    return dot_halves(sums, _mm256_abs_epi8(codes), _mm256_sign_epi8(quad, codes));
}
inline I join_halves(I a, I b) { return _mm256_blend_epi16(a, b, 0xaa); }
inline I first_in_turn(I a, I b) { return _mm256_unpacklo_epi8(a, b); }
inline I last_in_turn(I a, I b) { return _mm256_unpackhi_epi8(a, b); }
inline I times_halves(I a, I b) { return _mm256_mullo_epi16(a, b); }
inline constexpr bool fast_pairs = true;
inline constexpr bool matrix_units = false, crosses = false;
inline constexpr bool looks_up_bytes = false, vectors_in_parts = false;
#if defined(__AVXVNNI__)
inline I dot_pairs(I sum, I a, I b) { return _mm256_dpwssd_avx_epi32(sum, a, b); }
inline I dot(I sum, I codes, I quad) { return _mm256_dpbusd_avx_epi32(sum, codes, quad); }
inline I dot_signed(I sum, I biased, I quad) { return dot(sum, biased, quad); }
inline I in_order(I sum) { return sum; }
inline I at_once(I sum) { return sum; }
inline constexpr bool sums_in_halves = false;
#else
inline I in_order(I sum) { return in_register(sum); }
inline I at_once(I sum) {
    asm volatile("" : : "x"(sum));
    return sum;
}
inline constexpr bool sums_in_halves = true;
// Bytes `first` and first + 1 of every lane as signed numbers in its halves.
template <int first>
inline I signed_pair(I a) {
    constexpr int bytes = (first << 8 | (first + 1) << 24);
    const I from =
        _mm256_setr_epi32(bytes, bytes + 0x04000400, bytes + 0x08000800, bytes + 0x0c000c00, bytes,
                          bytes + 0x04000400, bytes + 0x08000800, bytes + 0x0c000c00);
    return _mm256_srai_epi16(_mm256_shuffle_epi8(a, from), 8);
}
inline I dot_pairs(I sum, I a, I b) { return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b)); }
// The sums of two products stay below 2^15, as codes below 128 are multiplied by signed bytes.
inline I dot(I sum, I codes, I quad) {
    I pairs = _mm256_maddubs_epi16(codes, quad);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
inline I dot_signed(I sum, I codes, I quad) {
    return dot(sum, _mm256_abs_epi8(codes), _mm256_sign_epi8(quad, codes));
}
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
inline F sqrt(F a) { return _mm256_sqrt_ps(a); }
inline F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
inline F max(F a, F b) { return _mm256_max_ps(a, b); }
inline F min(F a, F b) { return _mm256_min_ps(a, b); }
inline F abs(F a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
inline I round_to_int(F a) { return _mm256_cvtps_epi32(a); }
inline void store(float* p, F a) { _mm256_storeu_ps(p, a); }
inline void store_nontemporal(float* p, F a) { _mm256_stream_ps(p, a); }
inline void fence_nontemporal() { _mm_sfence(); }
inline void store_f16(uint8_t* p, F a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}
inline void store_bytes(int8_t* p, I a) {
    __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(words, words));
}
inline void store_halves(int16_t* p, I a) {
    const I halves = _mm256_srai_epi32(_mm256_slli_epi32(a, 16), 16);
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(p),
        _mm_packs_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1)));
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
template <int Size>
inline F kept_blocks(F a, F b) {
    constexpr int odd = Size == 4 ? 0xf0 : Size == 2 ? 0xcc : 0xaa;
    return _mm256_blend_ps(a, b, odd);
}
template <int Size>
inline F swapped_blocks(F a, F b) {
    if constexpr (Size == 4) return _mm256_permute2f128_ps(a, b, 0x21);
    if constexpr (Size == 2)
        return _mm256_castpd_ps(_mm256_shuffle_pd(_mm256_castps_pd(a), _mm256_castps_pd(b), 5));
    if constexpr (Size == 1) return _mm256_permute_ps(kept_blocks<1>(b, a), 0xb1);
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
