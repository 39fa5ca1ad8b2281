// Attention of a few tokens over a cache, with a running softmax (Milakov, Gimelshein 2018). A
// workgroup takes queries of one token that share a kv head, and one part of the cells that it
// sees. A subgroup takes as many cells at a time as it has invocations: each scores a cell of its
// own, then they divide the values among them, so that all loads of a turn are on their way at
// once. What the subgroups found is put together at the end, and what the parts found by the
// workgroup that is done last. Results are in f32, in int8 blocks or in both.
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
layout(constant_id = 10) const bool plain = true;       // there is a result in f32,
layout(constant_id = 11) const bool in_blocks = false;  // and one in int8 blocks

#include "attend.glsl"
#include "to_int8_blocks.glsl"

// What other workgroups write in the same dispatch.
layout(buffer_reference, std430, buffer_reference_align = 16) coherent buffer Partials { vec4 at[]; };

// Rows have zeros up to whole blocks of every type, results up to those of theirs.
const uint q_vectors = (d + 31) / 32 * 8;
const bool keys_in_32 = key_type == cache_q8_0 || key_type == cache_q4_0;
const bool in_32 = value_type == cache_q8_0 || value_type == cache_q4_0;
const uint key_eights = keys_in_32 ? (d + 31) / 32 * 4 : (d + 7) / 8;
const uint result_vectors = in_32 ? (dv + 31) / 32 * 8 : (dv + 7) / 8 * 2;
const uint subgroups = gl_WorkGroupSize.x / subgroup, copies = subgroup / lanes;
// Loads of an invocation: not more than it has registers for.
const uint loads_at_once = queries > 2 ? 8 : 16;
const uint keys_at_once = key_eights < loads_at_once ? key_eights : loads_at_once;
const uint dv_vectors = (dv + 3) / 4;

shared vec4 q_rows[queries * q_vectors];
shared vec4 results[queries * result_vectors];
shared vec4 addends[subgroups * copies * result_vectors];
shared float shares[gl_WorkGroupSize.x * queries];
shared float largest_of[subgroups * queries], sums_of[subgroups * queries];
shared float largest_of_all[queries], sums_of_all[queries];
shared bool is_last;

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

// A query's results become the sums of so many rows of addends.
void add_up(uint q, uint rows) {
    for (uint i = gl_LocalInvocationIndex; i < result_vectors; i += gl_WorkGroupSize.x) {
        vec4 sum = addends[i];
        for (uint row = 1; row < rows; ++row) sum += addends[row * result_vectors + i];
        results[q * result_vectors + i] = sum;
    }
}

Partials partials_of(uint token, uint head, uint part) {
    return Partials(partial_of(token, head, part, dv));
}

void put_partials(uint token, uint kv_head, uint first_query, uint part) {
    const uint vectors = dv_vectors + 1;
    for (uint i = gl_LocalInvocationIndex; i < queries * vectors; i += gl_WorkGroupSize.x) {
        uint q = i / vectors, vector = i % vectors, query = first_query + q;
        if (query >= attention.q_per_kv) continue;
        partials_of(token, kv_head * attention.q_per_kv + query, part).at[vector] =
            vector == 0 ? vec4(largest_of_all[q], sums_of_all[q], 0, 0)
                        : results[q * result_vectors + vector - 1];
    }
}

// True for the last of so many workgroups that call it with the same number; what they all wrote
// can be read then.
bool done_last(uint number, uint workgroups) {
    memoryBarrierBuffer();
    barrier();
    if (gl_LocalInvocationIndex == 0) {
        memoryBarrierBuffer();
        Words done = Words(attention.done);
        is_last = atomicAdd(done.at[number], 1) == workgroups - 1;
        if (is_last) atomicExchange(done.at[number], 0);
        memoryBarrierBuffer();
    }
    barrier();
    memoryBarrierBuffer();
    return is_last;
}

// Results, largest scores and sums of all parts.
void join_parts(uint token, uint kv_head, uint first_query, uint parts) {
    const uint rows = min(subgroups * copies, max(1, gl_WorkGroupSize.x / result_vectors));
    for (uint q = 0; q < queries; ++q) {
        uint query = min(first_query + q, attention.q_per_kv - 1);
        uint head = kv_head * attention.q_per_kv + query;
        // Of each part the largest score and the sum, then what its results count.
        for (uint part = gl_LocalInvocationIndex; part < parts; part += gl_WorkGroupSize.x) {
            vec4 of_part = partials_of(token, head, part).at[0];
            shares[2 * part] = of_part.x;
            shares[2 * part + 1] = of_part.y;
        }
        barrier();
        float most = nothing, sum = 0;
        for (uint part = 0; part < parts; ++part) most = max(most, shares[2 * part]);
        for (uint part = 0; part < parts; ++part)
            sum += shares[2 * part + 1] * exp(shares[2 * part] - most);
        for (uint i = gl_LocalInvocationIndex; i < rows * result_vectors; i += gl_WorkGroupSize.x) {
            uint row = i / result_vectors, vector = min(i % result_vectors, dv_vectors - 1);
            vec4 sums = vec4(0);
            for (uint part = row; part < parts; part += rows)
                sums += partials_of(token, head, part).at[1 + vector] *
                        exp(shares[2 * part] - most);
            addends[i] = sums;
        }
        barrier();
        add_up(q, rows);
        if (gl_LocalInvocationIndex == 0) {
            largest_of_all[q] = most;
            sums_of_all[q] = sum;
        }
        barrier();
    }
}

void put_results(uint token, uint kv_head, uint first_query) {
    for (uint begin = 0; begin < queries * dv_vectors; begin += gl_WorkGroupSize.x) {
        uint i = begin + gl_LocalInvocationIndex;
        uint q = min(i / dv_vectors, queries - 1), vector = i % dv_vectors, query = first_query + q;
        bool within = i < queries * dv_vectors && query < attention.q_per_kv;
        uint head = kv_head * attention.q_per_kv + query;
        float factor = within ? factor_of(head, largest_of_all[q], sums_of_all[q]) : 0;
        vec4 values = results[q * result_vectors + vector] * factor;
        if (plain && within) {
            Floats to = Floats(row_of_head(attention.y, token, kv_head, query));
            for (uint j = 0; j < 4; ++j)
                if (4 * vector + j < dv) to.at[4 * vector + j] = values[j];
        }
        if (in_blocks) {
            uint heads = attention.kv_heads * attention.q_per_kv;
            put_in_blocks(attention.blocks, (token * heads + head) * dv + 4 * vector, values, within);
        }
    }
}

void main() {
    uint number = group_number(), kv_head = gl_WorkGroupID.y;
    uint part = number % attention.parts, block = number / attention.parts;
    uint first_query = block % attention.q_blocks * queries, token = block / attention.q_blocks;
    // Asked for at once, since every answer takes long; there is room for tokens past the last.
    uint tokens = live_count(attention.count);
    uint own_sequence = sequence_of_token(attention.sequence_of, token);
    int newest = Ints(attention.positions).at[token];
    if (token >= tokens) return;
    uvec4 sequence = Quads(attention.sequences).at[own_sequence];
    load_queries(token, kv_head, first_query);
    barrier();

    uint oldest = attention.window > 0 ? uint(max(0, newest + 1 - int(attention.window))) : 0;
    // Parts are whole turns of a workgroup.
    uint cells = uint(newest) + 1 - oldest, turn = gl_WorkGroupSize.x;
    uint share_of_part = ((cells - 1) / attention.parts / turn + 1) * turn;
    uint begin = oldest + part * share_of_part, end = min(begin + share_of_part, uint(newest) + 1);
    if (parted && begin >= end) return;
    uint head = sequence.x * attention.kv_heads + kv_head;
    const uint key_bytes = cache_row_bytes(key_type, d), value_bytes = cache_row_bytes(value_type, dv);
    uint64_t keys = attention.keys + uint64_t(head) * attention.key_cells * key_bytes;
    uint64_t values = attention.values + uint64_t(head) * attention.value_cells * value_bytes;

    uint lane = gl_SubgroupInvocationID, subset = lane / lanes;
    uint own_shares = gl_SubgroupID * queries * subgroup;
    float largest[queries], own_sums[queries];
    vec4 low[queries], high[queries];
    [[unroll]] for (uint q = 0; q < queries; ++q) {
        largest[q] = nothing;
        own_sums[q] = 0;
        low[q] = high[q] = vec4(0);
    }
    uint own_eight = min(lane % lanes, cache_eights(value_type, dv) - 1);

    for (uint first = begin + gl_SubgroupID * subgroup; first < end; first += turn) {
        bool seen = first + lane < end;
        uint64_t key = keys + uint64_t((seen ? first + lane : begin) % attention.key_cells) * key_bytes;
        float scores[queries];
        [[unroll]] for (uint q = 0; q < queries; ++q) scores[q] = 0;
        for (uint e = 0; e < key_eights; e += keys_at_once)
            [[unroll]] for (uint i = 0; i < keys_at_once; ++i) {
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
            own_sums[q] = own_sums[q] * shrink + share;
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
        float sum = subgroupAdd(own_sums[q]);
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
    [[unroll]] for (uint q = 0; q < queries; ++q) {
        uint row = (gl_SubgroupID * copies + subset) * result_vectors;
        if (own_eight == lane % lanes) {
            addends[row + at.x] = low[q];
            addends[row + at.y] = high[q];
        }
        barrier();
        add_up(q, subgroups * copies);
        barrier();
    }
    uint parts_at_work = parted ? (cells - 1) / share_of_part + 1 : 1;
    if (parts_at_work > 1) {
        put_partials(token, kv_head, first_query, part);
        if (!done_last(block * attention.kv_heads + kv_head, parts_at_work)) return;
        join_parts(token, kv_head, first_query, parts_at_work);
    }
    put_results(token, kv_head, first_query);
}
