// Choices in the order of their experts, token by token within an expert, and the tiles in which
// they are multiplied: a counting sort by one workgroup. Only experts held here count.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"

layout(constant_id = 1) const uint words = 4;  // of 32 invocations each, that the workgroup has
layout(constant_id = 2) const uint experts = 1;
layout(constant_id = 3) const uint tile_tokens = 64;

layout(push_constant) uniform Parameters {
    uint64_t count, ids;
    uint64_t sorted;  // numbers of choices
    uint64_t tiles;   // how many there are; from 16 bytes on, of each: expert, first of the sorted
                      // choices, how many
    uint ids_stride, used, first_expert;
};

#include "experts.glsl"

shared uint counts[experts];
shared uint next[experts];            // where an expert's next choice goes
shared uint takers[experts * words];  // bits: which invocations have a choice of the expert

// The slots and tiles of all experts before this one.
uvec2 before(uint expert) {
    uvec2 sums = uvec2(0);
    for (uint i = 0; i < expert; ++i)
        sums += uvec2(counts[i], (counts[i] + tile_tokens - 1) / tile_tokens);
    return sums;
}

void main() {
    const uint self = gl_LocalInvocationIndex, invocations = 32 * words;
    uint choices = live_count(count) * used;
    for (uint i = self; i < experts; i += invocations) counts[i] = 0;
    for (uint i = self; i < experts * words; i += invocations) takers[i] = 0;
    barrier();
    for (uint i = self; i < choices; i += invocations) {
        uint expert = held(id_of(i));
        if (expert < experts) atomicAdd(counts[expert], 1);
    }
    barrier();
    for (uint expert = self; expert < experts; expert += invocations) {
        uvec2 at = before(expert);
        next[expert] = at.x;
        for (uint i = 0; i < counts[expert]; i += tile_tokens)
            Quads(tiles).at[++at.y] =
                uvec4(expert, at.x + i, min(tile_tokens, counts[expert] - i), 0);
        if (expert == experts - 1) Words(tiles).at[0] = at.y;
    }
    for (uint first = 0; first < choices; first += invocations) {
        uint choice = first + self, expert = experts, earlier = 0, all = 0;
        if (choice < choices) expert = held(id_of(choice));
        barrier();
        if (expert < experts) atomicOr(takers[expert * words + self / 32], 1u << self % 32);
        barrier();
        if (expert < experts) {
            for (uint i = 0; i < words; ++i) {
                uint bits = takers[expert * words + i];
                all += bitCount(bits);
                if (i < self / 32) earlier += bitCount(bits);
                if (i == self / 32) earlier += bitCount(bits & ((1u << self % 32) - 1));
            }
            Words(sorted).at[next[expert] + earlier] = choice;
        }
        barrier();
        if (expert < experts && earlier == 0) {
            next[expert] += all;
            for (uint i = 0; i < words; ++i) takers[expert * words + i] = 0;
        }
    }
}
