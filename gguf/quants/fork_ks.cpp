// IQ2_KS to IQ5_KS and their kin, types that one fork writes: like IQ*_K, but with one scale R for
// a whole row, in front of its blocks, and groups of 32. @n is a field's place in its block.
#include "gguf/quants/fork_levels.h"
#include "gguf/quants/plane.h"
#include "gguf/quants/quants.h"
#include "gguf/quants/rows.h"

namespace tandem::gguf {

namespace {

float row_scale_f16(const std::byte* row) {
    return load_f16(reinterpret_cast<const uint8_t*>(row));
}
float row_scale_f32(const std::byte* row) {
    return load<float>(reinterpret_cast<const uint8_t*>(row));
}

// The nibbles of the first half of the groups below those of the second half.
int halves_nibble(const uint8_t* bytes, int i) { return (bytes[i % 4] >> (4 * (i / 4))) & 15; }
int bit(uint32_t bits, int i) { return int((bits >> i) & 1); }

// A byte of scale, its lowest bit chooses the levels.
float byte_scale(float r, int byte) { return r * float((byte & 254) - 127); }

}  // namespace

// R f16; low byte of e chooses levels, the high byte is the fifth bits of S; e u16 @0, S u4[8] @2,
// q u2[256] @6: x = R (S - 16) L2[q]
void decode_iq2_ks(const std::byte* row, std::span<float> values) {
    const float r = row_scale_f16(row);
    decode_blocks<256, 70>(row + 2, values, [r](const uint8_t* block, float* x) {
        const auto e = load<uint16_t>(block);
        for (int j = 0; j < 8; j++, x += 32) {
            const float scale = r * float((nibble(block + 2, j) | bit(e, 8 + j) << 4) - 16);
            const int8_t* levels = levels2.data() + 4 * bit(e, j);
            const auto q = run<2>(block + 6, 32 * j);
            for (int i = 0; i < 32; i++) x[i] = scale * float(levels[q[i]]);
        }
    });
}

// R f16; high bits of S u2[8] @0, low bits u4[8] @2, q u4[128] @6, h u1[128] @70:
// two x = R (S - 32) P[q + 16 h], a code for two neighbours
void decode_iq2_kl(const std::byte* row, std::span<float> values) {
    const float r = row_scale_f16(row);
    decode_blocks<256, 86>(row + 2, values, [r](const uint8_t* block, float* x) {
        const int high = load<uint16_t>(block);
        for (int j = 0; j < 8; j++, x += 32) {
            const int code = halves_nibble(block + 2, j) | ((high >> (2 * j)) & 3) << 4;
            const float scale = r * float(code - 32);
            const auto q = run<4, 16>(block + 6, 16 * j);
            const auto h = run<1, 16>(block + 70, 16 * j);
            for (int i = 0; i < 16; i++) {
                const LevelPair& pair = level_pairs[q[i] | h[i] << 4];
                x[2 * i] = scale * float(pair.first);
                x[2 * i + 1] = scale * float(pair.second);
            }
        }
    });
}

// R f16; low byte of e is the fifth bits of S, the high byte chooses levels; e u16 @0, S u4[8] @2,
// q u2[256] @6, h u1[256] @70: x = R (S - 16) L3[q + 4 h]
void decode_iq3_ks(const std::byte* row, std::span<float> values) {
    const float r = row_scale_f16(row);
    decode_blocks<256, 102>(row + 2, values, [r](const uint8_t* block, float* x) {
        const auto e = load<uint16_t>(block);
        for (int j = 0; j < 8; j++, x += 32) {
            const float scale = r * float((halves_nibble(block + 2, j) | bit(e, j) << 4) - 16);
            const int8_t* levels = levels3.data() + 8 * bit(e, 8 + j);
            const auto q = run<2>(block + 6, 32 * j);
            const auto h = run<1>(block + 70, 32 * j);
            for (int i = 0; i < 32; i++) x[i] = scale * float(levels[q[i] | h[i] << 2]);
        }
    });
}

// R f32; S u8[8] @0, q u4[256] @8: x = R (S - 127) L4[q]
void decode_iq4_ks(const std::byte* row, std::span<float> values) {
    const float r = row_scale_f32(row);
    decode_blocks<256, 136>(row + 4, values, [r](const uint8_t* block, float* x) {
        for (int j = 0; j < 8; j++, x += 32) {
            const float scale = byte_scale(r, block[j]);
            const int8_t* levels = levels4.data() + 16 * (block[j] & 1);
            const uint8_t* q = block + 8 + 16 * j;
            for (int i = 0; i < 16; i++) {
                x[i] = scale * float(levels[q[i] & 15]);
                x[i + 16] = scale * float(levels[q[i] >> 4]);
            }
        }
    });
}

// R f32; u16[64] @0: eight words for a group. Their lowest bits are S as in IQ4_KS; the others are
// the 16 bytes of q in a Gray code.
void decode_iq4_kss(const std::byte* row, std::span<float> values) {
    const float r = row_scale_f32(row);
    decode_blocks<256, 128>(row + 4, values, [r](const uint8_t* block, float* x) {
        for (int j = 0; j < 8; j++, x += 32) {
            int s = 0;
            uint8_t q[16];
            for (int k = 0; k < 8; k++) {
                const uint32_t word = load<uint16_t>(block + 16 * j + 2 * k);
                s |= int(word & 1) << k;
                const uint32_t even = word & 0xfffe;
                store(q + 2 * k, uint16_t(even ^ (even >> 1)));
            }
            const float scale = byte_scale(r, s);
            const int8_t* levels = levels4.data() + 16 * (s & 1);
            for (int i = 0; i < 16; i++) {
                x[i] = scale * float(levels[q[i] & 15]);
                x[i + 16] = scale * float(levels[q[i] >> 4]);
            }
        }
    });
}

// R f32; S u8[8] @0, q u4[256] @8, h u1[256] @136: x = R (S - 127) L5[q + 16 h]
void decode_iq5_ks(const std::byte* row, std::span<float> values) {
    const float r = row_scale_f32(row);
    decode_blocks<256, 168>(row + 4, values, [r](const uint8_t* block, float* x) {
        for (int j = 0; j < 8; j++, x += 32) {
            const float scale = byte_scale(r, block[j]);
            const int8_t* levels = levels5.data() + 32 * (block[j] & 1);
            const auto q = run<4>(block + 8, 32 * j);
            const auto h = run<1>(block + 136, 32 * j);
            for (int i = 0; i < 32; i++) x[i] = scale * float(levels[q[i] | h[i] << 4]);
        }
    });
}

}  // namespace tandem::gguf
