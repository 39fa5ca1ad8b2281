// The 16-bit floating point formats, bit for bit.
#include "gguf/half.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gguf/dtype.h"
#include "vectors.h"

namespace tandem::gguf {
namespace {

using test::bits_of_hex;

TEST(Half, f16_vectors) {
    const auto json = test::vectors("quant/F16.json");
    for (const auto& item : json["dequant"]) {
        const float value = f16_to_f32(uint16_t(bits_of_hex(item["f16"])));
        EXPECT_EQ(std::bit_cast<uint32_t>(value), bits_of_hex(item["f32"])) << item;
    }
    for (const auto& item : json["quantize"]) {
        const float value = std::bit_cast<float>(bits_of_hex(item["f32"]));
        EXPECT_EQ(f32_to_f16(value), bits_of_hex(item["f16"])) << item;
    }
}

TEST(Half, bf16_vectors) {
    const auto json = test::vectors("quant/BF16.json");
    for (const auto& item : json["dequant"]) {
        const float value = bf16_to_f32(uint16_t(bits_of_hex(item["bf16"])));
        EXPECT_EQ(std::bit_cast<uint32_t>(value), bits_of_hex(item["f32"])) << item;
    }
    for (const auto& item : json["quantize"]) {
        const float value = std::bit_cast<float>(bits_of_hex(item["f32"]));
        EXPECT_EQ(f32_to_bf16(value), bits_of_hex(item["bf16"])) << item;
    }
}

TEST(Half, every_pattern_survives_a_round_trip) {
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        const float half = f16_to_f32(uint16_t(bits));
        if (std::isnan(half)) {
            EXPECT_EQ(f32_to_f16(half), (bits & 0x8000) | 0x7e00);
        } else {
            EXPECT_EQ(f32_to_f16(half), bits);
        }
        const float brain = bf16_to_f32(uint16_t(bits));
        EXPECT_EQ(f32_to_bf16(brain), std::isnan(brain) ? bits | 0x40 : bits);
    }
}

TEST(Half, every_f16_has_its_value) {
    for (int bits = 0; bits < 0x7c00; bits++) {
        const int exponent = bits >> 10;
        const int fraction = bits & 0x3ff;
        const double value =
            exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
        EXPECT_EQ(f16_to_f32(uint16_t(bits)), value);
        EXPECT_EQ(f16_to_f32(uint16_t(bits | 0x8000)), -value);
    }
}

// Between two neighbours the nearer one is taken, halfway the even one.
TEST(Half, rounding_between_neighbours) {
    for (uint32_t bits = 0; bits < 0x7bff; bits++) {
        const float low = f16_to_f32(uint16_t(bits));
        const float high = f16_to_f32(uint16_t(bits + 1));
        const float middle = (low + high) / 2;
        EXPECT_EQ(f32_to_f16(middle), bits + (bits & 1));
        EXPECT_EQ(f32_to_f16(std::nextafter(middle, low)), bits);
        EXPECT_EQ(f32_to_f16(std::nextafter(middle, high)), bits + 1);
    }
}

TEST(Half, rows) {
    const float values[] = {0.0f, -1.5f, 65504.0f, 1e-7f};
    for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
        std::byte row[sizeof values];
        float decoded[4];
        encode_row(dtype, values, row);
        decode_row(dtype, row, decoded);
        for (int i = 0; i < 4; i++) {
            EXPECT_NEAR(decoded[i], values[i], std::fabs(values[i]) / 128 + 1e-7f);
        }
    }
}

}  // namespace
}  // namespace tandem::gguf
