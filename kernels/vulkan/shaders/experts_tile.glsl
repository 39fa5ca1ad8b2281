// Products of experts for many tokens: a workgroup takes a tile of one expert's rows and choices.
// The shader has the products of a tile.
uint first_row;
uint64_t matrix;
shared uvec2 token_at[tile_tokens];  // in x and y

uint64_t row_of_w(uint row) {
    return matrix + uint64_t(min(first_row + row, rows - 1)) * row_bytes;
}
uint place_in_x(uint token) { return token_at[token].x; }

void main() {
    // Workgroups that take the same rows run side by side, so that memory gives them out once.
    uint number = group_number();
    if (number >= Words(tiles).at[0]) return;
    uvec4 tile = Quads(tiles).at[1 + number];
    uint first = tile.y, tokens = tile.z;
    matrix = w + uint64_t(tile.x) * rows * row_bytes;
    first_row = gl_WorkGroupID.y * tile_rows;
    for (uint t = gl_LocalInvocationIndex; t < tile_tokens; t += gl_WorkGroupSize.x) {
        uint choice = Words(sorted).at[first + min(t, tokens - 1)];
        token_at[t] = uvec2(choice / sharers * x_stride, choice * rows);
    }
    add_up_tile(columns);
    for (uint r = 0; r < rows_each; ++r) {
        uint row = first_row + row_in_tile(r);
        for (uint t = 0; t < tokens_each; ++t)
            if (row < rows && token_in_tile(t) < tokens)
                Floats(y).at[token_at[token_in_tile(t)].y + row] = sums[r * tokens_each + t];
    }
}
