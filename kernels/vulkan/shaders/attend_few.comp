// Attention of a few tokens over a cache, with a running softmax (Milakov, Gimelshein 2018). A
// workgroup takes queries of one token that share a kv head, and one part of the cells that it
// sees. A subgroup takes as many cells at a time as it has invocations: each scores a cell of its
// own, then they divide the values among them, so that all loads of a turn are on their way at
// once. What the subgroups found is put together at the end, and parts by attend_join.comp.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "step.glsl"
#include "cache.glsl"
#include "units.glsl"

layout(constant_id = 1) const uint key_type = 0;
layout(constant_id = 2) const uint value_type = 0;
layout(constant_id = 3) const uint d = 64;   // elements of a key,
layout(constant_id = 4) const uint dv = 64;  // of a value
layout(constant_id = 5) const uint queries = 1;
layout(constant_id = 6) const uint subgroup = 32;  // its invocations
layout(constant_id = 7) const uint lanes = 8;      // of these share a row of values, by eights
layout(constant_id = 8) const bool parted = false;
layout(constant_id = 9) const bool capped = false;

#include "attend_result.glsl"

// Rows have zeros up to whole blocks of every type.
const uint q_vectors = (d + 31) / 32 * 8, result_vectors = (dv + 31) / 32 * 8;
const uint subgroups = gl_WorkGroupSize.x / subgroup, copies = subgroup / lanes;
const uint loads_at_once = 8;  // of an invocation: not more than it has registers for

shared vec4 q_rows[queries * q_vectors];
shared vec4 results[queries * result_vectors];
shared float shares[gl_WorkGroupSize.x * queries];
shared float largest_of[subgroups * queries], sums_of[subgroups * queries];
shared float largest_of_all[queries], sums_of_all[queries];

void load_queries(uint token, uint kv_head, uint first_query) {
    for (uint i = gl_LocalInvocationIndex; i < queries * q_vectors; i += gl_WorkGroupSize.x) {
        uint query = first_query + i / q_vectors, first = i % q_vectors * 4;
        vec4 values = vec4(0);
        if (query < attention.q_per_kv) {
            Floats from = Floats(row_of_head(attention.q, token, kv_head, query));
            for (uint j = 0; j < 4; ++j)
                if (first + j < d) values[j] = from.at[first + j];
        }
        q_rows[i] = values;
    }
}

void main() {
    uint number = group_number(), kv_head = gl_WorkGroupID.y;
    uint part = number % attention.parts, block = number / attention.parts;
    uint first_query = block % attention.q_blocks * queries, token = block / attention.q_blocks;
    if (token >= live_count(attention.count)) return;
    load_queries(token, kv_head, first_query);
    barrier();

    uvec4 sequence = Quads(attention.sequences).at[Words(attention.sequence_of).at[token]];
    int newest = Ints(attention.positions).at[token];
    uint oldest = attention.window > 0 ? uint(max(0, newest + 1 - int(attention.window))) : 0;
    // Parts are whole turns of a workgroup.
    uint cells = uint(newest) + 1 - oldest, turn = gl_WorkGroupSize.x;
    uint share_of_part = ((cells - 1) / attention.parts / turn + 1) * turn;
    uint begin = oldest + part * share_of_part, end = min(begin + share_of_part, uint(newest) + 1);
    uint head = sequence.x * attention.kv_heads + kv_head;
    const uint key_bytes = cache_row_bytes(key_type, d), value_bytes = cache_row_bytes(value_type, dv);
    uint64_t keys = attention.keys + uint64_t(head) * attention.key_cells * key_bytes;
    uint64_t values = attention.values + uint64_t(head) * attention.value_cells * value_bytes;

    uint lane = gl_SubgroupInvocationID, subset = lane / lanes;
    uint own_shares = gl_SubgroupID * queries * subgroup;
    float largest[queries], sums[queries];
    vec4 low[queries], high[queries];
    [[unroll]] for (uint q = 0; q < queries; ++q) {
        largest[q] = nothing;
        sums[q] = 0;
        low[q] = high[q] = vec4(0);
    }
    const uint key_eights = cache_eights(key_type, d);
    uint own_eight = min(lane % lanes, cache_eights(value_type, dv) - 1);

    for (uint first = begin + gl_SubgroupID * subgroup; first < end; first += turn) {
        bool seen = first + lane < end;
        uint64_t key = keys + uint64_t((seen ? first + lane : begin) % attention.key_cells) * key_bytes;
        float scores[queries];
        [[unroll]] for (uint q = 0; q < queries; ++q) scores[q] = 0;
        for (uint e = 0; e < key_eights; e += loads_at_once)
            [[unroll]] for (uint i = 0; i < loads_at_once; ++i) {
                vec4 a, b;
                uvec2 at = cache_eight(key_type, key, d, min(e + i, key_eights - 1), a, b) / 4;
                if (e + i >= key_eights) a = b = vec4(0);
                [[unroll]] for (uint q = 0; q < queries; ++q)
                    scores[q] +=
                        dot(q_rows[q * q_vectors + at.x], a) + dot(q_rows[q * q_vectors + at.y], b);
            }
        [[unroll]] for (uint q = 0; q < queries; ++q) {
            float score = scores[q] * attention.scale;
            if (capped) score = attention.cap * tanh_of(score / attention.cap);
            float most = max(largest[q], subgroupMax(seen ? score : nothing));
            float share = seen ? exp(score - most) : 0, shrink = exp(largest[q] - most);
            shares[own_shares + q * subgroup + lane] = share;
            largest[q] = most;
            sums[q] = sums[q] * shrink + share;
            low[q] *= shrink;
            high[q] *= shrink;
        }
        subgroupMemoryBarrierShared();
        subgroupBarrier();
        // Past the last cell shares are zero.
        for (uint j = 0; j < lanes; j += loads_at_once)
            [[unroll]] for (uint i = 0; i < (lanes < loads_at_once ? lanes : loads_at_once); ++i) {
                uint cell = (j + i) * copies + subset, at = first + cell < end ? first + cell : begin;
                uint64_t value = values + uint64_t(at % attention.value_cells) * value_bytes;
                vec4 a, b;
                cache_eight(value_type, value, dv, own_eight, a, b);
                [[unroll]] for (uint q = 0; q < queries; ++q) {
                    float share = shares[own_shares + q * subgroup + cell];
                    low[q] += share * a;
                    high[q] += share * b;
                }
            }
        subgroupBarrier();
    }

    for (uint q = 0; q < queries; ++q) {
        float sum = subgroupAdd(sums[q]);
        if (subgroupElect()) {
            largest_of[gl_SubgroupID * queries + q] = largest[q];
            sums_of[gl_SubgroupID * queries + q] = sum;
        }
    }
    barrier();
    [[unroll]] for (uint q = 0; q < queries; ++q) {
        float most = nothing, sum = 0;
        for (uint s = 0; s < subgroups; ++s) most = max(most, largest_of[s * queries + q]);
        for (uint s = 0; s < subgroups; ++s)
            sum += sums_of[s * queries + q] * exp(largest_of[s * queries + q] - most);
        if (gl_LocalInvocationIndex == 0) {
            largest_of_all[q] = most;
            sums_of_all[q] = sum;
        }
        float factor = exp(largest[q] - most);
        low[q] *= factor;
        high[q] *= factor;
    }
    uvec2 at = cache_places(value_type, own_eight) / 4;
    for (uint adder = 0; adder < subgroups * copies; ++adder) {
        if (adder == gl_SubgroupID * copies + subset && own_eight == lane % lanes)
            [[unroll]] for (uint q = 0; q < queries; ++q) {
                uint row = q * result_vectors;
                results[row + at.x] = low[q] + (adder > 0 ? results[row + at.x] : vec4(0));
                results[row + at.y] = high[q] + (adder > 0 ? results[row + at.y] : vec4(0));
            }
        barrier();
    }
    const uint dv_vectors = (dv + 3) / 4;
    for (uint i = gl_LocalInvocationIndex; i < queries * dv_vectors; i += gl_WorkGroupSize.x) {
        uint q = i / dv_vectors, vector = i % dv_vectors;
        if (first_query + q < attention.q_per_kv)
            put_result(token, kv_head, first_query + q, part, vector * 4,
                       results[q * result_vectors + vector], largest_of_all[q], sums_of_all[q]);
    }
}
