// MXFP4 and NVFP4: 4 bit floating point numbers under a shared 8 bit scale. @n is a field's place
// in its block.
// https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf
#include "gguf/quants/fp4.h"

#include "gguf/quants/quants.h"
#include "gguf/quants/rows.h"

namespace tandem::gguf {

// e u8 @0, q u4[32] @1: x = 2^(e - 128) F[q], the elements in halves
void decode_mxfp4(const std::byte* row, std::span<float> values) {
    decode_blocks<32, 17>(row, values, [](const uint8_t* block, float* x) {
        const float scale = mxfp4_scale(block[0]);
        const uint8_t* q = block + 1;
        for (int i = 0; i < 16; i++) {
            x[i] = scale * float(fp4_values[q[i] & 15]);
            x[i + 16] = scale * float(fp4_values[q[i] >> 4]);
        }
    });
}

// S u8[4] @0, q u4[64] @4: x = S F[q], four groups of 16, each in halves
void decode_nvfp4(const std::byte* row, std::span<float> values) {
    decode_blocks<64, 36>(row, values, [](const uint8_t* block, float* x) {
        const uint8_t* q = block + 4;
        for (int t = 0; t < 4; t++, q += 8, x += 16) {
            const float scale = nvfp4_scale(block[t]);
            for (int i = 0; i < 8; i++) {
                x[i] = scale * float(fp4_values[q[i] & 15]);
                x[i + 8] = scale * float(fp4_values[q[i] >> 4]);
            }
        }
    });
}

}  // namespace tandem::gguf
