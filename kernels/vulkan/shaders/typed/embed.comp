// Rows of a table by id. A device with a range of the rows gives zeros for the others.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"

layout(push_constant) uniform Parameters {
    uint64_t count, table, ids, y, codebook;
    uint first, rows, columns, row_bytes, stride;
};

#include "type.glsl"

void store(uint64_t row, uint at, vec4 values) {
    for (uint i = 0; i < 4; ++i)
        if (at + i < columns) Floats(row).at[at + i] = values[i];
}

void main() {
    const uint parts = block_elements / 8;
    uint blocks = (columns + block_elements - 1) / block_elements;
    uint number = invocation_number(), token = number / (blocks * parts);
    if (token >= live_count(count)) return;
    uint block = number / parts % blocks, part = number % parts;
    uint row = uint(Ints(ids).at[token]) - first;
    vec4 a = vec4(0), b = vec4(0);
    if (row < rows) decode(table + uint64_t(row) * row_bytes, blocks, block, part, a, b);
    uvec2 at = block * block_elements + places_of(part);
    uint64_t to = y + uint64_t(token) * stride * 4;
    store(to, at.x, a);
    store(to, at.y, b);
}
