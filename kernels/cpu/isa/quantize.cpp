// Activations as int8 blocks, a row per token.
#include "kernels/cpu/isa/quantize.h"

#include "kernels/cpu/isa/kernels.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// A sum of codes (Q8Row), of which halves of lanes have parts.
int32_t row_sum(int first, int second) {
    return sums_in_halves ? (first & 0xffff) | int32_t(uint32_t(second) << 16) : first + second;
}

template <int largest>
void quantize_to(const float* x, int64_t columns, int64_t block, uint8_t* row) {
    const Q8Row at = q8_row(columns, block);
    auto* codes = reinterpret_cast<int8_t*>(row);
    auto* scales = reinterpret_cast<float*>(row + at.scales);
    auto* sums16 = reinterpret_cast<int32_t*>(row + at.sums16);
    auto* real_sums16 = reinterpret_cast<float*>(row + at.real_sums16);
    auto* sums32 = reinterpret_cast<int32_t*>(row + at.sums32);
    auto* real_sums32 = reinterpret_cast<float*>(row + at.real_sums32);
    for (int64_t b = 0; b < columns / block; ++b) {
        const float* from = x + b * block;
        int8_t* to = codes + b * block;
        if (block == 256) {
            scales[b] = round_256(from, largest, [&](int column) { return to + column; });
        } else {
            const BlockScale scale(from, largest);
            scales[b] = scale.value;
            round_codes(from, block, scale.inverse, to);
        }
    }
    // What the real sums count in.
    auto unit = [&](int64_t column) { return block == 32 ? scales[column / 32] : 1; };
    int first_before = 0, second_before = 0;
    each_split_sum(codes, columns, [&](int64_t i, int first, int second) {
        sums16[i] = row_sum(first, second);
        real_sums16[i] = unit(16 * i) * float(first + second);
        if (i % 2 == 1) {
            const int both_first = first_before + first, both_second = second_before + second;
            sums32[i / 2] = row_sum(both_first, both_second);
            real_sums32[i / 2] = unit(16 * i) * float(both_first + both_second);
        }
        first_before = first, second_before = second;
    });
}

}  // namespace

void quantize(const float* x, int64_t columns, int64_t block, uint8_t* row) {
    quantize_to<largest_code>(x, columns, block, row);
}

Quantize* const quantize_small = [] {
    Quantize* small = nullptr;
    if constexpr (crosses) small = quantize_to<largest_small_code>;
    return small;
}();

}  // namespace tandem::kernels::cpu::TANDEM_ISA
