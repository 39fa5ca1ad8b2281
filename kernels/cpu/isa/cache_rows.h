// Rows of caches of each type as vectors of floats, and where the row of a position lies.
#pragma once

#include "gguf/dtype.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Elements [e, e + lanes) of a row, e a multiple of lanes.
struct F32Rows {
    static constexpr int element_bytes = 4;
    static F load(const uint8_t* row, int64_t e) { return load_f32(row + 4 * e); }
};
struct F16Rows {
    static constexpr int element_bytes = 2;
    static F load(const uint8_t* row, int64_t e) { return load_f16(row + 2 * e); }
};
struct BF16Rows {
    static constexpr int element_bytes = 2;
    static F load(const uint8_t* row, int64_t e) { return load_bf16(row + 2 * e); }
};
// Blocks of an f16 scale and 32 bytes.
struct Q8Rows {
    static constexpr int element_bytes = 0;
    static F load(const uint8_t* row, int64_t e) {
        const uint8_t* block = row + e / 32 * 34;
        return mul(splat_f16(block), to_float(load_s8(block + 2 + e % 32)));
    }
};
// Blocks of an f16 scale and 16 bytes, whose lower halves are the first 16 elements plus 8.
struct Q4Rows {
    static constexpr int element_bytes = 0;
    static F load(const uint8_t* row, int64_t e) {
        const uint8_t* block = row + e / 32 * 18;
        I codes = shift_right(load_u8(block + 2 + e % 16), e % 32 < 16 ? 0 : 4);
        codes = add(bit_and(codes, splat(15)), splat(-8));
        return mul(splat_f16(block), to_float(codes));
    }
};

// Calls use(rows) with the rows of a type.
template <typename Use>
inline void with_rows(int type, Use use) {
    switch (gguf::DType(type)) {
        case gguf::DType::F32:
            return use(F32Rows());
        case gguf::DType::F16:
            return use(F16Rows());
        case gguf::DType::BF16:
            return use(BF16Rows());
        case gguf::DType::Q8_0:
            return use(Q8Rows());
        default:
            return use(Q4Rows());
    }
}

// Rows of successive positions, as many as there are cells at most: they may go round the end once.
struct CacheRun {
    const uint8_t* first;
    int64_t stride, until_end, round;

    CacheRun(const CacheHead& cache, int64_t position)
        : first(cache.rows + position % cache.cells * cache.stride),
          stride(cache.stride),
          until_end(cache.cells - position % cache.cells),
          round(cache.cells * cache.stride) {}
    const uint8_t* row(int64_t i) const { return first + i * stride - (i < until_end ? 0 : round); }
};

}  // namespace tandem::kernels::cpu::TANDEM_ISA
