// The words of simd.h for any processor: two vectors of 16 bytes, of which GCC and Clang make what
// there is. simd_avx512.h says what they mean.
#pragma once

#include <cstdint>
#include <cstring>

namespace tandem::kernels::cpu::TANDEM_ISA {

inline constexpr int lanes = 8;
inline constexpr int signed_bias = 0;

template <typename Number, int count>
struct VectorOf {
    using Type [[gnu::vector_size(count * sizeof(Number))]] = Number;
};
template <typename Number, int count>
using Vector = typename VectorOf<Number, count>::Type;
// Pieces rather than one vector of 32 bytes, as GCC keeps what fits no register in memory.
template <typename Number>
struct Pair {
    using Part = Vector<Number, 16 / sizeof(Number)>;
    Part first, last;
};
using I = Pair<uint32_t>;
using F = Pair<float>;
using SignedLanes = Pair<int32_t>;
using Halves = Pair<uint16_t>;
using SignedHalves = Pair<int16_t>;
using Bytes = Pair<uint8_t>;

template <typename Number>
inline Pair<Number> operator+(Pair<Number> a, Pair<Number> b) {
    return {a.first + b.first, a.last + b.last};
}
template <typename Number>
inline Pair<Number> operator-(Pair<Number> a, Pair<Number> b) {
    return {a.first - b.first, a.last - b.last};
}
template <typename Number>
inline Pair<Number> operator*(Pair<Number> a, Pair<Number> b) {
    return {a.first * b.first, a.last * b.last};
}
template <typename Number>
inline Pair<Number> operator>>(Pair<Number> a, int bits) {
    return {a.first >> bits, a.last >> bits};
}
template <typename Number>
inline Pair<Number> operator<<(Pair<Number> a, int bits) {
    return {a.first << bits, a.last << bits};
}
inline I operator&(I a, I b) { return {a.first & b.first, a.last & b.last}; }
inline I operator|(I a, I b) { return {a.first | b.first, a.last | b.last}; }
inline I operator^(I a, I b) { return {a.first ^ b.first, a.last ^ b.last}; }
// All bits of numbers, where this is so.
template <typename Number>
inline I operator<(Pair<Number> a, Pair<Number> b) {
    return {reinterpret_cast<I::Part>(a.first < b.first),
            reinterpret_cast<I::Part>(a.last < b.last)};
}
inline I operator<=(F a, F b) {
    return {reinterpret_cast<I::Part>(a.first <= b.first),
            reinterpret_cast<I::Part>(a.last <= b.last)};
}
inline I operator!=(Bytes a, Bytes b) {
    return {reinterpret_cast<I::Part>(a.first != b.first),
            reinterpret_cast<I::Part>(a.last != b.last)};
}
// Of bits: those of `yes` where `where` has one, else of `no`.
inline I select(I where, I yes, I no) { return no ^ (where & (yes ^ no)); }

// The same bits as numbers of another kind.
template <typename To, typename Number>
inline To as(Pair<Number> a) {
    using Part = typename To::Part;
    return {reinterpret_cast<Part>(a.first), reinterpret_cast<Part>(a.last)};
}
template <typename Numbers>
inline Numbers read(const void* p) {
    Numbers numbers;
    std::memcpy(&numbers, p, sizeof numbers);
    return numbers;
}
// Numbers of fewer bits, as those of `To`.
template <typename Number, typename To>
inline I widened(const uint8_t* p) {
    using Part = typename To::Part;
    constexpr int count = sizeof(Part) / sizeof(typename To::Part{}[0]);
    using Few = Vector<Number, count>;
    return as<I>(To{__builtin_convertvector(read<Few>(p), Part),
                    __builtin_convertvector(read<Few>(p + sizeof(Few)), Part)});
}
// Lane by lane.
template <typename Number, typename Each>
inline Pair<Number> each_lane(Each each) {
    Number lane[lanes];
    for (int i = 0; i < lanes; ++i) lane[i] = each(i);
    return read<Pair<Number>>(lane);
}
template <typename Number>
struct Array {
    Number lane[lanes];
    explicit Array(Pair<Number> a) { std::memcpy(lane, &a, sizeof a); }
    Number operator[](int i) const { return lane[i]; }
};

inline I load(const uint8_t* p) { return read<I>(p); }
inline void store(uint8_t* p, I a) { std::memcpy(p, &a, sizeof a); }
inline I load_u16(const uint8_t* p) { return widened<uint16_t, I>(p); }
inline I load_u8(const uint8_t* p) { return widened<uint8_t, I>(p); }
inline I load_s8(const uint8_t* p) { return widened<int8_t, SignedLanes>(p); }
inline I load_s8_pairs(const uint8_t* p) { return widened<int8_t, SignedHalves>(p); }
inline I load_parts(const uint8_t* const (&at)[2]) {
    return {read<I::Part>(at[0]), read<I::Part>(at[1])};
}
inline I splat(int32_t x) {
    const auto u = uint32_t(x);
    const I::Part four = {u, u, u, u};
    return {four, four};
}
inline I zeros() { return I{}; }
inline I splat_at(const int32_t* p) { return splat(*p); }
inline I splat_bytes(int x) { return splat(int32_t(uint32_t(x & 0xff) * 0x01010101u)); }
struct Table {
    int8_t entry[16];
};
inline Table table16(const int8_t* p) { return read<Table>(p); }
inline I bit_and(I a, I b) { return a & b; }
inline I bit_or(I a, I b) { return a | b; }
inline I bit_xor(I a, I b) { return a ^ b; }
inline I shift_right(I a, int bits) { return a >> bits; }
inline I shift_left(I a, int bits) { return a << bits; }
inline I shift_right_signed(I a, int bits) { return as<I>(as<SignedLanes>(a) >> bits); }
inline I add(I a, I b) { return a + b; }
inline I mul(I a, I b) { return a * b; }
inline I add_bytes(I a, I b) { return as<I>(as<Bytes>(a) + as<Bytes>(b)); }
inline I add_in_halves(I a, I b) { return as<I>(as<Halves>(a) + as<Halves>(b)); }
inline I max_in_halves(I a, I b) { return select(as<SignedHalves>(a) < as<SignedHalves>(b), b, a); }
inline I in_register(I a) {
    asm("" : "+m"(a));  // there is none that it fits
    return a;
}
inline I lookup(const Table& table, I index) {
    uint8_t bytes[4 * lanes];
    store(bytes, index);
    for (uint8_t& byte : bytes) byte = uint8_t(table.entry[byte & 15]);
    return load(bytes);
}
// All bits of the bytes that have one of these.
inline I bytes_with(I bits) { return as<Bytes>(bits) != Bytes{}; }
inline I select_bit(I where, int bit, I yes, I no) {
    return select(bytes_with(where & splat_bytes(1 << bit)), yes, no);
}
inline I gather(const void* table, I index) {
    const Array<uint32_t> numbers(index);
    return each_lane<uint32_t>([&](int i) {
        return read<uint32_t>(static_cast<const uint8_t*>(table) + size_t(numbers[i]) * 4);
    });
}
inline void gather_pairs(const void* table, I index, I* halves) {
    const I first = index << 1;
    halves[0] = gather(table, first);
    halves[1] = gather(static_cast<const uint8_t*>(table) + 4, first);
}
inline I repeat_byte(I a, int b) {
    const I byte = a >> 8 * b & splat(0xff), two = byte | byte << 8;
    return two | two << 16;
}
inline I or_where(I a, I bytes, I bits, int value) {
    return a | (bytes_with(bytes & bits) & splat_bytes(value));
}
inline I negate_where(I a, I bytes, I bits) {
    const I where = bytes_with(bytes & bits);
    return as<I>(as<Bytes>(a ^ where) - as<Bytes>(where));
}
inline I select_less(I a, I b, I yes, I no) {
    return select(as<SignedLanes>(a) < as<SignedLanes>(b), yes, no);
}

// Of each two numbers of 16 bits the first, and the second, as lanes; of bytes, as halves.
inline I first_half(SignedHalves a) { return shift_right_signed(as<I>(a) << 16, 16); }
inline I second_half(SignedHalves a) { return shift_right_signed(as<I>(a), 16); }
inline SignedHalves first_byte(I a) { return as<SignedHalves>(as<Halves>(a) << 8) >> 8; }
inline SignedHalves second_byte(I a) { return as<SignedHalves>(a) >> 8; }
// Sums of two products: they stay below 2^15, as codes below 128, or signed ones, are multiplied by
// bytes from -127 on.
inline I two_products(I codes, I quad) {
    const auto first = as<SignedHalves>(codes & splat(0x00ff00ff)),
               second = as<SignedHalves>(as<Halves>(codes) >> 8);
    return as<I>(first * first_byte(quad) + second * second_byte(quad));
}
inline I two_products_signed(I codes, I quad) {
    return as<I>(first_byte(codes) * first_byte(quad) + second_byte(codes) * second_byte(quad));
}
inline I add_both_halves(I sum, I halves) {
    return sum + first_half(as<SignedHalves>(halves)) + second_half(as<SignedHalves>(halves));
}
inline I dot(I sum, I codes, I quad) { return add_both_halves(sum, two_products(codes, quad)); }
inline I dot_signed(I sum, I codes, I quad) {
    return add_both_halves(sum, two_products_signed(codes, quad));
}
inline I in_order(I sum) { return sum; }
inline I at_once(I sum) { return sum; }
inline constexpr bool sums_in_halves = false;
inline I dot_halves(I sums, I codes, I quad) {
    return add_in_halves(sums, two_products(codes, quad));
}
inline I dot_halves_signed(I sums, I codes, I quad) {
    return add_in_halves(sums, two_products_signed(codes, quad));
}
inline I join_halves(I a, I b) { return select(splat(0xffff), a, b); }
inline I first_in_turn(I a, I b) {
    auto in_turn = [](Bytes::Part x, Bytes::Part y) {
        return __builtin_shufflevector(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7,
                                       23);
    };
    const auto x = as<Bytes>(a), y = as<Bytes>(b);
    return as<I>(Bytes{in_turn(x.first, y.first), in_turn(x.last, y.last)});
}
inline I last_in_turn(I a, I b) {
    auto in_turn = [](Bytes::Part x, Bytes::Part y) {
        return __builtin_shufflevector(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
                                       15, 31);
    };
    const auto x = as<Bytes>(a), y = as<Bytes>(b);
    return as<I>(Bytes{in_turn(x.first, y.first), in_turn(x.last, y.last)});
}
inline I times_halves(I a, I b) { return as<I>(as<Halves>(a) * as<Halves>(b)); }
inline constexpr bool fast_pairs = false;
inline constexpr bool matrix_units = false, crosses = false;
inline constexpr bool looks_up_bytes = false, vectors_in_parts = true;
inline I dot_pairs(I sum, I a, I b) {
    const auto x = as<SignedHalves>(a), y = as<SignedHalves>(b);
    return sum + first_half(x) * first_half(y) + second_half(x) * second_half(y);
}
inline Table biased(const Table& table) { return table; }

inline F to_float(I a) {
    const auto numbers = as<SignedLanes>(a);
    return {__builtin_convertvector(numbers.first, F::Part),
            __builtin_convertvector(numbers.last, F::Part)};
}
inline F as_float(I a) { return as<F>(a); }
inline I as_int(F a) { return as<I>(a); }
inline F splat(float x) {
    const F::Part four = {x, x, x, x};
    return {four, four};
}
inline F zero() { return F{}; }
inline F load_f32(const void* p) { return read<F>(p); }
inline F float_of_half(I a) {
    const I rest = a & splat(0x7fff), bits = rest << 13;
    // Moves the exponent's bias; subnormals come out right.
    const F value = as_float(bits) * splat(0x1p112f);
    const I magnitude = select_less(rest, splat(0x7c00), as_int(value), bits | splat(0x7f800000));
    return as_float((a & splat(0x8000)) << 16 | magnitude);
}
inline F load_f16(const void* p) { return float_of_half(load_u16(static_cast<const uint8_t*>(p))); }
inline F load_bf16(const void* p) {
    return as_float(load_u16(static_cast<const uint8_t*>(p)) << 16);
}
inline F splat_f16(const void* p) { return float_of_half(splat(int32_t(read<uint16_t>(p)))); }
inline F add(F a, F b) { return a + b; }
inline F sub(F a, F b) { return a - b; }
inline F mul(F a, F b) { return a * b; }
inline F div(F a, F b) { return {a.first / b.first, a.last / b.last}; }
inline F sqrt(F a) {
    const Array<float> numbers(a);
    return each_lane<float>([&](int i) { return __builtin_sqrtf(numbers[i]); });
}
inline F fma(F a, F b, F c) { return a * b + c; }
inline F select(I where, F yes, F no) { return as_float(select(where, as_int(yes), as_int(no))); }
inline F max(F a, F b) { return select(b < a, a, b); }
inline F min(F a, F b) { return select(a < b, a, b); }
inline F abs(F a) { return as_float(as_int(a) & splat(0x7fffffff)); }
inline I round_to_int(F a) {
    // A sum with this has no fraction. Numbers as large have none, either.
    const F whole = as_float((as_int(a) & splat(INT32_MIN)) | as_int(splat(0x1p23f)));
    const F rounded = select(abs(a) < splat(0x1p23f), a + whole - whole, a);
    const I fits = (splat(-0x1p31f) <= rounded) & (rounded < splat(0x1p31f));
    const F room = as_float(as_int(rounded) & fits);
    const SignedLanes numbers{__builtin_convertvector(room.first, SignedLanes::Part),
                              __builtin_convertvector(room.last, SignedLanes::Part)};
    return select(fits, as<I>(numbers), splat(INT32_MIN));
}
inline void store(float* p, F a) { std::memcpy(p, &a, sizeof a); }
inline void store_nontemporal(float* p, F a) { store(p, a); }
inline void fence_nontemporal() {}
inline void store_bytes(int8_t* p, I a) {
    const Array<uint32_t> numbers(a);
    for (int i = 0; i < lanes; ++i) p[i] = int8_t(numbers[i]);
}
inline void store_halves(int16_t* p, I a) {
    const Array<uint32_t> numbers(a);
    for (int i = 0; i < lanes; ++i) p[i] = int16_t(numbers[i]);
}
inline void store_f16(uint8_t* p, F a) {
    const I bits = as_int(a), sign = bits >> 16 & splat(0x8000), rest = bits & splat(0x7fffffff);
    const I odd = rest >> 13 & splat(1);
    const I normal = (rest + splat(0xfff - (112 << 23)) + odd) >> 13;
    // In units of 2^-24, which a sum with 0.5 has room for.
    const I subnormal = as_int(as_float(rest) + splat(0.5f)) - as_int(splat(0.5f));
    I half = select_less(rest, splat(0x38800000), subnormal, normal);
    half = select_less(rest, splat(0x477ff000), half, splat(0x7c00));
    half = select_less(splat(0x7f800000), rest, splat(0x7e00), half);
    store_halves(reinterpret_cast<int16_t*>(p), sign | half);
}
inline F keep_from(F a, float limit, F x) { return as_float(as_int(x) & (splat(limit) <= a)); }
inline float sum(F a) {
    float total = 0;
    for (float x : Array<float>(a).lane) total += x;
    return total;
}
inline int32_t sum(I a) {
    uint32_t total = 0;
    for (uint32_t x : Array<uint32_t>(a).lane) total += x;
    return int32_t(total);
}
inline I max(I a, I b) { return select_less(a, b, b, a); }
inline int32_t largest(I a) {
    int32_t most = INT32_MIN;
    for (uint32_t x : Array<uint32_t>(a).lane) most = int32_t(x) > most ? int32_t(x) : most;
    return most;
}
template <typename Each>
inline F each_lane_of(F a, F b, Each each) {
    const Array<float> x(a), y(b);
    return each_lane<float>([&](int i) { return each(x.lane, y.lane, i); });
}
template <int Size>
inline F even_blocks(F a, F b) {
    return each_lane_of(a, b, [](const float* x, const float* y, int i) {
        return i / Size % 2 ? y[i - Size] : x[i];
    });
}
template <int Size>
inline F odd_blocks(F a, F b) {
    return each_lane_of(a, b, [](const float* x, const float* y, int i) {
        return i / Size % 2 ? y[i] : x[i + Size];
    });
}
template <int Size>
inline F kept_blocks(F a, F b) {
    return each_lane_of(
        a, b, [](const float* x, const float* y, int i) { return i / Size % 2 ? y[i] : x[i]; });
}
template <int Size>
inline F swapped_blocks(F a, F b) {
    return each_lane_of(a, b, [](const float* x, const float* y, int i) {
        return i / Size % 2 ? y[i - Size] : x[i + Size];
    });
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
