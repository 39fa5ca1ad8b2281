// Activations as int8 blocks, a row per token (Q8Row): 256 columns at a time, which may be fewer at
// its end.
#include "kernels/cpu/isa/quantize.h"

#include "kernels/cpu/isa/kernels.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

// What a row has of 256 columns beside their codes. There is room for all of them at its end, too,
// since fields begin at multiples of 64 bytes.
struct Fields {
    float* scales;
    int32_t* sums16;
    float* real_sums16;
    int32_t* sums32;
    float* real_sums32;

    Fields(uint8_t* row, const Q8Row& at, int64_t column, int64_t block)
        : scales(reinterpret_cast<float*>(row + at.scales) + column / block),
          sums16(reinterpret_cast<int32_t*>(row + at.sums16) + column / 16),
          real_sums16(reinterpret_cast<float*>(row + at.real_sums16) + column / 16),
          sums32(reinterpret_cast<int32_t*>(row + at.sums32) + column / 32),
          real_sums32(reinterpret_cast<float*>(row + at.real_sums32) + column / 32) {}
};

// Rounds blocks of 32. A scale is no finite number where its block has one that is not.
template <int largest>
void round_by_32(const float* x, int8_t* codes, float* scales) {
    alignas(64) float most[lanes], values[lanes], inverses[lanes];
    const F largest_of = largest_of_blocks(x);
    const F power = power_for(largest_of, largest);
    const SteppedScale stepped(power, largest_of, largest);
    store(most, largest_of);
    store(values, mul(power, stepped.below));
    store(inverses, stepped.inverse);
    for (int n = 0; n < scaled_blocks; ++n) {
        const int lane = n * lanes_of_block;
        scales[n] = is_finite(most[lane]) ? values[lane] : most[lane];
        round_codes(x + 32 * n, 32, inverses[lane], codes + 32 * n);
    }
}

// The sums of codes, and times their units, one for 32.
void sum_codes(const int8_t* codes, const float* units, const Fields& to) {
    alignas(64) float units16[16], real_pairs[16];
    alignas(64) int32_t pairs[16];  // sums of 32, each twice
    for (int n = 0; n < 16; ++n) units16[n] = units[n / 2];
    auto real = [&](int first, I sums) {
        const I whole = sums_in_halves ? dot_pairs(splat(0), sums, splat(0x10001)) : sums;
        return mul(load_f32(units16 + first), to_float(whole));
    };
    each_sums16<sums_in_halves>(
        [&](int column) { return codes + column; }, [](I of) { return of; },
        [&](int first, I sums) {
            store(reinterpret_cast<uint8_t*>(to.sums16 + first), sums);
            store(to.real_sums16 + first, real(first, sums));
            const F other = swapped_blocks<1>(as_float(sums), as_float(sums));
            const I both =
                sums_in_halves ? add_in_halves(sums, as_int(other)) : add(sums, as_int(other));
            store(reinterpret_cast<uint8_t*>(pairs + first), both);
            store(real_pairs + first, real(first, both));
        });
    for (int n = 0; n < 8; ++n) {
        to.sums32[n] = pairs[2 * n];
        to.real_sums32[n] = real_pairs[2 * n];
    }
}

template <int largest>
void quantize_256(const float* x, int64_t block, int8_t* codes, const Fields& to) {
    if (block == 256) {
        constexpr float ones[scaled_blocks] = {1, 1, 1, 1, 1, 1, 1, 1};
        *to.scales = round_256(x, largest, [&](int column) { return codes + column; });
        sum_codes(codes, ones, to);
    } else {
        round_by_32<largest>(x, codes, to.scales);
        sum_codes(codes, to.scales, to);
    }
}

template <int largest>
void quantize_to(const float* x, int64_t columns, int64_t block, uint8_t* row) {
    const Q8Row at = q8_row(columns, block);
    auto* codes = reinterpret_cast<int8_t*>(row);
    for (int64_t column = 0; column < columns; column += 256) {
        const Fields fields(row, at, column, block);
        const int64_t left = columns - column;
        if (left >= 256) {
            quantize_256<largest>(x + column, block, codes + column, fields);
            continue;
        }
        float filled_up[256] = {};
        int8_t some[256];
        std::memcpy(filled_up, x + column, size_t(left) * sizeof(float));
        quantize_256<largest>(filled_up, block, some, fields);
        std::memcpy(codes + column, some, size_t(left));
    }
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
