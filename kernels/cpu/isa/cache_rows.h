// Rows of caches of each type as vectors of floats, and where the row of a position lies.
#pragma once

#include "gguf/dtype.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/prefetch.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Rows of a type: load() gives `vectors` vectors of elements from e on, a multiple of as many.
// Whole units are loaded best.
template <int bytes, F (*load_one)(const void*)>
struct FloatRows {
    static constexpr int unit = 1, element_bytes = bytes;  // unit: vectors
    static constexpr int bytes_of(int elements) { return bytes * elements; }
    template <int vectors>
    static void load(const uint8_t* row, int64_t e, F (&to)[vectors]) {
        for (int j = 0; j < vectors; ++j) to[j] = load_one(row + bytes * (e + j * lanes));
    }
};
using F32Rows = FloatRows<4, load_f32>;
using F16Rows = FloatRows<2, load_f16>;
using BF16Rows = FloatRows<2, load_bf16>;

// Blocks of an f16 scale and 32 codes, and their bytes.
inline constexpr int cache_block = 32, q8_0_bytes = 2 + 32, q4_0_bytes = 2 + 16;
template <int block_bytes, I (*code)(const uint8_t* codes, int64_t e)>
struct BlockRows {
    static constexpr int unit = cache_block / lanes, element_bytes = 0;
    static constexpr int bytes_of(int elements) { return block_bytes * elements / cache_block; }
    template <int vectors>
    static void load(const uint8_t* row, int64_t e, F (&to)[vectors]) {
        constexpr int at_once = vectors < unit ? vectors : unit;
        const int64_t within = at_once < unit ? e % cache_block : 0;
        const uint8_t* block = row + e / cache_block * block_bytes;
        for (int first = 0; first < vectors; first += at_once, block += block_bytes) {
            const F scale = splat_f16(block);
            for (int j = 0; j < at_once; ++j)
                to[first + j] = mul(scale, to_float(code(block + 2, within + j * lanes)));
        }
    }
};
inline I code_of_8(const uint8_t* codes, int64_t e) { return load_s8(codes + e); }
// The lower nibbles of 16 bytes are the first 16 elements, the upper ones the others, plus 8.
inline I code_of_4(const uint8_t* codes, int64_t e) {
    I nibbles = shift_right(load_u8(codes + e % 16), e < 16 ? 0 : 4);
    return add(bit_and(nibbles, splat(15)), splat(-8));
}
using Q8Rows = BlockRows<q8_0_bytes, code_of_8>;
using Q4Rows = BlockRows<q4_0_bytes, code_of_4>;

// Calls use(rows) with the rows of a type. Those are all types that a CacheHead has.
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
        case gguf::DType::Q4_0:
            return use(Q4Rows());
        default:
            __builtin_trap();  // ops/attend.cpp claims no other
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
    bool lie_together(int64_t from, int64_t to) const {
        return to <= until_end || from >= until_end;
    }
    // Asks memory for rows that are wanted soon, given the first of those at work, as of a stream
    // that many tokens pass.
    void fetch_ahead(const uint8_t* row, int64_t count = 1) const {
        for (int64_t at = 0; at < count * stride; at += 64)
            prefetch_line<attention_few_queries>(row + at);
    }
};

}  // namespace tandem::kernels::cpu::TANDEM_ISA
