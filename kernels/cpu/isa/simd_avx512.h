// The words of simd.h for AVX-512 with VNNI. What a word means is said here.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace tandem::kernels::cpu::TANDEM_ISA {

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
// Two numbers of 8 bits for every lane become one in each of its halves.
inline I load_s8_pairs(const uint8_t* p) {
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
// 16 bytes each from as many places as fill a vector.
inline I load_parts(const uint8_t* const (&at)[4]) {
    auto part = [&](int i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at[i])); };
    const I half = _mm512_inserti32x4(_mm512_castsi128_si512(part(0)), part(1), 1);
    return _mm512_inserti32x4(_mm512_inserti32x4(half, part(2), 2), part(3), 3);
}
inline I splat(int32_t x) { return _mm512_set1_epi32(x); }
// What sums begin with, made anew for each of them: the compiler would copy one register to many,
// and copies may take the place of products.
inline I zeros() {
    I a;
    asm volatile("vpxord %0, %0, %0" : "=v"(a));
    return a;
}
inline I splat_at(const int32_t* p) {
    I a;
    asm volatile("vpbroadcastd %1, %0" : "=v"(a) : "m"(*p));
    return a;
}
inline I splat_bytes(int x) { return _mm512_set1_epi8(char(x)); }
// From as many places as fill a vector with 32 bytes each, which lie `apart`: those bytes; and the
// first 4 of them, in each of their 8 lanes.
inline I load_blocks(const uint8_t* p, int64_t apart) {
    auto half = [](const uint8_t* at) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    };
    return _mm512_inserti64x4(_mm512_castsi256_si512(half(p)), half(p + apart), 1);
}
inline I splat_blocks(const int8_t* p, int64_t apart) {
    int32_t quads[2];
    std::memcpy(quads, p, 4);
    std::memcpy(quads + 1, p + apart, 4);
    return _mm512_mask_set1_epi32(_mm512_set1_epi32(quads[0]), 0xff00, quads[1]);
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
inline I mul(I a, I b) { return _mm512_mullo_epi32(a, b); }  // the lower halves of products
inline I add_bytes(I a, I b) { return _mm512_add_epi8(a, b); }
inline I add_in_halves(I a, I b) { return _mm512_add_epi16(a, b); }
inline I max_in_halves(I a, I b) { return _mm512_max_epi16(a, b); }
// a, which the compiler reads from memory once rather than wherever it is used.
inline I in_register(I a) {
    asm("" : "+v"(a));
    return a;
}
inline I lookup(I table, I index) { return _mm512_shuffle_epi8(table, index); }
// Of bytes: those of `yes` where this bit of `where` is set, else of `no`.
inline I select_bit(I where, int bit, I yes, I no) {
    return _mm512_mask_blend_epi8(_mm512_test_epi8_mask(where, _mm512_set1_epi8(char(1 << bit))),
                                  no, yes);
}
// 4 bytes of a table, for each lane those with its number.
inline I gather(const void* table, I index) { return _mm512_i32gather_epi32(index, table, 4); }
// 8 bytes of a table: the first four of each lane's, and the last.
inline void gather_pairs(const void* table, I index, I* halves) {
    const I a = _mm512_i32gather_epi64(_mm512_castsi512_si256(index), table, 8);
    const I b = _mm512_i32gather_epi64(_mm512_extracti64x4_epi64(index, 1), table, 8);
    const I even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    halves[0] = _mm512_permutex2var_epi32(a, even, b);
    halves[1] = _mm512_permutex2var_epi32(a, _mm512_add_epi32(even, _mm512_set1_epi32(1)), b);
}
#if defined(__AVX512VBMI__)
// For each byte, the entry of a table with its number, whose lower 8 bits are in `low` and up to
// three above in the lowest of `high`. It looks at entries [first, first + count): two registers
// hold 128, and of longer tables each half is looked up.
template <int first, int count>
[[gnu::always_inline]] inline I lookup_bytes(const uint8_t* table, I low, I high) {
    constexpr int half = count / 2;
    if constexpr (count == 128) {
        return _mm512_permutex2var_epi8(_mm512_loadu_si512(table + first), low,
                                        _mm512_loadu_si512(table + first + half));
    } else {
        const __mmask64 later = half == 128
                                    ? _mm512_movepi8_mask(low)
                                    : _mm512_test_epi8_mask(high, _mm512_set1_epi8(half / 256));
        return _mm512_mask_blend_epi8(later, lookup_bytes<first, half>(table, low, high),
                                      lookup_bytes<first + half, half>(table, low, high));
    }
}
// Bytes, of which those in a and b are unsigned.
inline I select_less_bytes(I a, I b, I yes, I no) {
    return _mm512_mask_blend_epi8(_mm512_cmplt_epu8_mask(a, b), no, yes);
}
// Each byte of a lane gets eight bits of it: the first one those from bit `from` on, the others
// those `second`, `third` and `fourth` bits later. Behind a lane's last bit come those of its
// neighbour in a pair of lanes.
template <int second, int third, int fourth>
inline I pick_bits(I a, int from) {
    constexpr int64_t places = fourth << 24 | third << 16 | second << 8;
    const I first = _mm512_set1_epi64((places + 0x20202020) << 32 | places);
    return _mm512_multishift_epi64_epi8(_mm512_add_epi8(first, _mm512_set1_epi8(char(from))), a);
}
// a where a bit of `where` is set, else b.
inline I select_bits(I where, I a, I b) { return _mm512_ternarylogic_epi32(where, a, b, 0xca); }
// Bytes of a table of 64, by the six lower bits of each index.
inline I lookup64(I table, I index) { return _mm512_permutexvar_epi8(index, table); }
#endif
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
    return _mm512_or_si512(a, _mm512_maskz_mov_epi8(_mm512_test_epi8_mask(bytes, bits),
                                                    _mm512_set1_epi8(char(value))));
}
// -a in the bytes where `bytes` has one of `bits`.
inline I negate_where(I a, I bytes, I bits) {
    return _mm512_mask_sub_epi8(a, _mm512_test_epi8_mask(bytes, bits), _mm512_setzero_si512(), a);
}
inline I select_less(I a, I b, I yes, I no) {
    return _mm512_mask_mov_epi32(no, _mm512_cmplt_epi32_mask(a, b), yes);
}
// sum + the products of a lane's 4 unsigned bytes with 4 signed ones. Where sums_in_halves, the
// unsigned ones are below 128.
inline I dot(I sum, I codes, I quad) { return _mm512_dpbusd_epi32(sum, codes, quad); }
inline I dot_signed(I sum, I biased, I quad) { return dot(sum, biased, quad); }
// A sum, added up before what the program does next. Where dots take several instructions GCC would
// rather add up when the sum is read, and keep all terms in memory till then. In order: in the
// register that the sum was in, for loops that only load. At once: in any, for loops that need the
// registers for more; the copies that the former may take are what these are slowed by.
inline I in_order(I sum) { return sum; }
inline I at_once(I sum) { return sum; }
// Whether dots are slower than sums of their products in the halves of lanes, which have 16 bits:
// dot_halves() adds two products to each, of codes below 128.
inline constexpr bool sums_in_halves = false;
inline I dot_halves(I sums, I codes, I quad) {
    return _mm512_add_epi16(sums, _mm512_maddubs_epi16(codes, quad));
}
inline I dot_halves_signed(I sums, I codes, I quad) {
    const I negated =
        _mm512_mask_sub_epi8(quad, _mm512_movepi8_mask(codes), _mm512_setzero_si512(), quad);
    return dot_halves(sums, _mm512_abs_epi8(codes), negated);
}
// The lower halves of a's lanes with the upper ones of b's.
inline I join_halves(I a, I b) { return _mm512_mask_blend_epi16(0xaaaaaaaa, a, b); }
// Bytes of a and of b in turn: of each 16 the first 8, or the last 8.
inline I first_in_turn(I a, I b) { return _mm512_unpacklo_epi8(a, b); }
inline I last_in_turn(I a, I b) { return _mm512_unpackhi_epi8(a, b); }
// The lower 16 bits of the products of halves.
inline I times_halves(I a, I b) { return _mm512_mullo_epi16(a, b); }
// Whether dot_pairs() takes less time than two fma().
inline constexpr bool fast_pairs = true;
// Whether there are matrix units (tile_words.h).
#if defined(__AMX_BF16__)
inline constexpr bool matrix_units = true;
#else
inline constexpr bool matrix_units = false;
#endif
// Whether there are kernels for processors that add with twice as many units as multiply
// (adds_cheaply()), too: these have AVX512-BF16.
#if defined(__AVX512BF16__)
inline constexpr bool crosses = true;
#else
inline constexpr bool crosses = false;
#endif
// Whether lookup64() and lookup_bytes() are there.
#if defined(__AVX512VBMI__)
inline constexpr bool looks_up_bytes = true;
#else
inline constexpr bool looks_up_bytes = false;
#endif
// Whether a vector takes several registers, and most words several instructions for each.
inline constexpr bool vectors_in_parts = false;
// sum + the products of a lane's 2 signed halves. In place: where sums go round a loop, the
// compiler would copy each to another register and back.
inline I dot_pairs(I sum, I a, I b) {
    asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "vm"(b));
    return sum;
}

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
inline F sqrt(F a) { return _mm512_sqrt_ps(a); }
inline F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
// The second, where one is no number.
inline F max(F a, F b) { return _mm512_max_ps(a, b); }
inline F min(F a, F b) { return _mm512_min_ps(a, b); }
inline F abs(F a) { return _mm512_abs_ps(a); }
// Halves to even; the least integer for what has no room, and for what is no number.
inline I round_to_int(F a) { return _mm512_cvtps_epi32(a); }
inline void store(float* p, F a) { _mm512_storeu_ps(p, a); }
// Past the caches, to a multiple of 64 bytes; other threads see it after fence_nontemporal().
inline void store_nontemporal(float* p, F a) { _mm512_stream_ps(p, a); }
inline void fence_nontemporal() { _mm_sfence(); }
// To nearest, halves to even.
inline void store_f16(uint8_t* p, F a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                        _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}
// Of lanes from -128 to 127.
inline void store_bytes(int8_t* p, I a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a));
}
// The lower halves of the lanes.
inline void store_halves(int16_t* p, I a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(a));
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
template <int Size>
inline F kept_blocks(F a, F b) {
    constexpr int odd = Size == 8 ? 0xff00 : Size == 4 ? 0xf0f0 : Size == 2 ? 0xcccc : 0xaaaa;
    return _mm512_mask_blend_ps(__mmask16(odd), a, b);
}
template <int Size>
inline F swapped_blocks(F a, F b) {
    if constexpr (Size == 8) return _mm512_shuffle_f32x4(a, b, 0x4e);
    if constexpr (Size == 2)
        return _mm512_castpd_ps(_mm512_shuffle_pd(_mm512_castps_pd(a), _mm512_castps_pd(b), 0x55));
    const F others = kept_blocks<Size>(b, a);
    if constexpr (Size == 4) return _mm512_shuffle_f32x4(others, others, 0xb1);
    if constexpr (Size == 1) return _mm512_permute_ps(others, 0xb1);
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
