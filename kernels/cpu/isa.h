// What an instruction-set variant offers: number crunching on plain memory. Everything that knows
// of graphs, operands or threads is outside, compiled once for any machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace tandem::kernels::cpu {

// An activation in int8 blocks of `block` elements, one row per token. A row holds, at multiples of
// 64 bytes: codes int8[columns]; scales f32[columns / block]; and sums of codes, which the offsets
// of weight types multiply: i32 per 16, f32 per 16, i32 per 32, f32 per 32 elements. In blocks of
// 32 the f32 sums are multiplied by the scale already.
struct Q8Row {
    int64_t scales = 0, sums16 = 0, real_sums16 = 0, sums32 = 0, real_sums32 = 0;  // byte offsets
    int64_t bytes = 0;
};
constexpr Q8Row q8_row(int64_t columns, int64_t block) {
    auto aligned = [](int64_t bytes) { return (bytes + 63) / 64 * 64; };
    Q8Row row;
    row.scales = aligned(columns);
    row.sums16 = row.scales + aligned(columns / block * 4);
    row.real_sums16 = row.sums16 + aligned(columns / 16 * 4);
    row.sums32 = row.real_sums16 + aligned(columns / 16 * 4);
    row.real_sums32 = row.sums32 + aligned(columns / 32 * 4);
    row.bytes = row.real_sums32 + aligned(columns / 32 * 4);
    return row;
}

// y = W x for groups [first_group, last_group) of W's rows and some tokens. W is packed: `lanes`
// rows interleaved (packing.h).
struct Product {
    const uint8_t* matrix = nullptr;
    int64_t rows = 0, columns = 0;
    int64_t first_group = 0, last_group = 0;
    const uint8_t* x = nullptr;  // f32 rows or Q8Rows
    int64_t x_stride = 0;        // bytes
    int64_t tokens = 0;
    const int32_t* x_rows = nullptr;  // which row of x each token has; null: its own number
    float* y = nullptr;
    int64_t y_stride = 0;             // floats
    const int32_t* y_rows = nullptr;  // likewise
    // Null: y is set. Else y += weight of the token * result.
    const float* weights = nullptr;
};

struct Matrix {
    int64_t block = 0;  // of the activation's form; 0: f32 rows
    void (*multiply)(const Product& product) = nullptr;
};

// Attention of some queries of one kv head over the cells of one sequence, as blocks of cells with
// a running maximum (flash attention, Dao et al. 2022).
struct Attention {
    const uint8_t *k = nullptr, *v = nullptr;  // row of cell 0
    int64_t k_stride = 0, v_stride = 0;        // bytes between cells
    int key_type = 0, value_type = 0;          // gguf::DType: F32, F16, BF16, Q8_0
    int64_t d = 0, dv = 0;
    int64_t queries = 0;
    const float* const* q = nullptr;  // [queries] rows of d
    float* const* out = nullptr;      // [queries] rows of dv
    const int32_t* cells = nullptr;   // [queries] how many cells each sees, ascending
    float scale = 1;
    float* scratch = nullptr;  // attention_scratch() floats
};
inline constexpr int attention_cells = 64;    // of a block
inline constexpr int attention_queries = 32;  // the most of one call
constexpr int64_t attention_scratch(int64_t d, int64_t dv) {
    return attention_cells * (d + dv) + attention_queries * (attention_cells + dv + d + 4);
}

struct Isa {
    int lanes = 0;
    // The matrix kernels of a type (gguf::DType); null where there are none.
    const Matrix* (*matrix)(int dtype) = nullptr;
    void (*quantize)(const float* x, int64_t columns, int64_t block, uint8_t* row) = nullptr;
    void (*attend)(const Attention& attention) = nullptr;
    // Over `count` elements.
    void (*rms_norm)(const float* x, const float* weight, float epsilon, float* y,
                     int64_t count) = nullptr;
    void (*add)(const float* a, const float* b, float* y, int64_t count) = nullptr;
    void (*mul)(const float* a, const float* b, float* y, int64_t count) = nullptr;
    void (*silu_mul)(const float* gate, const float* up, float* y, int64_t count) = nullptr;
    void (*gelu_mul)(const float* gate, const float* up, float* y, int64_t count) = nullptr;
    void (*softmax)(const float* x, float* y, int64_t count) = nullptr;
    // y += weight * x
    void (*add_scaled)(const float* x, float weight, float* y, int64_t count) = nullptr;
    float (*dot)(const float* a, const float* b, int64_t count) = nullptr;
    // Limits of one core: reads bytes [0, count), returns something that depends on them all; and
    // does rounds x integer_products() 8-bit multiply-adds.
    uint64_t (*stream)(const uint8_t* memory, int64_t count) = nullptr;
    float (*integer_work)(int64_t rounds) = nullptr;
    int64_t (*integer_products)() = nullptr;
};

// The variants of this build, best first.
struct Variant {
    const char* name;
    bool (*supported)();  // by this machine
    const Isa& (*isa)();
};
// By name, or with an empty one the best that this machine runs. Null where it runs none of that
// name.
const Variant* find_variant(std::string_view name = "");

}  // namespace tandem::kernels::cpu
