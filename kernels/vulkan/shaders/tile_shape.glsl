// The tile of products of a matrix's rows and many rows of x that a workgroup of 128 invocations
// computes: an invocation adds up rows_each x tokens_each of them in registers.
layout(constant_id = 1) const uint rows_each = 4;
layout(constant_id = 2) const uint tokens_each = 8;

// Neighbouring invocations take neighbouring rows of the matrix, which are neighbours in y.
const uint row_lanes = 16, token_lanes = 8;
const uint tile_rows = rows_each * row_lanes, tile_tokens = tokens_each * token_lanes;

// Where this invocation's products stand in the tile.
uint row_in_tile(uint r) { return gl_LocalInvocationIndex % row_lanes + r * row_lanes; }
uint token_in_tile(uint t) { return gl_LocalInvocationIndex / row_lanes + t * token_lanes; }

// sums[r * tokens_each + t] is the product of row row_in_tile(r) and token token_in_tile(t).
float sums[rows_each * tokens_each];

// Where rows of the tile lie, always within their operand: the address of a row of the matrix, and
// the first element of a row of x. The shader says so.
uint64_t row_of_w(uint row);
uint place_in_x(uint token);
