// IQ1_KT to IQ4_KT, types that one fork writes: a code of 13 to 16 bits seeds a generator, whose
// next 8 (or 4) numbers are the elements. One scale R f32 for a row, in front of its blocks; a
// scale for 32 elements. @n is a field's place in its block.
#include <cmath>

#include "gguf/quants/nonlinear.h"
#include "gguf/quants/quants.h"
#include "gguf/quants/rows.h"
#include "gguf/quants/trellis.h"

namespace tandem::gguf {

namespace {

float row_scale(const std::byte* row) { return load<float>(reinterpret_cast<const uint8_t*>(row)); }

class Trellis {
  public:
    explicit Trellis(uint32_t seed) : state_(seed) {}
    float next() {
        state_ *= trellis_factor;
        const uint32_t fields = state_ & trellis_fields;
        return float(int((fields * 0x01010101) >> 24) - trellis_middle);
    }

  private:
    uint32_t state_;
};

}  // namespace

// s u8[8] @0 (index of a level, then four high bits of codes), c[32] @8, h u4[32] @40
void decode_iq1_kt(const std::byte* row, std::span<float> values) {
    const float r = row_scale(row);
    decode_blocks<256, 56>(row + 4, values, [r](const uint8_t* block, float* x) {
        for (int j = 0; j < 8; j++) {
            const uint32_t s = block[j];
            const float scale = r * float(nonlinear_levels[s & 15]);
            for (int k = 0; k < 4; k++, x += 8) {
                const uint32_t h = (block[40 + 4 * (j % 4) + k] >> (4 * (j / 4))) & 15;
                const uint32_t top = (s >> (4 + k)) & 1;
                Trellis trellis((block[8 + 4 * j + k] | h << 8 | top << 12) + trellis_first_seed);
                for (int i = 0; i < 8; i++) x[i] = scale * trellis.next();
            }
        }
    });
}

// s u4[8] @0 (index of a level), c u16[32] @4
void decode_iq2_kt(const std::byte* row, std::span<float> values) {
    const float r = row_scale(row);
    decode_blocks<256, 68>(row + 4, values, [r](const uint8_t* block, float* x) {
        for (int j = 0; j < 8; j++) {
            const size_t s = (block[j % 4] >> (4 * (j / 4))) & 15;
            const float scale = r * float(nonlinear_levels[s]);
            for (int k = 0; k < 4; k++, x += 8) {
                Trellis trellis(load<uint16_t>(block + 4 + 8 * j + 2 * k) + trellis_first_seed);
                for (int i = 0; i < 8; i++) x[i] = scale * trellis.next();
            }
        }
    });
}

// s u4[8] @0, c u16[32] @4, signs u1[256] @68: magnitudes are the generator's
void decode_iq3_kt(const std::byte* row, std::span<float> values) {
    const float r = row_scale(row);
    decode_blocks<256, 100>(row + 4, values, [r](const uint8_t* block, float* x) {
        for (int j = 0; j < 8; j++) {
            const float scale = r * float((block[j % 4] >> (4 * (j / 4))) & 15);
            const uint8_t* signs = block + 68;
            for (int k = 0; k < 4; k++, x += 8, signs += 8) {
                Trellis trellis(load<uint16_t>(block + 4 + 8 * j + 2 * k) + trellis_first_seed);
                for (int i = 0; i < 8; i++) {
                    const float value = scale * std::fabs(trellis.next());
                    x[i] = negate_if(uint32_t(signs[i]) >> j, value);
                }
            }
        }
    });
}

// w u32[8] @0 (another seed, 7 bits of scale, then 8 x 3 high bits of codes), c[64] @32, h u4[64]
// @96: four elements for a code
void decode_iq4_kt(const std::byte* row, std::span<float> values) {
    const float r = row_scale(row);
    decode_blocks<256, 128>(row + 4, values, [r](const uint8_t* block, float* x) {
        for (int j = 0; j < 8; j++) {
            const auto w = load<uint32_t>(block + 4 * j);
            const float scale = r * float(int((w & 255) >> 1) - 64);
            const uint32_t seed = trellis_first_seed + ((w & 1) != 0 ? 32768 : 0);
            for (int k = 0; k < 8; k++, x += 4) {
                const int group = 8 * j + k;
                const uint32_t h = (block[96 + group % 32] >> (4 * (group / 32))) & 15;
                const uint32_t top = (w >> (8 + 3 * k)) & 7;
                Trellis trellis((block[32 + group] | h << 8 | top << 12) + seed);
                for (int i = 0; i < 4; i++) x[i] = scale * trellis.next();
            }
        }
    });
}

}  // namespace tandem::gguf
