// y = W x for many tokens: a workgroup computes a tile of y. The shader has the products of a tile.
layout(constant_id = 5) const uint kind = 0;
layout(constant_id = 6) const uint matrices = 1;

uint first_row, first_token;
uint64_t matrix;
shared uvec2 token_at[tile_tokens];  // in x and y

uint64_t row_of_w(uint row) { return matrix + uint64_t(min(first_row + row, rows - 1)) * row_bytes; }
uint place_in_x(uint token) { return token_at[token].x; }

void main() {
    // Workgroups that take the same rows run side by side, so that memory gives them out once.
    first_row = gl_WorkGroupID.y * tile_rows;
    first_token = group_number() * tile_tokens;
    uint tokens = live_count(count) * per_live;
    if (first_token >= tokens) return;
    for (uint t = gl_LocalInvocationIndex; t < tile_tokens; t += gl_WorkGroupSize.x)
        token_at[t] = places(token_rows, min(first_token + t, tokens - 1));
    float seconds[matrices > 1 ? rows_each * tokens_each : 1];
    if (matrices > 1) {
        matrix = other;
        add_up_tile(columns);
        for (uint i = 0; i < rows_each * tokens_each; ++i) seconds[i] = sums[i];
    }
    matrix = w;
    add_up_tile(columns);
    for (uint r = 0; r < rows_each; ++r) {
        uint row = first_row + row_in_tile(r);
        uint y_of_row = places(weight_rows, row).y;
        for (uint t = 0; t < tokens_each; ++t) {
            if (row >= rows || first_token + token_in_tile(t) >= tokens) continue;
            uint at = token_at[token_in_tile(t)].y + y_of_row, i = r * tokens_each + t;
            float second = matrices > 1 ? seconds[i] : 0;
            Floats(y).at[at] = finished(kind, other, sums[i], second, row, at);
        }
    }
}
