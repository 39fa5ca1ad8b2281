// Attention over a cache (Dao et al. 2022: tiles of keys, a running softmax). A workgroup takes a
// block of queries that share a kv head, and one part of the cells that they see; parts are put
// together by attend_join.comp. Keys and values pass through shared memory, where every query of
// the block finds them.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "step.glsl"
#include "cache.glsl"
#include "units.glsl"

layout(constant_id = 1) const uint key_type = 0;
layout(constant_id = 2) const uint value_type = 0;
layout(constant_id = 3) const uint second_type = 0;
layout(constant_id = 4) const uint d = 64;   // elements of a key,
layout(constant_id = 5) const uint dv = 64;  // of a value,
layout(constant_id = 6) const uint d2 = 0;   // of a key of the second pair; 0: there is none
layout(constant_id = 7) const uint tokens_at_once = 1;
layout(constant_id = 8) const uint q_at_once = 1;  // queries of a token
layout(constant_id = 9) const uint cells_at_once = 32;
layout(constant_id = 10) const uint stride = 17;  // of a row of the tile, in vectors of four
layout(constant_id = 11) const uint subsets = 1;  // of the cells, summed by different invocations
layout(constant_id = 12) const uint slots = 1;    // vectors of results of an invocation
layout(constant_id = 13) const bool parted = false;
layout(constant_id = 14) const bool capped = false;

#include "attend_result.glsl"

const uint queries = tokens_at_once * q_at_once;
const uint d_vectors = (d + 3) / 4, d2_vectors = (d2 + 3) / 4, dv_vectors = (dv + 3) / 4;
const uint q_stride = d_vectors + d2_vectors + 1;
const uint items = queries * dv_vectors;

shared vec4 q_rows[queries * q_stride];
shared vec4 tile[cells_at_once * stride];
shared float scores[queries * cells_at_once];
shared float largest[queries], sums[queries], shrink[queries];
shared bool spoiled;  // a result is not finite

// Of this block.
uint first_token, last_token, kv_head, first_query, part;

uint token_of(uint query) { return first_token + query / q_at_once; }
uint head_query(uint query) { return first_query + query % q_at_once; }
bool is_query(uint query) {
    return token_of(query) < last_token && head_query(query) < attention.q_per_kv;
}

void load_queries(Heads heads, uint length, uint vectors, uint offset) {
    for (uint i = gl_LocalInvocationIndex; i < queries * vectors; i += gl_WorkGroupSize.x) {
        uint query = i / vectors, vector = i % vectors;
        vec4 values = vec4(0);
        if (is_query(query)) {
            Floats from =
                Floats(row_of_head(heads, token_of(query), kv_head, head_query(query)));
            for (uint j = 0; j < 4; ++j)
                if (4 * vector + j < length) values[j] = from.at[4 * vector + j];
        }
        q_rows[query * q_stride + offset + vector] = values;
    }
}

// Cells from `first` on into the tile; zeros from `end` on.
void load_tile(uint type, uint64_t head, uint length, uint cells, uint first, uint end) {
    uint eights = cache_eights(type, length);
    uint row_bytes = cache_row_bytes(type, length);
    for (uint i = gl_LocalInvocationIndex; i < cells_at_once * eights; i += gl_WorkGroupSize.x) {
        uint cell = i / eights, position = first + cell;
        vec4 a = vec4(0), b = vec4(0);
        uint row = position < end ? position % cells : 0;
        uvec2 at = cache_eight(type, head + uint64_t(row) * row_bytes, length, i % eights, a, b) / 4;
        if (position >= end) a = b = vec4(0);
        if (at.x < stride) tile[cell * stride + at.x] = a;
        if (at.y < stride) tile[cell * stride + at.y] = b;
    }
}

// Products of the queries and the tile's keys, into the scores or added to them.
void multiply(uint vectors, uint offset, bool add) {
    for (uint i = gl_LocalInvocationIndex; i < queries * cells_at_once; i += gl_WorkGroupSize.x) {
        uint query = i / cells_at_once * q_stride + offset, cell = i % cells_at_once * stride;
        float sum = add ? scores[i] : 0;
        for (uint j = 0; j < vectors; ++j) sum += dot(q_rows[query + j], tile[cell + j]);
        scores[i] = sum;
    }
}

// Turns scores into shares that are not yet divided by their sum; a subgroup takes a query.
void soften(uint sequence, uint first, uint end) {
    for (uint query = gl_SubgroupID; query < queries; query += gl_NumSubgroups) {
        int position = -1, oldest = 0;
        if (is_query(query) && sequence_of_token(attention.sequence_of, token_of(query)) == sequence) {
            position = Ints(attention.positions).at[token_of(query)];
            if (attention.window > 0) oldest = position + 1 - int(attention.window);
        }
        float most = nothing;
        for (uint cell = gl_SubgroupInvocationID; cell < cells_at_once; cell += gl_SubgroupSize) {
            int at = int(first + cell);
            float score = scores[query * cells_at_once + cell] * attention.scale;
            if (capped) score = attention.cap * tanh_of(score / attention.cap);
            bool seen = at < int(end) && at <= position && at >= oldest;
            score = seen ? score : nothing;
            scores[query * cells_at_once + cell] = score;
            most = max(most, score);
        }
        float before = largest[query];
        most = max(before, subgroupMax(most));
        float sum = 0;
        for (uint cell = gl_SubgroupInvocationID; cell < cells_at_once; cell += gl_SubgroupSize) {
            float score = scores[query * cells_at_once + cell];
            float share = score == nothing ? 0 : exp(score - most);
            scores[query * cells_at_once + cell] = share;
            sum += share;
        }
        sum = subgroupAdd(sum);
        if (subgroupElect()) {
            shrink[query] = exp(before - most);
            sums[query] = sums[query] * shrink[query] + sum;
            largest[query] = most;
        }
    }
}

// An invocation's results, and its part in them.
vec4 results[slots];
uint own, subset;

// `careful`: nothing is added where the share is 0.
void add_values(bool careful) {
    for (uint slot = 0; slot < slots; ++slot) {
        uint item = own + slot * gl_WorkGroupSize.x;
        if (item >= items || subset >= subsets) continue;
        uint query = item / dv_vectors, vector = item % dv_vectors;
        vec4 sum = results[slot] * shrink[query];
        if (careful) {
            for (uint cell = subset; cell < cells_at_once; cell += subsets) {
                float share = scores[query * cells_at_once + cell];
                if (share != 0) sum += share * tile[cell * stride + vector];
            }
        } else {
            for (uint cell = subset; cell < cells_at_once; cell += subsets)
                sum += scores[query * cells_at_once + cell] * tile[cell * stride + vector];
        }
        results[slot] = sum;
    }
}

void meet_cells(bool careful) {
    for (uint query = gl_LocalInvocationIndex; query < queries; query += gl_WorkGroupSize.x) {
        largest[query] = nothing;
        sums[query] = 0;
    }
    for (uint slot = 0; slot < slots; ++slot) results[slot] = vec4(0);

    uint last_sequence = sequence_of_token(attention.sequence_of, last_token - 1);
    for (uint s = sequence_of_token(attention.sequence_of, first_token); s <= last_sequence; ++s) {
        uvec4 sequence = Quads(attention.sequences).at[s];  // slot, first, count, cached
        uint a = max(first_token, sequence.y), b = min(last_token, sequence.y + sequence.z);
        uint newest = uint(Ints(attention.positions).at[b - 1]) + 1, oldest = 0;
        if (attention.window > 0)
            oldest = uint(max(0, Ints(attention.positions).at[a] + 1 - int(attention.window)));
        uint share = (newest - oldest + attention.parts - 1) / attention.parts;
        uint begin = oldest + part * share, end = min(begin + share, newest);
        uint64_t head = uint64_t(sequence.x * attention.kv_heads + kv_head);
        uint64_t second_head = uint64_t(
            sequence.x * attention.second_heads + (attention.second_heads > 1 ? kv_head : 0));
        for (uint first = begin; first < end; first += cells_at_once) {
            load_tile(key_type,
                      attention.keys + head * attention.key_cells * cache_row_bytes(key_type, d), d,
                      attention.key_cells, first, end);
            barrier();
            multiply(d_vectors, 0, false);
            barrier();
            if (d2 > 0) {
                load_tile(second_type,
                          attention.second_keys + second_head * attention.second_cells *
                                                      cache_row_bytes(second_type, d2),
                          d2, attention.second_cells, first, end);
                barrier();
                multiply(d2_vectors, d_vectors, true);
                barrier();
            }
            soften(s, first, end);
            load_tile(value_type,
                      attention.values + head * attention.value_cells * cache_row_bytes(value_type, dv),
                      dv, attention.value_cells, first, end);
            barrier();
            add_values(careful);
            barrier();
        }
    }
    barrier();
    if (subsets > 1) {
        tile[gl_LocalInvocationIndex] = results[0];
        barrier();
        if (subset == 0)
            for (uint i = 1; i < subsets; ++i) results[0] += tile[i * items + own];
    }
}

void put_results() {
    if (gl_LocalInvocationIndex == 0) spoiled = false;
    barrier();
    for (uint slot = 0; slot < slots; ++slot) {
        uint item = own + slot * gl_WorkGroupSize.x;
        if (item >= items || subset > 0) continue;
        uint query = item / dv_vectors, first = item % dv_vectors * 4;
        if (!is_query(query)) continue;
        put_result(token_of(query), kv_head, head_query(query), part, first, results[slot],
                   largest[query], sums[query]);
        if (!is_finite(results[slot])) spoiled = true;
    }
    barrier();
}

void main() {
    uint number = group_number(), tokens = live_count(attention.count);
    part = number % attention.parts;
    uint block = number / attention.parts;
    kv_head = gl_WorkGroupID.y;
    first_query = block % attention.q_blocks * q_at_once;
    first_token = block / attention.q_blocks * tokens_at_once;
    last_token = min(first_token + tokens_at_once, tokens);
    if (first_token >= tokens) return;

    load_queries(attention.q, d, d_vectors, 0);
    if (d2 > 0) load_queries(attention.q2, d2, d2_vectors, d_vectors);
    subset = subsets > 1 ? gl_LocalInvocationIndex / items : 0;
    own = subsets > 1 ? gl_LocalInvocationIndex % items : gl_LocalInvocationIndex;
    // A value that is not finite spoils what does not see it, too: it is multiplied by a share of 0.
    // That hardly ever happens and shows in the results, which a second, careful turn puts right.
    for (uint turn = 0; turn < 2; ++turn) {
        meet_cells(turn > 0);
        put_results();
        if (!spoiled) break;
    }
}
