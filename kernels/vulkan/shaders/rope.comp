// Rotary position embedding: pairs of a row turn by their angle times the position, the rest stays.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "runs.glsl"
#include "turns.glsl"

layout(constant_id = 1) const bool halves = false;

layout(push_constant) uniform Parameters {
    uint64_t count, x, y, positions, angles;
    uint per_live, length, dims;
    float magnitude;
    Runs rows;
};

void main() {
    uint pairs = dims / 2, rest = length - dims, items = pairs + rest;
    uint number = invocation_number(), row = number / items, item = number % items;
    if (row >= live_count(count) * per_live) return;
    uvec2 at = places(rows, row);
    Floats from = Floats(x + uint64_t(at.x) * 4), to = Floats(y + uint64_t(at.y) * 4);
    if (item >= pairs) {
        uint i = item + pairs;
        to.at[i] = from.at[i];
        return;
    }
    uint position = uint(Ints(positions).at[row / per_live]);
    vec2 turn = cos_sin_at(angles, item, position) * magnitude;
    uint first = halves ? item : 2 * item, second = halves ? item + pairs : 2 * item + 1;
    float a = from.at[first], b = from.at[second];
    to.at[first] = a * turn.x - b * turn.y;
    to.at[second] = a * turn.y + b * turn.x;
}
