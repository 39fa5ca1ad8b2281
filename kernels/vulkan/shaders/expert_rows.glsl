// What a tile of the products of one expert is made of: rows of its matrix, and choices. The shader
// has the size of its tiles.
uint first_row;
uint64_t matrix;
shared uvec2 token_at[tile_tokens];  // of the choices, in x and y

// How many choices the workgroup's tile has; 0: there is no such tile. Workgroups that take the same
// rows run side by side, so that memory gives them out once.
uint find_tile() {
    uint number = group_number();
    if (number >= Words(tiles).at[0]) return 0;
    uvec4 found = Quads(tiles).at[1 + number];  // expert, first choice, choices
    uint first = found.y, tokens = found.z;
    matrix = w + uint64_t(found.x) * rows * row_bytes;
    first_row = gl_WorkGroupID.y * tile_rows;
    for (uint t = gl_LocalInvocationIndex; t < tile_tokens; t += gl_WorkGroupSize.x) {
        uint choice = Words(sorted).at[first + min(t, tokens - 1)];
        token_at[t] = uvec2(choice / sharers * x_stride, choice * rows);
    }
    return tokens;
}
