// IQ1_*, IQ2_*, IQ3_*: 256 elements, each 8 (or 4) of them a point of a codebook, with signs or a
// shift of their own and a scale per 16 or 32 elements. @n is a field's place in its block.
#include <bit>

#include "gguf/quants/grids.h"
#include "gguf/quants/plane.h"
#include "gguf/quants/quants.h"
#include "gguf/quants/rows.h"

namespace tandem::gguf {

namespace {

// Bit k of `signs` negates element k.
template <size_t length>
void put_signed(float scale, const std::array<int8_t, length>& point, uint32_t signs, float* x) {
    for (size_t k = 0; k < length; k++) {
        x[k] = negate_if(signs >> k, scale * float(point[k]));
    }
}

void put_shifted(float scale, const Octet& point, float shift, float* x) {
    for (size_t k = 0; k < 8; k++) x[k] = scale * (float(point[k]) + shift);
}

// The eight signs of a seven bit number: the last one makes their number even.
uint32_t even_signs(uint32_t seven) { return seven | uint32_t(std::popcount(seven) & 1) << 7; }

constexpr float eighth = 0.125f;

}  // namespace

// d f16 @0, 8 x {index[4], w u32} @2: w holds 4 x 7 bits of signs, then 4 bits of scale
void decode_iq2_xxs(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 66>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const uint8_t* group = block + 2;
        for (int t = 0; t < 8; t++, group += 8) {
            const auto w = load<uint32_t>(group + 4);
            const float scale = (d * (0.5f + float(w >> 28))) * 0.25f;
            for (int k = 0; k < 4; k++, x += 8) {
                put_signed(scale, iq2xxs_grid[group[k]], even_signs((w >> (7 * k)) & 127), x);
            }
        }
    });
}

// d f16 @0, v u16[32] @2 (9 bits of index, 7 of signs), scales u4[16] @66
void decode_iq2_xs(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 74>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        for (int k = 0; k < 32; k++, x += 8) {
            const float scale = (d * (0.5f + float(nibble(block + 66, k / 2)))) * 0.25f;
            const auto v = load<uint16_t>(block + 2 + 2 * k);
            put_signed(scale, iq2xs_grid[v & 511], even_signs(v >> 9), x);
        }
    });
}

// d f16 @0, index[32] @2, signs[32] @34, two high bits of the indices u2[32] @66, scales u4[16] @74
void decode_iq2_s(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 82>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        for (int k = 0; k < 32; k++, x += 8) {
            const float scale = (d * (0.5f + float(nibble(block + 74, k / 2)))) * 0.25f;
            const int high = (block[66 + k / 4] >> (2 * (k % 4))) & 3;
            put_signed(scale, iq2s_grid[block[2 + k] | high << 8], block[34 + k], x);
        }
    });
}

// d f16 @0, index[64] @2, w u32[8] @66: w as in IQ2_XXS, signs for two quads at a time
void decode_iq3_xxs(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 98>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const uint8_t* index = block + 2;
        for (int t = 0; t < 8; t++) {
            const auto w = load<uint32_t>(block + 66 + 4 * t);
            const float scale = (d * (0.5f + float(w >> 28))) * 0.5f;
            for (int k = 0; k < 4; k++, x += 8, index += 2) {
                const uint32_t signs = even_signs((w >> (7 * k)) & 127);
                put_signed(scale, iq3xxs_grid[index[0]], signs, x);
                put_signed(scale, iq3xxs_grid[index[1]], signs >> 4, x + 4);
            }
        }
    });
}

// d f16 @0, index[64] @2, ninth bits of the indices u1[64] @66, signs[32] @74, scales u4[8] @106
void decode_iq3_s(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 110>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const uint8_t* index = block + 2;
        const uint8_t* signs = block + 74;
        for (int t = 0; t < 8; t++, index += 8, signs += 4) {
            const float scale = d * float(1 + 2 * nibble(block + 106, t));
            const uint32_t high = block[66 + t];
            for (uint32_t k = 0; k < 8; k++, x += 4) {
                const auto& point = iq3s_grid[index[k] | ((high >> k) & 1) << 8];
                put_signed(scale, point, signs[k / 2] >> (4 * (k % 2)), x);
            }
        }
    });
}

// d f16 @0, index[32] @2, h u16[8] @34: 4 x 3 high bits of index, 3 bits of scale, sign of shift
void decode_iq1_s(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 50>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const uint8_t* index = block + 2;
        for (int t = 0; t < 8; t++, index += 4) {
            const uint32_t h = load<uint16_t>(block + 34 + 2 * t);
            const float scale = d * float(2 * ((h >> 12) & 7) + 1);
            const float shift = (h >> 15) != 0 ? -eighth : eighth;
            for (int k = 0; k < 4; k++, x += 8) {
                put_shifted(scale, iq1s_grid[index[k] | ((h >> (3 * k)) & 7) << 8], shift, x);
            }
        }
    });
}

// index[32] @0, u4[32] @32 (3 high bits of the index, sign of shift), s u16[4] @48: 4 x 3 bits of
// scale each; their high nibbles make up d f16
void decode_iq1_m(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 56>(row, values, [](const uint8_t* block, float* x) {
        uint32_t s[4];
        uint32_t d_bits = 0;
        for (int i = 0; i < 4; i++) {
            s[i] = load<uint16_t>(block + 48 + 2 * i);
            d_bits |= (s[i] >> 12) << (4 * i);
        }
        const float d = f16_to_f32(uint16_t(d_bits));
        for (int k = 0; k < 32; k++, x += 8) {
            const int j = k / 2;
            const float scale = d * float(2 * ((s[j / 4] >> (3 * (j % 4))) & 7) + 1);
            const int n = nibble(block + 32, k);
            put_shifted(scale, iq1s_grid[block[k] | (n & 7) << 8], n > 7 ? -eighth : eighth, x);
        }
    });
}

}  // namespace tandem::gguf
