// The forms of activations that matrix kernels read, and how a matrix of a type is multiplied.
#pragma once

#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu {

// Of a row of a prepared value, which runs over all axes but the first.
int64_t columns_of(const graph::View& view);

// Plain f32 rows packed together (for operands whose rows lie apart).
const Form& dense();

// The int8 codes that a matrix of a type reads.
struct Codes {
    int64_t block = 0;   // elements that have a scale, 32 or 256; 0: it reads f32
    bool small = false;  // as products of the best set of this machine want them (isa/crossed.h)

    bool operator==(const Codes&) const = default;
    // A row as a Q8Row, by a set which may have no products of small codes; then no code is small.
    void quantize(const Isa& isa, const float* row, int64_t columns, uint8_t* to) const;
};
Codes codes_for(gguf::DType dtype);
// Values with room for more tokens than this are kept in tiles of 16 tokens, not in rows. But for
// tiles of fewer or more bits their numbers are the same.
inline constexpr int64_t most_tokens_in_rows = 8;
inline bool in_tiles(const graph::View& x) { return x.extents[0] > most_tokens_in_rows; }
// The form in which x, [tokens ...] with all but the tokens contracted, is read; null: as it lies.
const Form* form_for(gguf::DType dtype, const graph::View& x);

// Parts of the bf16 form: 1 for rounded numbers, 2 for what rounding took as well. 0: the type has
// no product in bf16.
int bf16_parts(gguf::DType dtype);
const Form& bf16_form(int parts);
// Types of signed codes of 8 bits in blocks of 32, which are multiplied in 16 bits where sums are
// kept in halves of lanes.
bool signed_bytes(gguf::DType dtype);
// Types of a scale times -1, 0, 1 or 2, which prompts multiply in 16 bits (isa/ternary.cpp):
// rounding the activation to 8 would be all of their error. A few tokens stay in 8.
bool has_few_levels(gguf::DType dtype);
// In blocks of 32 or 128.
const Form& q16_tiles(int64_t block);

// Tiles of 16 tokens, as products with many tokens read them.
struct TileForm {
    const Isa* isa = nullptr;  // null: no tiles
    int parts = 0;             // of bf16 tiles
    int64_t q16_block = 0;     // of Q16Tiles; 0: others
    Codes codes;               // else of Q8Tiles; without, f32 tiles
    int64_t columns = 0;
    bool adding = adds_cheaply();  // multiply_adding(), where a type has it

    explicit operator bool() const { return isa; }
    bool operator==(const TileForm&) const = default;
    int64_t bytes() const;
    // Groups of rows that products take at a time.
    int64_t groups() const;
    // The product of a type whose kernels read such tiles.
    Multiply product_of(const MatrixKernels& kernels) const;
    // Puts an f32 row in place `token` of a tile; null: zeros.
    void place(const float* row, uint8_t* tile, int token) const;
};
// The form that a set reads with a matrix of this type, and bytes of the largest that any set
// reads.
TileForm tile_form_for(const Isa& isa, gguf::DType dtype, int64_t columns,
                       bool adding = adds_cheaply());
int64_t most_tile_bytes(gguf::DType dtype, int64_t columns);

}  // namespace tandem::kernels::cpu
