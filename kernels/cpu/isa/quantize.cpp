// Activations as int8 blocks, a row per token.
#include "kernels/cpu/isa/quantize.h"

#include "kernels/cpu/isa/kernels.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

void quantize(const float* x, int64_t columns, int64_t block, uint8_t* row) {
    const Q8Row at = q8_row(columns, block);
    auto* codes = reinterpret_cast<int8_t*>(row);
    auto* scales = reinterpret_cast<float*>(row + at.scales);
    auto* sums16 = reinterpret_cast<int32_t*>(row + at.sums16);
    auto* real_sums16 = reinterpret_cast<float*>(row + at.real_sums16);
    auto* sums32 = reinterpret_cast<int32_t*>(row + at.sums32);
    auto* real_sums32 = reinterpret_cast<float*>(row + at.real_sums32);
    for (int64_t b = 0; b < columns / block; ++b) {
        const BlockScale of(x + b * block, block);
        scales[b] = of.scale;
        round_codes(x + b * block, block, of.inverse, codes + b * block);
    }
    each_sum16(codes, columns, [&](int64_t i, int32_t sum) { sums16[i] = sum; });
    // What the real sums count in.
    auto unit = [&](int64_t column) { return block == 32 ? scales[column / 32] : 1; };
    for (int64_t i = 0; i < columns / 16; ++i) real_sums16[i] = unit(16 * i) * float(sums16[i]);
    for (int64_t i = 0; i < columns / 32; ++i) {
        sums32[i] = sums16[2 * i] + sums16[2 * i + 1];
        real_sums32[i] = unit(32 * i) * float(sums32[i]);
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
