// Rows of caches, whatever their type. The numbers are those of kernels/vulkan/cache.h.
#include "planes.glsl"
#include "blocks/f32.glsl"
#include "blocks/f16.glsl"
#include "blocks/bf16.glsl"
#include "blocks/q8_0.glsl"
#include "blocks/q4_0.glsl"

const uint cache_f32 = 0, cache_f16 = 1, cache_bf16 = 2, cache_q8_0 = 3, cache_q4_0 = 4;

uint cache_block(uint type) { return type == cache_q8_0 || type == cache_q4_0 ? 32 : 8; }

// Bytes of a row of so many elements.
uint cache_row_bytes(uint type, uint length) {
    uint eights = (length + 7) / 8;
    if (type == cache_f32) return plane_bytes(eights, 32);
    if (cache_block(type) == 8) return plane_bytes(eights, 16);
    uint blocks = (length + 31) / 32;
    return plane_bytes(blocks, 2) + plane_bytes(blocks, type == cache_q8_0 ? 32 : 16);
}

// Eight elements of q4_0 that stand together, which those of places_q4_0() do not.
void decode_eight_q4_0(uint64_t row, uint blocks, uint block, uint eight, out vec4 a, out vec4 b) {
    float d = half_at(row, block);
    uvec2 codes = Pairs(row + plane_bytes(blocks, 2)).at[block * 2 + eight % 2] >> (eight / 2 * 4);
    a = d * (bytes_of(codes.x & 0x0f0f0f0fu) - 8);
    b = d * (bytes_of(codes.y & 0x0f0f0f0fu) - 8);
}

// Elements of a row by eights, and where the two runs of four of each stand in it.
uint cache_eights(uint type, uint length) {
    return (length + cache_block(type) - 1) / cache_block(type) * (cache_block(type) / 8);
}
uvec2 cache_places(uint type, uint number) {
    switch (type) {
        case cache_f32:
            return 8 * number + places_f32(0);
        case cache_f16:
            return 8 * number + places_f16(0);
        case cache_bf16:
            return 8 * number + places_bf16(0);
        default:  // in a block of 32, too
            return 32 * (number / 4) + places_q8_0(number % 4);
    }
}

// Eight elements; gives where they stand in the row.
uvec2 cache_eight(uint type, uint64_t row, uint length, uint number, out vec4 a, out vec4 b) {
    uint blocks = (length + cache_block(type) - 1) / cache_block(type);
    switch (type) {
        case cache_f32:
            decode_f32(row, blocks, number, 0, a, b);
            break;
        case cache_f16:
            decode_f16(row, blocks, number, 0, a, b);
            break;
        case cache_bf16:
            decode_bf16(row, blocks, number, 0, a, b);
            break;
        case cache_q4_0:
            decode_eight_q4_0(row, blocks, number / 4, number % 4, a, b);
            break;
        default:
            decode_q8_0(row, blocks, number / 4, number % 4, a, b);
    }
    return cache_places(type, number);
}
