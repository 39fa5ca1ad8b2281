// Heads on their way to attention: a row is normed and turned where that is asked for, and put among
// the queries in f32 or into the cell of its token's position. A subgroup takes a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "step.glsl"
#include "runs.glsl"
#include "fours.glsl"
#include "turns.glsl"
#include "cache.glsl"
#include "rounding.glsl"

layout(constant_id = 1) const uint length = 128;
layout(constant_id = 2) const uint norm = 0;     // 1: RMS, 2: RMS with a weight
layout(constant_id = 3) const uint turning = 0;  // 1: neighbours turn, 2: an element of each half
layout(constant_id = 4) const bool cached = false;
layout(constant_id = 5) const uint type = 0;  // of the cache
layout(constant_id = 6) const bool aligned = false;  // x and the weight can be read by fours
layout(constant_id = 7) const uint rows_at_once = 1;  // of a workgroup

layout(push_constant) uniform Parameters {
    uint64_t count, x, weight, angles, positions, sequence_of, sequences;
    uint64_t y;  // the queries, one after another, or the cache
    uint per_live, cells, dims;
    float epsilon, magnitude;
    Runs rows;
};

const uint room = (length + 3) / 4 * 4;
shared float all_rows[rows_at_once * room];

uint own;  // the number of this subgroup's row among them
uint element(uint i) { return own * room + i; }
vec4 four_of_row(uint i) {
    uint at = element(i);
    return vec4(all_rows[at], all_rows[at + 1], all_rows[at + 2], all_rows[at + 3]);
}
void put_four_of_row(uint i, vec4 values) {
    for (uint j = 0; j < 4; ++j) all_rows[element(i) + j] = values[j];
}

void wait_for_subgroup() {
    subgroupMemoryBarrierShared();
    subgroupBarrier();
}

// Each invocation has the same elements in both loops. The first weights are asked for before they
// are needed.
void read_row(uint64_t from) {
    const uint first = gl_SubgroupInvocationID * 4, next = gl_SubgroupSize * 4;
    vec4 weights = norm == 2 ? four_of(weight, first, length, aligned) : vec4(1);
    float squares = 0;
    for (uint i = first; i < length; i += next) {
        vec4 values = four_of(from, i, length, aligned);
        squares += dot(values, values);
        put_four_of_row(i, values);
    }
    if (norm == 0) return;
    float factor = 1 / sqrt(subgroupAdd(squares) / float(length) + epsilon);
    for (uint i = first; i < length; i += next) {
        vec4 values = four_of_row(i) * factor;
        if (norm == 2) values *= i == first ? weights : four_of(weight, i, length, aligned);
        put_four_of_row(i, values);
    }
}

vec2 turn_of(uint pair, uint position) {
    return cos_sin_at(angles, min(pair, dims / 2 - 1), position) * magnitude;
}

// `turns` are those of the invocation's first two pairs.
void turn_row(uint position, vec2 turns[2]) {
    const uint pairs = dims / 2, self = gl_SubgroupInvocationID;
    for (uint pair = self; pair < pairs; pair += gl_SubgroupSize) {
        vec2 turn = pair == self                     ? turns[0]
                    : pair == self + gl_SubgroupSize ? turns[1]
                                                     : turn_of(pair, position);
        uint first = element(turning == 2 ? pair : 2 * pair);
        uint second = first + (turning == 2 ? pairs : 1);
        float a = all_rows[first], b = all_rows[second];
        all_rows[first] = a * turn.x - b * turn.y;
        all_rows[second] = a * turn.y + b * turn.x;
    }
}

// Two blocks share a word of scales.
void put_scale(uint64_t to, uint block, float d) {
    uint shift = (block & 1u) * 16;
    atomicAnd(Words(to).at[block >> 1], ~(0xffffu << shift));
    atomicOr(Words(to).at[block >> 1], half_bits(d) << shift);
}

float inverse_of(float d) {
    float inverse = 1 / d;
    return isinf(inverse) || isnan(inverse) ? 0 : inverse;
}

// A product that is rounded before anything is added to it. What is no number, or infinite, gets
// the least code.
uint nibble_of(float value, float inverse) {
    precise float product = value * inverse;
    if (isinf(value) || isnan(product)) return 0;
    return uint(clamp(floor(product + 8.5), 0, 15));
}

// Magnitudes are compared by their bits, which put what is no number above all: it must not get lost.
uint bits_of_magnitude(float value) { return floatBitsToUint(value) & 0x7fffffffu; }

float largest_magnitude(uint first, uint last) {
    uint most = 0;
    for (uint i = first; i < last; ++i) most = max(most, bits_of_magnitude(all_rows[element(i)]));
    return uintBitsToFloat(most);
}

// Of the largest magnitude, the first.
float extreme(uint first, uint last) {
    float most = 0;
    for (uint i = first; i < last; ++i) {
        float value = all_rows[element(i)];
        if (bits_of_magnitude(value) > bits_of_magnitude(most)) most = value;
    }
    return most;
}

// Elements [first, last) of the row, a block of the cache's type.
void put_block(uint64_t to, uint first, uint last) {
    if (type == cache_f32) {
        for (uint i = first; i < last; ++i) Floats(to).at[i] = all_rows[element(i)];
    } else if (type == cache_q8_0) {
        float d = largest_magnitude(first, last) / 127, inverse = d > 0 ? 1 / d : 0;
        uint at = first / block_q8_0, blocks = (length + block_q8_0 - 1) / block_q8_0;
        put_scale(to, at, d);
        Words codes = Words(to + plane_bytes(blocks, 2));
        for (uint i = first; i < last; i += 4) {
            uint word = 0;
            for (uint j = 0; j < 4; ++j)
                word |= (uint(code_of(all_rows[element(i + j)] * inverse, 127)) & 255u) << (8 * j);
            codes.at[i / 4] = word;
        }
    } else if (type == cache_q4_0) {
        float d = extreme(first, last) / -8, inverse = inverse_of(d);
        uint at = first / block_q4_0, blocks = (length + block_q4_0 - 1) / block_q4_0;
        put_scale(to, at, d);
        Words codes = Words(to + plane_bytes(blocks, 2));
        for (uint i = 0; i < 4; ++i) {
            uint word = 0;
            for (uint j = 0; j < 4; ++j) {
                uint low = element(first + 4 * i + j), high = low + 16;
                word |= (nibble_of(all_rows[low], inverse) |
                         nibble_of(all_rows[high], inverse) << 4) << (8 * j);
            }
            codes.at[at * 4 + i] = word;
        }
    } else {
        for (uint i = first; i < last; i += 2) {
            float a = all_rows[element(i)], b = i + 1 < last ? all_rows[element(i + 1)] : 0;
            Words(to).at[i / 2] = type == cache_f16 ? half_bits(a) | half_bits(b) << 16
                                                    : bfloat_bits(a) | bfloat_bits(b) << 16;
        }
    }
}

void put_row(uint number, uint token) {
    uint position = uint(Ints(positions).at[token]);
    vec2 turns[2] = {vec2(0), vec2(0)};
    if (turning != 0)
        for (uint i = 0; i < 2; ++i)
            turns[i] = turn_of(gl_SubgroupInvocationID + i * gl_SubgroupSize, position);
    read_row(x + uint64_t(places(rows, number).x) * 4);
    wait_for_subgroup();
    if (turning != 0) {
        turn_row(position, turns);
        wait_for_subgroup();
    }
    const uint self = gl_SubgroupInvocationID;
    if (cached) {
        uint slot = Words(sequences).at[4 * sequence_of_token(sequence_of, token)];
        uint cell = (slot * per_live + number % per_live) * cells + position % cells;
        uint64_t to = y + uint64_t(cell) * cache_row_bytes(type, length);
        const uint block = cache_block(type);
        for (uint i = self * block; i < length; i += gl_SubgroupSize * block)
            put_block(to, i, min(i + block, length));
    } else {
        for (uint i = self; i < length; i += gl_SubgroupSize)
            Floats(y).at[number * length + i] = all_rows[element(i)];
    }
}

void main() {
    uint rows_in_all = live_count(count) * per_live;
    // However many subgroups the driver makes of the workgroup.
    for (own = gl_SubgroupID; own < rows_at_once; own += gl_NumSubgroups) {
        uint number = group_number() * rows_at_once + own;
        if (number < rows_in_all) put_row(number, number / per_live);
    }
}
