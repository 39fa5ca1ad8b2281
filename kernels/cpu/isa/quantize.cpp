// Activations as int8 blocks: scale = largest magnitude / 127, codes rounded to nearest. The scale
// of a block with a NaN is NaN. Where numbers are so alike that codes would pass most_magnitude,
// the scale is larger, by less than a bit.
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// Compared as integers, which order magnitudes alike and put NaN above all: it must not get lost.
float largest_magnitude(const float* x, int64_t count) {
    I most = splat(0);
    for (int64_t i = 0; i < count; i += lanes) most = max(most, as_int(abs(load_f32(x + i))));
    const int32_t bits = largest(most);
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}

// Of the sums of 16 magnitudes.
float largest_sum16(const float* x, int64_t count) {
    float most = 0;
    for (int64_t i = 0; i < count; i += 16) {
        F total = zero();
        for (int64_t k = i; k < i + 16; k += lanes) total = add(total, abs(load_f32(x + k)));
        const float value = sum(total);
        if (value > most) most = value;
    }
    return most;
}

void round_codes(const float* x, int64_t count, float inverse, int8_t* codes) {
    for (int64_t i = 0; i < count; i += lanes)
        store_bytes(codes + i, round_to_int(mul(load_f32(x + i), splat(inverse))));
}

// The sum of each 16 codes.
void add_codes(const int8_t* codes, int64_t columns, int32_t* sums16) {
    for (int64_t i = 0; i < columns; i += 4 * lanes) {
        alignas(64) int32_t quads[lanes];
        store(reinterpret_cast<uint8_t*>(quads),
              dot(splat(0), splat_bytes(1), load(reinterpret_cast<const uint8_t*>(codes + i))));
        for (int64_t q = 0; q < lanes && i + 4 * q < columns; q += 4)
            sums16[i / 16 + q / 4] = quads[q] + quads[q + 1] + quads[q + 2] + quads[q + 3];
    }
}

}  // namespace

void quantize(const float* x, int64_t columns, int64_t block, uint8_t* row) {
    const Q8Row at = q8_row(columns, block);
    auto* codes = reinterpret_cast<int8_t*>(row);
    auto* scales = reinterpret_cast<float*>(row + at.scales);
    auto* sums16 = reinterpret_cast<int32_t*>(row + at.sums16);
    auto* real_sums16 = reinterpret_cast<float*>(row + at.real_sums16);
    auto* sums32 = reinterpret_cast<int32_t*>(row + at.sums32);
    auto* real_sums32 = reinterpret_cast<float*>(row + at.real_sums32);
    for (int64_t b = 0; b < columns / block; ++b) {
        float most = largest_magnitude(x + b * block, block);
        if (block == 256) {
            constexpr float most_sum = most_magnitude - 16 * 0.5f;  // codes are rounded
            const float sum = largest_sum16(x + b * block, block) * (127 / most_sum);
            if (sum > most) most = sum;
        }
        float scale = most / 127, inverse = most > 0 ? 127 / most : 0;
        scales[b] = scale;
        round_codes(x + b * block, block, inverse, codes + b * block);
    }
    add_codes(codes, columns, sums16);
    // What the real sums count in.
    auto unit = [&](int64_t column) { return block == 32 ? scales[column / 32] : 1; };
    for (int64_t i = 0; i < columns / 16; ++i) real_sums16[i] = unit(16 * i) * float(sums16[i]);
    for (int64_t i = 0; i < columns / 32; ++i) {
        sums32[i] = sums16[2 * i] + sums16[2 * i + 1];
        real_sums32[i] = unit(32 * i) * float(sums32[i]);
    }
}

void place(const uint8_t* row, int64_t columns, int64_t block, uint8_t* tile, int token) {
    auto put = [&](uint8_t* to, int64_t source, int64_t bytes) {
        if (row)
            std::memcpy(to, row + source, size_t(bytes));
        else
            std::memset(to, 0, size_t(bytes));
    };
    const Q8Row from = q8_row(columns, block);
    for (int64_t i = 0; i < from.scales; i += 64) put(tile + i * tile_tokens + 64 * token, i, 64);
    const int64_t arrays[] = {from.scales, from.sums16,      from.real_sums16,
                              from.sums32, from.real_sums32, from.bytes};
    for (int i = 0; i < 5; ++i) {
        const int64_t bytes = arrays[i + 1] - arrays[i];
        put(tile + tile_tokens * arrays[i] + token * bytes, arrays[i], bytes);
    }
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
