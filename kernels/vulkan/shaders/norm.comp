// Rows made to a length: RMS norm with or without a weight, and the norm of a vector's length. A
// workgroup takes a row. The result may be in int8 blocks, too, or only in these.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "step.glsl"
#include "runs.glsl"
#include "reduce.glsl"
#include "fours.glsl"
#include "to_int8_blocks.glsl"

layout(constant_id = 1) const uint kind = 0;  // 0: RMS with a weight, 1: RMS, 2: length
layout(constant_id = 2) const bool aligned = false;  // everything can be read by fours
layout(constant_id = 3) const bool plain = true;     // there is a result in f32,
layout(constant_id = 4) const bool in_blocks = false;  // and one in int8 blocks
layout(constant_id = 5) const uint held = 1;  // fours that an invocation keeps, and their weights

layout(push_constant) uniform Parameters {
    uint64_t count, x, weight, y, blocks;
    uint per_live, length;
    float epsilon;
    Runs rows;
};

// The whole workgroup calls it together.
void put(uint64_t to, uint number, uint i, vec4 values) {
    bool within = i < length;
    if (plain && within) put_four(to, i, length, aligned, values);
    if (in_blocks) put_in_blocks(blocks, number * length + i, values, within);
}

void main() {
    uint number = group_number();
    if (number >= live_count(count) * per_live) return;
    uvec2 at = places(rows, number);
    uint64_t from = x + uint64_t(at.x) * 4, to = y + uint64_t(at.y) * 4;
    const uint first = gl_LocalInvocationIndex * 4, next = gl_WorkGroupSize.x * 4;
    // Weights are asked for before they are needed.
    vec4 kept[held], weights[held];
    float squares = 0;
    [[unroll]] for (uint j = 0; j < held; ++j) {
        kept[j] = four_of(from, first + j * next, length, aligned);
        weights[j] = kind == 0 ? four_of(weight, first + j * next, length, aligned) : vec4(1);
    }
    [[unroll]] for (uint j = 0; j < held; ++j) squares += dot(kept[j], kept[j]);
    for (uint i = first + held * next; i < length; i += next) {
        vec4 values = four_of(from, i, length, aligned);
        squares += dot(values, values);
    }
    squares = workgroup_sum(squares);
    float factor = kind == 2 ? 1 / max(sqrt(squares), epsilon)
                             : 1 / sqrt(squares / float(length) + epsilon);
    [[unroll]] for (uint j = 0; j < held; ++j)
        put(to, number, first + j * next, kept[j] * factor * weights[j]);
    for (uint begin = held * next; begin < length; begin += next) {
        uint i = begin + first;
        vec4 values = four_of(from, i, length, aligned) * factor;
        if (kind == 0) values *= four_of(weight, i, length, aligned);
        put(to, number, i, values);
    }
}
