// Rows of caches, written with the bits of gguf::encode_row(). Of blocks of 32 numbers:
//
//     q8_0    scale = largest magnitude / 127
//             code = round(x * inverse), halves away from zero
//     q4_0    scale = number of the largest magnitude / -8
//             code = floor(x * inverse + 8.5), at most 15
//
// The inverse is that of the scale, or 0 where it would be infinite. What is no number, or
// infinite, gets the least code, and the scale is no number where a number of the block is none.
#include "gguf/dtype.h"
#include "kernels/cpu/isa/cache_rows.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/quantize.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

template <int bytes, typename Store>
inline void encode_row(const float* x, int64_t count, uint8_t* row, Store store_vector) {
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) store_vector(row + bytes * i, load_f32(x + i));
    if (i == count) return;
    float rest[lanes] = {};
    uint8_t encoded[bytes * lanes];
    std::memcpy(rest, x + i, size_t(count - i) * sizeof(float));
    store_vector(encoded, load_f32(rest));
    std::memcpy(row + bytes * i, encoded, size_t((count - i) * bytes));
}

constexpr int block = cache_block;

float inverse_of(float scale) {
    const float inverse = 1 / scale;
    return is_finite(inverse) ? inverse : 0;
}

void put_f16(uint8_t* to, float number) {
    alignas(64) uint8_t numbers[2 * lanes];
    store_f16(numbers, splat(number));
    std::memcpy(to, numbers, 2);
}

// A product that is rounded before anything is added to it.
F product(F a, F b) { return as_float(in_register(as_int(mul(a, b)))); }

// The code of a number, or the least.
I or_least(F number, I code, int least) {
    constexpr int32_t infinite = 0x7f800000;  // its bits
    return select_less(as_int(abs(number)), splat(infinite), code, splat(least));
}

// Halves go away from zero.
I round_away(F number) {
    const F magnitude = min(abs(number), splat(127.0f));
    const I even = round_to_int(magnitude);
    const I rest = as_int(sub(magnitude, to_float(even)));
    const I code = select_less(rest, as_int(splat(0.5f)), even, add(even, splat(1)));
    return or_least(number, select_less(as_int(number), splat(0), minus(code), code), -127);
}

I round_down(F number) {
    const F low = min(number, splat(15.0f));
    const I code = round_to_int(low);
    return or_least(
        number, select_less(as_int(low), as_int(to_float(code)), add(code, splat(-1)), code), 0);
}

void encode_q8_0(const float* x, uint8_t* to) {
    const float scale = largest_magnitude(x, block) / 127;
    const F inverse = splat(inverse_of(scale));
    put_f16(to, scale);
    for (int i = 0; i < block; i += lanes)
        store_bytes(reinterpret_cast<int8_t*>(to + 2 + i),
                    round_away(mul(load_f32(x + i), inverse)));
}

// Of numbers with the same magnitude, the first. Compared as integers, which put NaN above all.
float extreme(const float* x) {
    constexpr int32_t sign = INT32_MIN;  // its bit
    I high = splat(0), low = splat(0);
    for (int i = 0; i < block; i += lanes) {
        const I some = as_int(load_f32(x + i));
        high = max(some, high);
        low = max(bit_xor(some, splat(sign)), low);
    }
    const float most = largest_float(high), least = largest_float(low);
    if (largest(high) != largest(low)) return largest(high) > largest(low) ? most : -least;
    for (int i = 0; i < block && most > 0; ++i)
        if (x[i] == most || x[i] == -most) return x[i];
    return most;
}

void encode_q4_0(const float* x, uint8_t* to) {
    const float scale = extreme(x) / -8;
    const F inverse = splat(inverse_of(scale));
    put_f16(to, scale);
    auto codes = [&](int i) {
        return round_down(add(product(load_f32(x + i), inverse), splat(8.5f)));
    };
    for (int i = 0; i < block / 2; i += lanes) {
        const I low = codes(i), high = codes(i + block / 2);
        // 16 times the upper code, as a byte with a sign: bytes are stored as such.
        const I upper = shift_left(add(bit_xor(high, splat(8)), splat(-8)), 4);
        store_bytes(reinterpret_cast<int8_t*>(to + 2 + i), bit_or(upper, low));
    }
}

template <int bytes>
inline void encode_blocks(const float* x, int64_t count, uint8_t* row,
                          void (*encode_block)(const float* x, uint8_t* to)) {
    for (int64_t n = 0; n < count / block; ++n) encode_block(x + n * block, row + n * bytes);
}

}  // namespace

void encode(int type, const float* x, int64_t count, uint8_t* row) {
    switch (gguf::DType(type)) {
        case gguf::DType::F32:
            std::memcpy(row, x, size_t(count) * sizeof(float));
            return;
        case gguf::DType::F16:
            return encode_row<2>(x, count, row, [](uint8_t* to, F v) { store_f16(to, v); });
        case gguf::DType::BF16:
            return encode_row<2>(x, count, row, [](uint8_t* to, F v) { store_bf16(to, v); });
        case gguf::DType::Q8_0:
            return encode_blocks<q8_0_bytes>(x, count, row, encode_q8_0);
        case gguf::DType::Q4_0:
            return encode_blocks<q4_0_bytes>(x, count, row, encode_q4_0);
        default:
            __builtin_trap();  // ops/attend.cpp claims no other
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
