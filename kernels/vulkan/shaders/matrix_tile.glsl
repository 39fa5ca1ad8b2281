// A tile of the products of matrices' rows and many rows of x, computed by four subgroups of a
// workgroup in fragments, which units of the hardware multiply. Both sides come into shared memory
// a few parts of their rows at a time, eight halves each; sums are f32.
//
// All products add up in one order, so the shape of the tile changes no bit of them.
//
// The shader says how many matrices there are (const uint matrices), whose fragments of rows take
// turns in the tile, and gives the parts of a row of the tile; rows and parts past the end may be
// asked for: such rows may give anything, and parts, where they are multiplied, give zeros:
//     uvec4 part_of_w(uint row, uint part), uvec4 part_of_x(uint token, uint part)
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require

layout(constant_id = 1) const uint fragment_rows = 16;
layout(constant_id = 2) const uint fragment_tokens = 16;
layout(constant_id = 3) const uint fragment_depth = 16;
layout(constant_id = 4) const uint row_fragments = 4;  // of a subgroup; as many for each matrix
layout(constant_id = 5) const uint token_fragments = 4;
layout(constant_id = 6) const uint parts_at_once = 4;

const uint row_subgroups = 2, token_subgroups = 2;
const uint tile_rows = row_subgroups * row_fragments * fragment_rows;
const uint tile_tokens = token_subgroups * token_fragments * fragment_tokens;

// Eight numbers of a part are one vector. Another one keeps rows that are read at once in different
// banks.
const uint tile_stride = parts_at_once + 1;
shared uvec4 tile[(tile_rows + tile_tokens) * tile_stride];  // rows, then tokens

// A subgroup's fragments: row_fragments x token_fragments of sums.
//     clear_sums(i)       makes fragment i of the sums zero
//     load_left(r, at)    fragment r of rows, from the tile
//     load_right(at)      a fragment of tokens
//     add_products(i, r)  adds products of left fragment r and the right one
//     store_sums(i, at)   into the tile, token by token
#include "fragments.glsl"

uvec4 part_of_w(uint row, uint part);
uvec4 part_of_x(uint token, uint part);

// The subgroup's first fragments in the tile.
uint first_row_fragment() { return gl_SubgroupID % row_subgroups * row_fragments; }
uint first_token_fragment() { return gl_SubgroupID / row_subgroups * token_fragments; }

// What an invocation brings into the tile. It waits in registers while the tile before it is
// multiplied, and all of its loads are on their way at once: nothing depends on a branch.
const uint parts_of_w = tile_rows * parts_at_once, parts_of_x = tile_tokens * parts_at_once;
const uint w_each = (parts_of_w + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x;
const uint x_each = (parts_of_x + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x;
uvec4 next_w[w_each], next_x[x_each];

uint own_part(uint i) { return gl_LocalInvocationIndex + i * gl_WorkGroupSize.x; }

void fetch(uint first_part) {
    [[unroll]] for (uint i = 0; i < w_each; ++i)
        next_w[i] = part_of_w(min(own_part(i) / parts_at_once, tile_rows - 1),
                              first_part + own_part(i) % parts_at_once);
    [[unroll]] for (uint i = 0; i < x_each; ++i)
        next_x[i] = part_of_x(min(own_part(i) / parts_at_once, tile_tokens - 1),
                              first_part + own_part(i) % parts_at_once);
}

void fill_tile() {
    [[unroll]] for (uint i = 0; i < w_each; ++i)
        if (own_part(i) < parts_of_w)
            tile[own_part(i) / parts_at_once * tile_stride + own_part(i) % parts_at_once] =
                next_w[i];
    [[unroll]] for (uint i = 0; i < x_each; ++i)
        if (own_part(i) < parts_of_x)
            tile[(tile_rows + own_part(i) / parts_at_once) * tile_stride +
                 own_part(i) % parts_at_once] = next_x[i];
}

void multiply_tile() {
    uint left = first_row_fragment() * fragment_rows * tile_stride;
    uint right = (tile_rows + first_token_fragment() * fragment_tokens) * tile_stride;
    [[unroll]] for (uint part = 0; part < parts_at_once; part += fragment_depth / 8) {
        [[unroll]] for (uint r = 0; r < row_fragments; ++r)
            load_left(r, left + r * fragment_rows * tile_stride + part);
        [[unroll]] for (uint t = 0; t < token_fragments; ++t) {
            load_right(right + t * fragment_tokens * tile_stride + part);
            [[unroll]] for (uint r = 0; r < row_fragments; ++r)
                add_products(r * token_fragments + t, r);
        }
    }
}

// Rows have so many parts.
void add_up_tile(uint parts) {
    [[unroll]] for (uint i = 0; i < row_fragments * token_fragments; ++i) clear_sums(i);
    barrier();  // where rows lie is known
    fetch(0);
    for (uint part = 0; part < parts; part += parts_at_once) {
        fill_tile();
        barrier();
        fetch(part + parts_at_once);
        multiply_tile();
        barrier();
    }
}

// Sums on their way to memory, in the tile when nobody needs it any more: of each subgroup a fragment
// for each matrix.
const uint fragment_sums = fragment_rows * fragment_tokens;
uint staged_at(uint number) { return (gl_SubgroupID * matrices + number) * fragment_sums; }
float staged(uint number, uint i) {
    uint at = staged_at(number) + i;
    return uintBitsToFloat(tile[at / 4][at % 4]);
}

// Stages the sums of row fragments r, r + 1, ..., one of each matrix, and of token fragment t.
void stage_sums(uint r, uint t) {
    subgroupBarrier();
    [[unroll]] for (uint i = 0; i < matrices; ++i)
        store_sums((r + i) * token_fragments + t, staged_at(i));
    subgroupBarrier();
}
