// Products of experts for many tokens: a workgroup takes a tile of one expert's rows and choices.
// The shader has the products of a tile.
#include "expert_rows.glsl"

uint64_t row_of_w(uint row) {
    return matrix + uint64_t(min(first_row + row, rows - 1)) * row_bytes;
}
uint place_in_x(uint token) { return token_at[token].x; }

void main() {
    uint tokens = find_tile();
    if (tokens == 0) return;
    add_up_tile(columns);
    for (uint r = 0; r < rows_each; ++r) {
        uint row = first_row + row_in_tile(r);
        for (uint t = 0; t < tokens_each; ++t)
            if (row < rows && token_in_tile(t) < tokens)
                Floats(y).at[token_at[token_in_tile(t)].y + row] = sums[r * tokens_each + t];
    }
}
