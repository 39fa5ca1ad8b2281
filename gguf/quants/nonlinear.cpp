// IQ4_NL and IQ4_XS: 4 bit indices into 16 uneven levels. @n is a field's place in its block.
#include "gguf/quants/nonlinear.h"

#include "gguf/quants/quants.h"
#include "gguf/quants/rows.h"

namespace tandem::gguf {

namespace {

void put_levels(float scale, const uint8_t* q, float* x) {
    for (int i = 0; i < 16; i++) {
        x[i] = scale * float(nonlinear_levels[q[i] & 15]);
        x[i + 16] = scale * float(nonlinear_levels[q[i] >> 4]);
    }
}

}  // namespace

// d f16 @0, q u4[32] @2: x = d L[q]
void decode_iq4_nl(const std::byte* row, std::span<float> values) {
    decode_blocks<32, 18>(row, values, [](const uint8_t* block, float* x) {
        put_levels(load_f16(block), block + 2, x);
    });
}

// d f16 @0, high bits of S u2[8] @2, low bits of S u4[8] @4, q u4[256] @8: x = d (S - 32) L[q];
// groups of 32
void decode_iq4_xs(const std::byte* row, std::span<float> values) {
    decode_blocks<256, 136>(row, values, [](const uint8_t* block, float* x) {
        const float d = load_f16(block);
        const int high = load<uint16_t>(block + 2);
        for (int j = 0; j < 8; j++, x += 32) {
            const int low = (block[4 + j / 2] >> (4 * (j % 2))) & 15;
            const int scale = low | ((high >> (2 * j)) & 3) << 4;
            put_levels(d * float(scale - 32), block + 8 + 16 * j, x);
        }
    });
}

}  // namespace tandem::gguf
