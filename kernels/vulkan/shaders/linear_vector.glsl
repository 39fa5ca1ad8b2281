// y = W x for a few tokens: each subgroup takes some rows of W, and its invocations parts of their
// blocks in turn, so that neighbours read neighbouring words. What is read of x serves all these
// rows, what is read of W all tokens. The shader adds up the products: void add_up().
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "linear.glsl"

layout(constant_id = 1) const uint rows_at_once = 2;  // which read the same of x
layout(constant_id = 2) const uint tokens_at_once = 1;
layout(constant_id = 3) const uint kind = 0;
layout(constant_id = 4) const uint matrices = 1;

const uint products = rows_at_once * matrices;

// Items of a row that an invocation loads at once: as many as it has registers for, since memory
// answers a few long after it was asked.
const uint sums_at_once = products * tokens_at_once;
const uint items_at_once = sums_at_once > 4 ? 1 : sums_at_once > 2 ? 2 : 4;

uint64_t from[products];        // rows of W, then of the second matrix
uint token_at[tokens_at_once];  // the first elements of x that they meet
float sums[sums_at_once];       // this invocation's, of a product and a token
uint y_of_row[rows_at_once], y_of_token[tokens_at_once];

void add_up();

uint tokens_in_all() { return live_count(count) * per_live; }

// The products of a subgroup's rows and tokens, of which the first exist.
void multiply(uint first_row, uint first_token, uint tokens) {
    uint x_of_rows = places(weight_rows, first_row).x;
    for (uint r = 0; r < rows_at_once; ++r) {
        uint row = min(first_row + r, rows - 1);
        from[r] = w + uint64_t(row) * row_bytes;
        if (matrices > 1) from[rows_at_once + r] = other + uint64_t(row) * row_bytes;
        y_of_row[r] = places(weight_rows, row).y;
    }
    for (uint t = 0; t < tokens_at_once; ++t) {
        uvec2 at = places(token_rows, min(first_token + t, tokens - 1));
        token_at[t] = x_of_rows + at.x;
        y_of_token[t] = at.y;
    }
    for (uint i = 0; i < sums_at_once; ++i) sums[i] = 0;
    add_up();
    for (uint i = 0; i < sums_at_once; ++i) sums[i] = subgroupAdd(sums[i]);
}

uint place_in_y(uint r, uint t) { return y_of_token[t] + y_of_row[r]; }

// Of row number r and token number t of those.
float result_of(uint r, uint t, uint row) {
    uint i = r * tokens_at_once + t;
    float second = matrices > 1 ? sums[rows_at_once * tokens_at_once + i] : 0;
    return finished(kind, other, sums[i], second, row, place_in_y(r, t));
}

void put_results() {
    uint subgroup = group_number() * gl_NumSubgroups + gl_SubgroupID;
    uint first_row = subgroup * rows_at_once, first_token = gl_WorkGroupID.y * tokens_at_once;
    uint tokens = tokens_in_all();
    if (first_row >= rows || first_token >= tokens) return;
    multiply(first_row, first_token, tokens);
    if (!subgroupElect()) return;
    for (uint r = 0; r < rows_at_once; ++r)
        for (uint t = 0; t < tokens_at_once; ++t)
            if (first_row + r < rows && first_token + t < tokens)
                Floats(y).at[place_in_y(r, t)] = result_of(r, t, first_row + r);
}
