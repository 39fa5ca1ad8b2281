// The forms of activations that matrix kernels read, and how a matrix of a type is multiplied.
#pragma once

#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu {

// Plain f32 rows packed together (for operands whose rows lie apart).
const Form& dense();

// Block of the form that a matrix of this type reads; 0: f32.
int64_t form_block(gguf::DType dtype);
// Values with room for more tokens than this are kept in tiles of 16 tokens, not in rows. Their
// codes and scales are the same.
inline constexpr int64_t most_tokens_in_rows = 8;
inline bool in_tiles(const graph::View& x) { return x.extents[0] > most_tokens_in_rows; }
// The form in which x, [tokens ...] with all but the tokens contracted, is read; null: as it lies.
const Form* form_for(gguf::DType dtype, const graph::View& x);

// Parts of the form for matrix units: bf16 for one, with what rounding took for two. 0: there is no
// product on matrix units for the type.
int unit_parts(gguf::DType dtype);
const Form& bf16_form(int parts);

// Tiles of 16 tokens, as products with many tokens read them where there are matrix units and where
// there are none.
struct TileForm {
    const Isa* isa = nullptr;
    int parts = 0;      // for matrix units
    int64_t block = 0;  // of Q8Tiles; with neither the type reads no tiles
    int64_t columns = 0;

    explicit operator bool() const { return parts > 0 || block > 0; }
    bool operator==(const TileForm&) const = default;
    int64_t bytes() const;
    // Puts an f32 row in place `token` of a tile; null: zeros.
    void place(const float* row, uint8_t* tile, int token) const;
};
// That of a matrix, and bytes of the largest that any instruction set may ask for.
TileForm tile_form_for(const Isa& isa, gguf::DType dtype, int64_t columns);
int64_t most_tile_bytes(gguf::DType dtype, int64_t columns);

}  // namespace tandem::kernels::cpu
