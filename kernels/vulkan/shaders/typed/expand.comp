// Rows of a matrix to halves, in the order of their elements. An invocation takes a part of a block.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "halves.glsl"

layout(push_constant) uniform Parameters {
    uint64_t w, y, codebook;
    uint rows, first_row, columns, row_bytes;
};

#include "type.glsl"

void main() {
    const uint parts = block_elements / 8;
    uint row = invocation_number() / (columns / 8), number = invocation_number() % (columns / 8);
    if (row >= rows) return;
    vec4 a, b;
    decode(w + uint64_t(first_row + row) * row_bytes, columns / block_elements, number / parts,
           number % parts, a, b);
    uvec4 halves = halves_of(a, b);
    uvec2 at = (row * columns + number / parts * block_elements + places_of(number % parts)) / 4;
    Pairs(y).at[at.x] = halves.xy;
    Pairs(y).at[at.y] = halves.zw;
}
