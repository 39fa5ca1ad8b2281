// A weight of a launch as the CPU holds it: packed groups, or stored rows.
#pragma once

#include "kernels/cpu/forms.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu {

struct HeldMatrix {
    gguf::DType dtype = gguf::DType::F32;
    bool packed = false;
    const std::byte* data = nullptr;
    int64_t matrices = 1, rows = 0, columns = 0;  // of each matrix
    int lanes = 1;
    int64_t group_bytes = 0;  // of a packed matrix

    int64_t groups() const { return (rows + lanes - 1) / lanes; }
    int64_t matrix_bytes() const;
    // Of a packed matrix.
    const uint8_t* group(int64_t matrix, int64_t number) const;
    // Row `row` of matrix `matrix` as f32. Uses the member's scratch for unpacking.
    void row(int64_t matrix, int64_t row, float* values, const Worker& worker) const;
};

// `matrices`: of how many it is a stack, by its first row axes. Its weights are loaded.
HeldMatrix held_matrix(const Operand& operand, const Site& site, int64_t matrices = 1);

// In what parts products are dealt: few tokens follow the stream of the weights.
inline Parts parts_for(int64_t tokens) {
    return tokens > most_tokens_in_rows ? Parts::Short : Parts::Long;
}

// Working memory for products whose operand is in tiles.
uint8_t* product_memory(const Worker& worker);

// The product of one matrix of the stack: by the variant's kernel where it is packed, else a
// decoded row at a time with f32 rows of x. Fills in what `product` does not say of the matrix.
void multiply(const HeldMatrix& held, const Isa& isa, int64_t matrix, Product product,
              const Worker& worker);
// The same of a packed matrix with x in tiles.
void multiply_tiles(const HeldMatrix& held, const TileForm& form, int64_t matrix, Product product,
                    const Worker& worker);

}  // namespace tandem::kernels::cpu
