// Types of one element per block: IEEE and bfloat16 numbers, two's complement integers.
#include <algorithm>

#include "gguf/quants/quants.h"
#include "gguf/quants/rows.h"

namespace tandem::gguf {

namespace {

template <class Number>
void decode_numbers(const std::byte* row, std::span<float> values) {
    decode_blocks<1, sizeof(Number)>(row, values, [](const uint8_t* number, float* value) {
        *value = float(load<Number>(number));
    });
}

}  // namespace

void decode_f32(const std::byte* row, std::span<float> values) {
    std::copy_n(row, values.size_bytes(), std::as_writable_bytes(values).data());
}

void decode_f16(const std::byte* row, std::span<float> values) {
    decode_blocks<1, 2>(row, values,
                        [](const uint8_t* half, float* value) { *value = load_f16(half); });
}

void decode_bf16(const std::byte* row, std::span<float> values) {
    decode_blocks<1, 2>(row, values, [](const uint8_t* half, float* value) {
        *value = bf16_to_f32(load<uint16_t>(half));
    });
}

void decode_f64(const std::byte* row, std::span<float> values) {
    decode_numbers<double>(row, values);
}

void decode_i8(const std::byte* row, std::span<float> values) {
    decode_numbers<int8_t>(row, values);
}

void decode_i16(const std::byte* row, std::span<float> values) {
    decode_numbers<int16_t>(row, values);
}

void decode_i32(const std::byte* row, std::span<float> values) {
    decode_numbers<int32_t>(row, values);
}

void decode_i64(const std::byte* row, std::span<float> values) {
    decode_numbers<int64_t>(row, values);
}

void encode_f32(std::span<const float> values, std::span<const float>, std::byte* row) {
    std::copy_n(std::as_bytes(values).data(), values.size_bytes(), row);
}

void encode_f16(std::span<const float> values, std::span<const float> importance, std::byte* row) {
    encode_blocks<1, 2>(values, importance, row, [](const float* value, const float*, uint8_t* to) {
        store_f16(to, *value);
    });
}

void encode_bf16(std::span<const float> values, std::span<const float> importance, std::byte* row) {
    encode_blocks<1, 2>(values, importance, row, [](const float* value, const float*, uint8_t* to) {
        store(to, f32_to_bf16(*value));
    });
}

}  // namespace tandem::gguf
