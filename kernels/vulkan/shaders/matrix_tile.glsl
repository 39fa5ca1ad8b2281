// A tile of the products of matrices' rows and many rows of x, computed by four subgroups of a
// workgroup in fragments, which units of the hardware multiply. Both sides come into shared memory
// a few parts of their rows at a time, weights decoded once for all of the tile, and are rounded to
// f16 there; sums are f32. Rows of x are read in the order of the matrix's parts, as in tile.glsl.
//
// All products add up in one order, so the shape of the tile changes no bit of them.
//
// The shader has the decoder of a type, says how many matrices there are (const uint matrices),
// whose fragments of rows take turns in the tile, and where rows of the tile lie, both always
// within their operand: uint64_t row_of_w(uint row), uint64_t row_of_x(uint token).
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#include "fours.glsl"

layout(constant_id = 1) const uint fragment_rows = 16;
layout(constant_id = 2) const uint fragment_tokens = 16;
layout(constant_id = 3) const uint fragment_depth = 16;
layout(constant_id = 4) const uint row_fragments = 4;  // of a subgroup; as many for each matrix
layout(constant_id = 5) const uint token_fragments = 4;
layout(constant_id = 6) const uint parts_at_once = 4;
layout(constant_id = 7) const bool aligned = false;  // x can be read four numbers at a time

const uint row_subgroups = 2, token_subgroups = 2;
const uint tile_rows = row_subgroups * row_fragments * fragment_rows;
const uint tile_tokens = token_subgroups * token_fragments * fragment_tokens;

// Eight numbers of a part are one vector. Another one keeps rows that are read at once in different
// banks.
const uint tile_stride = parts_at_once + 1;
shared uvec4 tile_w[tile_rows * tile_stride];
shared uvec4 tile_x[tile_tokens * tile_stride];

// Sums on their way to memory: of each subgroup a fragment for each matrix, token by token.
const uint fragment_sums = fragment_rows * fragment_tokens;
shared float staged[row_subgroups * token_subgroups * matrices * fragment_sums];

// A subgroup's fragments: row_fragments x token_fragments of sums.
//     clear_sums(i)       makes fragment i of the sums zero
//     load_left(r, at)    fragment r of rows, from tile_w
//     load_right(at)      a fragment of tokens, from tile_x
//     add_products(i, r)  adds products of left fragment r and the right one
//     store_sums(i, at)   to `staged`
#include "fragments.glsl"

uint64_t row_of_w(uint row);
uint64_t row_of_x(uint token);

// The subgroup's first fragments in the tile.
uint first_row_fragment() { return gl_SubgroupID % row_subgroups * row_fragments; }
uint first_token_fragment() { return gl_SubgroupID / row_subgroups * token_fragments; }

uvec4 halves_of(vec4 a, vec4 b) {
    const float most = 65504;
    a = clamp(a, -most, most);
    b = clamp(b, -most, most);
    return uvec4(packHalf2x16(a.xy), packHalf2x16(a.zw), packHalf2x16(b.xy), packHalf2x16(b.zw));
}

void fill_tile(uint columns, uint first_part) {
    const uint parts = block_elements / 8;
    uint blocks = (columns + block_elements - 1) / block_elements;
    const uint self = gl_LocalInvocationIndex, all = gl_WorkGroupSize.x;
    for (uint i = self; i < tile_rows * parts_at_once; i += all) {
        uint row = i / parts_at_once, number = i % parts_at_once, part = first_part + number;
        vec4 a = vec4(0), b = vec4(0);
        if (part < blocks * parts) decode(row_of_w(row), blocks, part / parts, part % parts, a, b);
        tile_w[row * tile_stride + number] = halves_of(a, b);
    }
    for (uint i = self; i < tile_tokens * parts_at_once; i += all) {
        uint token = i / parts_at_once, number = i % parts_at_once, part = first_part + number;
        vec4 a = vec4(0), b = vec4(0);
        if (part < blocks * parts) {
            uvec2 places = part / parts * block_elements + places_of(part % parts);
            uint64_t row = row_of_x(token);
            a = four_of(row, places.x, columns, aligned);
            b = four_of(row, places.y, columns, aligned);
        }
        tile_x[token * tile_stride + number] = halves_of(a, b);
    }
}

void multiply_tile() {
    uint left = first_row_fragment() * fragment_rows * tile_stride;
    uint right = first_token_fragment() * fragment_tokens * tile_stride;
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

void add_up_tile(uint columns) {
    [[unroll]] for (uint i = 0; i < row_fragments * token_fragments; ++i) clear_sums(i);
    uint parts = (columns + block_elements - 1) / block_elements * (block_elements / 8);
    for (uint part = 0; part < parts; part += parts_at_once) {
        barrier();
        fill_tile(columns, part);
        barrier();
        multiply_tile();
    }
}

// Where a subgroup's sums of a matrix are staged.
uint staged_at(uint number) { return (gl_SubgroupID * matrices + number) * fragment_sums; }

// Stages the sums of row fragments r, r + 1, ..., one of each matrix, and of token fragment t.
void stage_sums(uint r, uint t) {
    subgroupBarrier();
    [[unroll]] for (uint i = 0; i < matrices; ++i)
        store_sums((r + i) * token_fragments + t, staged_at(i));
    subgroupBarrier();
}
