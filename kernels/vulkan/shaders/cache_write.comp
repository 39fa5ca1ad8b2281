// Rows of keys or values written to the cells of their tokens' positions. An invocation takes a
// block of a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "cache.glsl"
#include "rounding.glsl"

layout(constant_id = 1) const uint type = 0;

layout(push_constant) uniform Parameters {
    uint64_t count, x, cache, positions, sequence_of, sequences;
    uint heads, cells, length, token_stride, head_stride;
};

void main() {
    uint block = cache_block(type), blocks = (length + block - 1) / block;
    uint number = invocation_number(), row = number / blocks, first = number % blocks * block;
    uint token = row / heads, head = row % heads;
    if (token >= live_count(count)) return;
    uint slot = Words(sequences).at[4 * Words(sequence_of).at[token]];
    uint cell = uint(Ints(positions).at[token]) % cells;
    Floats from = Floats(x + uint64_t(token * token_stride + head * head_stride) * 4);
    uint64_t to =
        cache + uint64_t((slot * heads + head) * cells + cell) * cache_row_bytes(type, length);
    uint last = min(first + block, length);
    if (type == cache_f32) {
        for (uint i = first; i < last; ++i) Floats(to).at[i] = from.at[i];
    } else if (type == cache_q8_0) {
        float most = 0;
        for (uint i = first; i < last; ++i) most = max(most, abs(from.at[i]));
        float d = most / 127, inverse = d > 0 ? 1 / d : 0;
        uint at = first / block;
        // Two blocks share a word of scales.
        uint shift = (at & 1u) * 16;
        atomicAnd(Words(to).at[at >> 1], ~(0xffffu << shift));
        atomicOr(Words(to).at[at >> 1], half_bits(d) << shift);
        Words codes = Words(to + plane_bytes(blocks, 2));
        for (uint i = first; i < last; i += 4) {
            uint word = 0;
            for (uint j = 0; j < 4; ++j)
                word |= (uint(code_of(from.at[i + j] * inverse, 127)) & 255u) << (8 * j);
            codes.at[i / 4] = word;
        }
    } else {
        for (uint i = first; i < last; i += 2) {
            float a = from.at[i], b = i + 1 < last ? from.at[i + 1] : 0;
            Words(to).at[i / 2] = type == cache_f16 ? half_bits(a) | half_bits(b) << 16
                                                    : bfloat_bits(a) | bfloat_bits(b) << 16;
        }
    }
}
