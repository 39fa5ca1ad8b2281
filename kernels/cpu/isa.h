// What an instruction-set variant offers: number crunching on plain memory. Everything that knows
// of graphs, operands or threads is outside, compiled once for any machine.
//
// How a product y = W x comes about:
//
//     loading      packing.h interleaves groups of `lanes` rows of W: a vector has the same few
//                  bytes of each, and lane r of a vector of sums belongs to row r (loading.h)
//     recording    ops/linear.cpp says in which form (forms.h) tokens are read, and looks up the
//                  kernels of W's type (MatrixKernels)
//     in a step    ops/prepare.cpp brings tokens to that form (isa/quantize.cpp, isa/place*.cpp),
//                  once for all who read it; then each member of the team takes groups of rows and
//                  calls the kernel with them (Product)
//
// Up to 8 tokens, or 16 of an expert, are rows. Packed codes are unpacked in registers, for some
// tokens at a time: isa/row_walk.h goes over groups and tokens, isa/row_dots.h multiplies.
//
// More tokens are tiles of 16. Some groups are unpacked, a panel of columns at a time, and stay in
// the nearest cache while all tiles pass: so goes isa/panel_walk.h, and what it calls multiplies
//
//     isa/panel_dots.h      codes of 8 bits: most types
//     isa/q16_dots.h        codes of 16 bits: F16, BF16, types of few levels, and signed bytes
//                           where sums are kept in halves of lanes
//     isa/float_dots.h      floats
//
// Matrix units, which take bf16, have a walk of their own (isa/matrix_units.h).
//
// A type of weights adds a struct that gives its codes and scales (isa/weight_type.h): those of
// isa/blocks32.cpp are the simplest. All is written in the words of isa/simd.h.
#pragma once

#include <cstdint>

namespace tandem::kernels::cpu {

// The most lanes of a vector, which are the rows of a group, in any instruction set.
inline constexpr int most_lanes = 16;

// An activation in int8 blocks of `block` elements, one row per token. A row holds, at multiples of
// 64 bytes: codes int8[columns]; scales f32[columns / block]; and sums of codes, which the offsets
// of weight types multiply: i32 per 16, f32 per 16, i32 per 32, f32 per 32 elements. In blocks of
// 32 the f32 sums are multiplied by the scale already. Where sums are kept in halves of lanes
// (Isa::sums_in_halves), an i32 is two i16: the first and the last two of every four codes.
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

// In blocks of 256, the magnitudes of 16 codes add up to at most this: their products with codes of
// 6 bits stay within 16 bits.
inline constexpr int most_magnitude = 1023;

// Of tokens. Small ones leave room in a byte for the sum of one and a weight's of 4 bits, which
// crossed products (crossed.h) take.
inline constexpr int largest_code = 127, largest_small_code = 120;

// In blocks of 32, scales go in so many steps from a power of two to the next.
inline constexpr int scale_steps = 8;

// 256 columns of 16 tokens, for products with many tokens. Codes and scales are those of a Q8Row,
// but for blocks of 32 that are next to nothing beside the token's largest. All columns of 16
// tokens are a row of tiles, of which the last may not be full. Tokens that are not there are
// zeros.
inline constexpr int tile_tokens = 16, tile_columns = 256;
constexpr int64_t tiles_of(int64_t tokens) { return (tokens + tile_tokens - 1) / tile_tokens; }

// Where sums are kept in halves of lanes (Isa::sums_in_halves), codes of two columns alternate with
// those of the two 16 columns later: each half of a lane, which takes two of every four, adds up 16
// neighbours.
constexpr int tile_place(int column, bool halves) {
    const int pair = column % 32 / 2;
    return halves ? column / 32 * 32 + pair % 8 * 4 + pair / 8 * 2 + column % 2 : column;
}

struct alignas(64) Q8Tile {
    int8_t codes[tile_columns / 64][tile_tokens][64];
    int16_t sums32[tile_tokens][tile_columns / 32];  // of codes
    int16_t sums16[tile_tokens][tile_columns / 16];  // likewise
    float scales[tile_tokens];
    // In blocks of 32: a block's scale is that of the token times 2^(-steps / 8) and a power of
    // two. The origin is the bits of the float 1.5 * 2^23 times that power, whose last place is
    // worth the power: an integer n added to the bits adds n powers to the float. The real sums are
    // sums of codes times the block's scale, but for the token's.
    int32_t origins32[tile_tokens][tile_columns / 32];
    uint8_t steps32[tile_tokens][tile_columns / 32];
    float real_sums32[tile_tokens][tile_columns / 32];
    // What sums of crossed products begin with, where codes are small.
    int32_t crossed32[tile_tokens][tile_columns / 32];
};
constexpr int64_t q8_tile_bytes(int64_t columns) {
    return (columns + tile_columns - 1) / tile_columns * int64_t(sizeof(Q8Tile));
}

// 64 bytes of each of 16 tokens side by side: f32[columns / 16][16][16], columns filled up with
// zeros.
constexpr int64_t f32_tile_bytes(int64_t columns) {
    return (columns + 15) / 16 * 16 * tile_tokens * 4;
}
// The same in bf16[columns / 32][16][32]. A second part holds what rounding took from the first, as
// bf16 again.
constexpr int64_t bf16_tile_bytes(int64_t columns, int parts) {
    return parts * ((columns + 31) / 32 * 32) * tile_tokens * 2;
}

// 128 columns of 16 tokens as 16-bit integers, in blocks of 32 with a scale or in one of 128; up to
// a multiple of 32 columns there are zeros.
inline constexpr int q16_columns = 128;
struct alignas(64) Q16Tile {
    int16_t codes[q16_columns / 32][tile_tokens][32];
    float scales[tile_tokens][q16_columns / 32];     // of each block
    float nan_or_zero[tile_tokens];                  // 0, or no number where the columns have none
    int32_t crossed[tile_tokens][q16_columns / 32];  // as in Q8Tile
};
constexpr int64_t q16_tile_bytes(int64_t columns) {
    return (columns + q16_columns - 1) / q16_columns * int64_t(sizeof(Q16Tile));
}

// y = W x for groups [first_group, last_group) of W's rows and some tokens. W is packed: `lanes`
// rows interleaved (packing.h).
struct Product {
    const uint8_t* matrix = nullptr;
    int64_t rows = 0, columns = 0;
    int64_t first_group = 0, last_group = 0;
    // Groups of a matrix of the same shape whose turn is next: products of tiles ask memory for
    // them at the end. Null: the groups behind.
    const uint8_t* then = nullptr;
    const uint8_t* x = nullptr;  // f32 rows or Q8Rows; tiles of 16 tokens
    int64_t x_stride = 0;        // bytes, of a row or of a tile
    int64_t tokens = 0;
    const int32_t* x_rows = nullptr;  // which row of x each token has; null: its own number
    float* y = nullptr;
    int64_t y_stride = 0;             // floats
    const int32_t* y_rows = nullptr;  // likewise
    // Null: y is set. Else y += weight of the token * result.
    const float* weights = nullptr;
    uint8_t* scratch = nullptr;  // product_scratch bytes, aligned to 64, where x is in tiles
};

// The products of a type, by the form in which tokens lie; null where it has none of that form.
using Multiply = void (*)(const Product& product);
struct MatrixKernels {
    int64_t block = 0;                  // of rows and tiles in int8; 0: they are f32
    Multiply multiply_rows = nullptr;   // f32 rows, or Q8Rows; there always are some
    Multiply multiply_tiles = nullptr;  // f32 tiles, or Q8Tiles
    Multiply multiply_bf16 = nullptr;   // bf16 tiles
    Multiply multiply_q16 = nullptr;    // Q16Tiles
    int64_t q16_block = 0;              // of those; 0: there are none
    // In place of one of those above where adds_cheaply() holds: by crossed products
    // (crossed.h), with other instructions in place of some (isa/panel.h), or of fewer groups at a
    // time. It reads Q16Tiles where q16_block says so, else what multiply_tiles reads, or those of
    // small codes.
    Multiply multiply_adding = nullptr;
    bool crosses_small_codes = false;
};
// Room for some groups of rows that are unpacked at a time, and for their results of some tiles of
// tokens; or for what matrix units unpack, and sums of some tokens and groups.
inline constexpr int64_t most_cached_tiles = 32, most_unit_tokens = 64, most_unit_groups = 64;
inline constexpr int64_t product_scratch = 320 << 10;

// A cache of one kv head: rows of cells, the row of a position in cell position % cells.
struct CacheHead {
    const uint8_t* rows = nullptr;
    int64_t stride = 0;  // bytes between cells
    int64_t cells = 0;
    int type = 0;        // gguf::DType: F32, F16, BF16, Q8_0, Q4_0
    int64_t length = 0;  // elements of a row
};

// Attention of some queries of one kv head over a part of the positions of one sequence. The result
// is that of a part, to be joined with others: what each query sees of the part has weights
// e^(score - most), whose sum is `total`; `out` is the sum of the values times their weights. A
// query that sees nothing of it gets most = -infinity, total = 0, out = 0.
struct Attention {
    CacheHead k, v;
    CacheHead k2;                // of a second pair, whose scores are added; no rows: none
    int64_t begin = 0, end = 0;  // the part: at most as many positions as there are cells
    int64_t queries = 0;         // at most attention_queries
    // Those of the kv head and the sequence on all devices together. What is rounded depends on
    // their number alone, so that a cut changes no result. 0: `queries`.
    int64_t all_queries = 0;
    const float* const* q = nullptr;   // [queries] rows of k.length
    const float* const* q2 = nullptr;  // [queries] rows of k2.length
    const int32_t* first = nullptr;    // [queries] the first position that each sees
    const int32_t* last = nullptr;     // [queries] behind the last; both ascend
    float scale = 1;
    float soft_cap = 0;           // scores become soft_cap tanh(score / soft_cap); 0: they stay
    float* const* out = nullptr;  // [queries] rows of v.length
    float* most = nullptr;        // [queries]
    float* total = nullptr;       // [queries]
    float* scratch = nullptr;     // attention_scratch() floats, best aligned to 64 bytes
};
inline constexpr int attention_queries = 256;     // the most of one call
inline constexpr int attention_few_queries = 16;  // up to these, attend_few() is faster: two rounds
inline constexpr int attention_part = 256;        // the most positions of it: 8 KB of scores
// Positions that attend_block() takes at once, up to a multiple of as many: keys and values of 128
// elements are 128 KB in f32, which a second cache keeps beside the queries.
inline constexpr int attention_cells = 128;
// `keys` elements of a key, both pairs together, and `values` of a value.
constexpr int64_t attention_scratch(int64_t keys, int64_t values) {
    // Rows are filled up to vectors; half as many queries as lanes make a tile.
    constexpr int64_t tile = most_lanes / 2;
    const int64_t key = keys + 2 * (most_lanes - 1), value = values + most_lanes - 1;
    return key * (attention_queries + attention_cells + most_lanes) +
           value * (attention_queries + attention_cells) + (tile + 1) * attention_cells +
           2 * (attention_queries + most_lanes) + tile * (attention_part + most_lanes);
}

// What parts found for one query, put together: y = sum of out e^(most - largest) over the sum of
// total e^(most - largest).
struct AttentionParts {
    int64_t parts = 0, length = 0;
    const float* out = nullptr;    // [parts] rows of `length`, `stride` floats apart
    const float* most = nullptr;   // [parts], `stride` floats apart
    const float* total = nullptr;  // likewise
    int64_t stride = 0;
    const float* sink = nullptr;  // a score without a value; null: none
    float* y = nullptr;           // may be the first row
};

// One token of a gated delta rule (graph/ops/delta_net.cpp) on rows [0, count) of a state, each
// `length` floats. `decay` is what the state is multiplied by: one factor, or one per channel, that
// is, column.
struct DeltaStep {
    float* state = nullptr;
    int64_t count = 0, length = 0;
    const float *q = nullptr, *k = nullptr;  // [length]
    const float* v = nullptr;                // [count]
    const float* decays = nullptr;           // [length]; null: `decay` for all
    float decay = 1, beta = 1;
    float* out = nullptr;  // [count]
};

// A chunk of its tokens at once, on rows of a head's state. The arrays have a pointer for each
// token.
inline constexpr int delta_tokens = 32;  // the most of a chunk
struct DeltaChunk {
    float* state = nullptr;  // [rows][length]
    int64_t rows = 0, length = 0;
    int64_t tokens = 0;
    const float *const *q = nullptr, *const *k = nullptr, *const *v = nullptr;
    const float* const* decay = nullptr;  // logarithms: one, or one per channel
    const float* const* beta = nullptr;
    bool per_channel = false;
    float* const* out = nullptr;
    float* scratch = nullptr;  // delta_scratch() floats
};
constexpr int64_t delta_scratch(int64_t rows, int64_t length) {
    // Rows are filled up to lines of 16 floats, where the first begins, too.
    return 15 + (length + 15) * (4 * delta_tokens + 17) + 3 * delta_tokens * (rows + 15) +
           delta_tokens * (2 * delta_tokens + 1 + 2 * 16);
}

// A short convolution (graph/ops/short_conv.cpp) of some channels over new tokens of a sequence.
inline constexpr int convolution_channels = 256, convolution_taps = 8;  // the most
struct Convolution {
    int64_t channels = 0, taps = 0, tokens = 0;
    const float* kernel = nullptr;  // [channels][taps]
    float* state = nullptr;         // [channels][taps - 1], the last inputs before
    const float* x = nullptr;       // a row per token, `x_stride` floats apart
    float* y = nullptr;
    int64_t x_stride = 0, y_stride = 0;
};

using Quantize = void(const float* x, int64_t columns, int64_t block, uint8_t* row);
// Puts a token's row in its place in a row of tiles, in blocks of so many columns; null: zeros.
using Place = void(const float* row, int64_t columns, int64_t block, uint8_t* tiles, int token);
// The same of a bf16 tile.
using PlaceBf16 = void(const float* row, int64_t columns, int parts, uint8_t* tile, int token);

// What a set multiplies in prompts otherwise than in int8 and f32; each does what those before do,
// but for the last.
enum class Reduced {
    Nothing,  // but types of few levels (forms.h), in 16-bit integers
    // F16, BF16 and attention with caches other than F32 in 16-bit integers; with caches of codes
    // the attention of few tokens, too. AVX2 and all above.
    Int16,
    LongBlocks,  // those of BF16 in blocks of 128: AVX512-BF16
    // All in bf16 but F32 and types of few levels, F16 as two such numbers; of what stands above,
    // only attention. AMX-BF16.
    AllTypes
};

// One number to one number. Where an array is cut changes no bit. What is no number stays none.
using Map = void(const float* x, float* y, int64_t count, float parameter);

struct Isa {
    int lanes = 0;
    // Groups that products of tiles take at a time: work is best dealt by so many. Those of codes
    // take most_panel_groups where additions take no product's place, matrix units one.
    int panel_groups = 0, most_panel_groups = 0;
    Reduced reduced = Reduced::Nothing;
    // Whether sums of products of bytes are kept in the 16-bit halves of lanes (tile_place()).
    // Those of signed codes of 8 bits in blocks of 32 have no room there: prompts multiply these as
    // 16-bit integers.
    bool sums_in_halves = false;
    // Whether weights that are numbers of BF16 are kept in 12 bits (short_bf16.h): where reading
    // them takes longer than to unpack them.
    bool keeps_short_bf16 = false;
    // The matrix kernels of a type (gguf::DType); null where there are none.
    const MatrixKernels* (*kernels)(int dtype) = nullptr;
    // A row as a Q8Row, in blocks of 32 or 256; the second in small codes, where some products want
    // them, else it is null.
    Quantize* quantize = nullptr;
    Quantize* quantize_small = nullptr;
    // The same in Q8Tiles.
    Place* place = nullptr;
    Place* place_small = nullptr;
    PlaceBf16* place_bf16 = nullptr;  // null: there is nothing that reads bf16 tiles
    // In Q16Tiles, in blocks of 32 or 128.
    Place* place_q16 = nullptr;
    // Few queries over a part of a cache, whose rows are read once; and many queries. The first is
    // for rows of whole vectors, without a second pair.
    void (*attend_few)(const Attention& attention) = nullptr;
    void (*attend_block)(const Attention& attention) = nullptr;
    void (*attend_join)(const AttentionParts& parts) = nullptr;
    // A row of a cache of a type that CacheHead names, as gguf::encode_row() does it.
    void (*encode)(int type, const float* x, int64_t count, uint8_t* row) = nullptr;
    void (*delta_step)(const DeltaStep& step) = nullptr;
    void (*delta_chunk)(const DeltaChunk& chunk) = nullptr;
    void (*short_conv)(const Convolution& convolution) = nullptr;
    // Over `count` elements.
    void (*rms_norm)(const float* x, const float* weight, float epsilon, float* y,
                     int64_t count) = nullptr;
    void (*add)(const float* a, const float* b, float* y, int64_t count) = nullptr;
    void (*mul)(const float* a, const float* b, float* y, int64_t count) = nullptr;
    void (*silu_mul)(const float* gate, const float* up, float* y, int64_t count) = nullptr;
    void (*gelu_mul)(const float* gate, const float* up, float* y, int64_t count) = nullptr;
    void (*clamped_swiglu)(const float* gate, const float* up, float* y, int64_t count) = nullptr;
    Map* scale = nullptr;     // x times the parameter
    Map* exp = nullptr;       // e^x
    Map* sigmoid = nullptr;   // 1 / (1 + e^-x)
    Map* softplus = nullptr;  // ln(1 + e^x)
    Map* soft_cap = nullptr;  // the parameter times tanh(x / parameter)
    void (*softmax)(const float* x, float* y, int64_t count) = nullptr;
    // y += weight * x
    void (*add_scaled)(const float* x, float weight, float* y, int64_t count) = nullptr;
    float (*dot)(const float* a, const float* b, int64_t count) = nullptr;
    // Limits of one core: reads bytes [0, count), but for less than four vectors at their end, and
    // returns something that depends on all it read; does rounds x integer_products() 8-bit
    // multiply-adds, rounds x float_products() in f32.
    uint64_t (*stream)(const uint8_t* memory, int64_t count) = nullptr;
    float (*integer_work)(int64_t rounds) = nullptr;
    int64_t (*integer_products)() = nullptr;
    float (*float_work)(int64_t rounds) = nullptr;
    int64_t (*float_products)() = nullptr;
};

extern const bool on_zen4;  // this machine's processor is one
// Whether it adds vectors of 64 bytes by twice as many units as multiply them.
bool adds_cheaply();

}  // namespace tandem::kernels::cpu
