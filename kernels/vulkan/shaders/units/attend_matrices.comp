// Attention of many tokens over a cache on matrix units (Dao et al. 2022: tiles of keys, a running
// softmax). A workgroup takes a block of queries that share a kv head, token by token, and one part
// of the cells that they see; parts are put together by attend_join.comp. Keys and values pass
// through shared memory. Scores and results are the affair of each subgroup, which has as many
// queries as a fragment has rows. Operands are rounded to f16, sums are f32.
//
// Shares are exp(score - reference), where the reference follows the largest score of a query only
// when it is far behind: results, which lie in fragments, are seldom scaled.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "step.glsl"
#include "cache.glsl"
#include "fours.glsl"
#include "halves.glsl"
#include "units.glsl"

layout(constant_id = 1) const uint key_type = 0;
layout(constant_id = 2) const uint value_type = 0;
layout(constant_id = 3) const uint d = 64;   // elements of a key,
layout(constant_id = 4) const uint dv = 64;  // of a value
layout(constant_id = 5) const uint fragment_rows = 16;
layout(constant_id = 6) const uint fragment_tokens = 16;
layout(constant_id = 7) const uint fragment_depth = 16;
layout(constant_id = 8) const uint cells_at_once = 32;
layout(constant_id = 9) const uint subgroup = 32;       // its invocations
layout(constant_id = 10) const bool aligned = false;  // queries can be read four numbers at a time
layout(constant_id = 11) const bool parted = false;
layout(constant_id = 12) const bool capped = false;

#include "attend_result.glsl"

// Eight numbers are one vector. Another one keeps rows that are read at once in different banks.
const uint key_eights = d / 8, value_eights = dv / 8;
const uint key_stride = key_eights + 1, value_stride = value_eights + 1;
shared uvec4 tile_of_keys[cells_at_once * key_stride];
shared uvec4 tile_of_values[cells_at_once * value_stride];

// Of each subgroup fragment_rows rows of f32 scores, then of f16 shares in their place; and
// whatever else goes from invocations to fragments, or back.
const uint rows_at_once = gl_WorkGroupSize.x / subgroup * fragment_rows;
const uint staged_stride = cells_at_once / 4 + 1;
shared uvec4 staged[rows_at_once * staged_stride];

// A subgroup's fragments. The last of the results has the sums of shares, in all of its columns.
const uint query_fragments = d / fragment_depth, share_fragments = cells_at_once / fragment_depth;
const uint score_fragments = cells_at_once / fragment_tokens;
const uint value_fragments = dv / fragment_tokens, result_fragments = value_fragments + 1;
//     load_query(k, at)     fragment k of queries, from `staged`
//     clear_scores(c)       makes fragment c of the scores zero
//     add_scores(c, k, at)  adds products of fragment k of queries and one of keys, from its tile
//     store_scores(c, at)   to `staged`
//     load_shares(at)       a fragment of shares, from `staged`
//     clear_results(n)      makes fragment n of the results zero
//     add_results(n, at)    adds products of the shares and a fragment of values, from its tile
//     add_shares(n)         adds to every element of a row the shares of the row
//     store_results(n, at)  to `staged`
//     load_results(n, at)   from `staged`
// and, for a loop that has as many turns,
//     turns(count)          the count itself
#include "attend_fragments.glsl"

// For what is staged only: loads of the next tile may stay on their way.
void wait_for_subgroup() {
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared,
                   gl_SemanticsAcquireRelease);
}

// In the softmax an invocation has some of a row's cells, or rows of its own.
const uint sharers = subgroup > fragment_rows ? subgroup / fragment_rows : 1;  // of a row
const uint rows_each = subgroup > fragment_rows ? 1 : fragment_rows / subgroup;
const uint cells_each = cells_at_once / sharers;
shared float most_of[gl_WorkGroupSize.x];

uint row_of(uint r) { return gl_SubgroupInvocationID / sharers + r * subgroup; }
uint share_of_row() { return gl_SubgroupInvocationID % sharers; }
uint first_staged() { return gl_SubgroupID * fragment_rows * staged_stride; }
uint staged_row(uint r) { return first_staged() + row_of(r) * staged_stride; }

// Of exp2: shares lie between 2^usual and 2^most while their reference stays, so that f16 holds
// small ones, too, with all of its bits.
const float usual_exponent = 7, most_exponent = 15;
const float log2_e = 1.4426950408889634;
// The reference where nothing has been seen: `nothing` lies far below.
const float unset = nothing / 16;

// Of the invocation's rows; scores count in powers of two.
float reference[rows_each];
int newest[rows_each], oldest[rows_each];  // positions that it sees
float scale_before, scale_after;  // of the cap

void load_queries(uint first_row, uint last_row, uint kv_head) {
    const uint eights = fragment_depth / 8, of_fragment = fragment_rows * eights;
    const uint each = (of_fragment + subgroup - 1) / subgroup;
    // All loads are on their way at once.
    uvec4 halves[query_fragments * each];
    [[unroll]] for (uint e = 0; e < each; ++e) {
        uint number = min(gl_SubgroupInvocationID + e * subgroup, of_fragment - 1);
        uint row = min(first_row + number / eights, last_row);
        uint64_t query = row_of_head(attention.q, row / attention.q_per_kv, kv_head,
                                     row % attention.q_per_kv);
        [[unroll]] for (uint k = 0; k < turns(query_fragments); ++k) {
            uint at = k * fragment_depth + number % eights * 8;
            halves[k * each + e] =
                halves_of(four_of(query, at, d, aligned), four_of(query, at + 4, d, aligned));
        }
    }
    [[unroll]] for (uint k = 0; k < turns(query_fragments); ++k) {
        [[unroll]] for (uint e = 0; e < each; ++e) {
            uint number = gl_SubgroupInvocationID + e * subgroup;
            if (number < of_fragment)
                staged[first_staged() + number / eights * staged_stride + number % eights] =
                    halves[k * each + e];
        }
        wait_for_subgroup();
        load_query(k, first_staged());
        wait_for_subgroup();
    }
}

// What an invocation brings into a tile. It waits in registers while another tile is multiplied,
// and all of its loads are on their way at once: nothing depends on a branch.
const uint most_eights = key_eights > value_eights ? key_eights : value_eights;
uint loads_of(uint eights) {
    return (cells_at_once * eights + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x;
}
uvec4 next[(cells_at_once * most_eights + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x];

uint own_eight(uint i) { return gl_LocalInvocationIndex + i * gl_WorkGroupSize.x; }

// Cells from `first` on, of which `last` stands for all after it; `ring` is how many the cache has.
void fetch(uint type, uint64_t head, uint length, uint ring, uint first, uint last) {
    const uint eights = length / 8;
    first = min(first, last);
    // In every type of cache eight elements that are decoded together stand together.
    uint turn = first < ring ? 0 : first / ring * ring;
    [[unroll]] for (uint i = 0; i < turns(loads_of(eights)); ++i) {
        uint row = min(first + own_eight(i) / eights, last) - turn;
        row -= row < ring ? 0 : ring;
        uint64_t at = head + uint64_t(row) * cache_row_bytes(type, length);
        if (type == cache_f16) {
            next[i] = Quads(at).at[own_eight(i) % eights];
        } else {
            vec4 a, b;
            cache_eight(type, at, length, own_eight(i) % eights, a, b);
            next[i] = halves_of(a, b);
        }
    }
}

void fill_keys() {
    [[unroll]] for (uint i = 0; i < turns(loads_of(key_eights)); ++i)
        if (own_eight(i) < cells_at_once * key_eights)
            tile_of_keys[own_eight(i) / key_eights * key_stride + own_eight(i) % key_eights] =
                next[i];
}

#include "attend_spoiled.glsl"

void fill_values() {
    [[unroll]] for (uint i = 0; i < turns(loads_of(value_eights)); ++i)
        if (own_eight(i) < cells_at_once * value_eights)
            tile_of_values[own_eight(i) / value_eights * value_stride +
                           own_eight(i) % value_eights] = next[i];
}

// Products of the queries and the tile's keys, to `staged`.
void multiply_keys() {
    [[unroll]] for (uint c = 0; c < turns(score_fragments); ++c) clear_scores(c);
    [[unroll]] for (uint k = 0; k < turns(query_fragments); ++k)
        [[unroll]] for (uint c = 0; c < turns(score_fragments); ++c)
            add_scores(c, k, c * fragment_tokens * key_stride + k * fragment_depth / 8);
    [[unroll]] for (uint c = 0; c < turns(score_fragments); ++c)
        store_scores(c, first_staged() + c * fragment_tokens / 4);
    wait_for_subgroup();
}

void multiply_values() {
    [[unroll]] for (uint c = 0; c < turns(share_fragments); ++c) {
        load_shares(first_staged() + c * fragment_depth / 8);
        [[unroll]] for (uint n = 0; n < turns(value_fragments); ++n)
            add_results(n, c * fragment_depth * value_stride + n * fragment_tokens / 8);
        add_shares(value_fragments);
    }
}

void scale_results(float factors[rows_each]) {
    const uint vectors = fragment_tokens / 4;
    [[unroll]] for (uint n = 0; n < turns(result_fragments); ++n) {
        store_results(n, first_staged());
        wait_for_subgroup();
        [[unroll]] for (uint r = 0; r < rows_each; ++r)
            for (uint v = share_of_row(); v < vectors; v += sharers)
                staged[staged_row(r) + v] = floatBitsToUint(
                    uintBitsToFloat(staged[staged_row(r) + v]) * factors[r]);
        wait_for_subgroup();
        load_results(n, first_staged());
        wait_for_subgroup();
    }
}

// Turns the staged scores of cells from `first` on into shares; `partly`: a row does not see all.
void soften(int first, bool partly, bool careful) {
    vec4 scores[rows_each * cells_each / 4];
    float most[rows_each], factors[rows_each];
    first += int(share_of_row() * cells_each);
    [[unroll]] for (uint r = 0; r < rows_each; ++r) {
        uint at = staged_row(r) + share_of_row() * cells_each / 4, own = r * cells_each / 4;
        [[unroll]] for (uint i = 0; i < turns(cells_each / 4); ++i) {
            vec4 score = uintBitsToFloat(staged[at + i]) * scale_before;
            if (capped)
                score = scale_after * vec4(tanh_of(score.x), tanh_of(score.y), tanh_of(score.z),
                                           tanh_of(score.w));
            scores[own + i] = score;
        }
        if (partly)
            [[unroll]] for (uint i = 0; i < turns(cells_each / 4); ++i) {
                ivec4 cell = first + int(i) * 4 + ivec4(0, 1, 2, 3);
                bvec4 early = lessThan(cell, ivec4(oldest[r]));
                bvec4 late = greaterThan(cell, ivec4(newest[r]));
                scores[own + i] = mix(scores[own + i], vec4(nothing), early);
                scores[own + i] = mix(scores[own + i], vec4(nothing), late);
            }
        vec4 mosts = scores[own];
        [[unroll]] for (uint i = 1; i < turns(cells_each / 4); ++i)
            mosts = max(mosts, scores[own + i]);
        most[r] = max(max(mosts.x, mosts.y), max(mosts.z, mosts.w));
    }
    uint row = gl_SubgroupID * subgroup + gl_SubgroupInvocationID / sharers * sharers;
    if (sharers > 1) most_of[row + share_of_row()] = most[0];
    wait_for_subgroup();  // all scores are read
    if (sharers > 1)
        [[unroll]] for (uint i = 0; i < sharers; ++i) most[0] = max(most[0], most_of[row + i]);

    // References of rows that have results move only where the subgroup scales these: by one word
    // of all its invocations, not by a bool, which && and subgroupOr() may give them differently
    // (NVIDIA 580.159, heads of 256).
    float farthest = 0;
    [[unroll]] for (uint r = 0; r < rows_each; ++r)
        farthest = max(farthest, mix(0.0, most[r] - reference[r], reference[r] > unset));
    uint scales = uint(careful) | uint(subgroupMax(farthest) > most_exponent);
    [[unroll]] for (uint r = 0; r < rows_each; ++r) {
        bool far = most[r] > reference[r] + most_exponent;
        bool moves = bool(uint(far) & (scales | uint(reference[r] <= unset)));
        float moved = mix(reference[r], most[r] - usual_exponent, moves);
        factors[r] = mix(1.0, exp2(reference[r] - moved), moves);
        reference[r] = moved;
    }
    if (scales != 0) scale_results(factors);
    [[unroll]] for (uint r = 0; r < rows_each; ++r) {
        uint at = staged_row(r) + share_of_row() * cells_each / 8, own = r * cells_each / 4;
        [[unroll]] for (uint i = 0; i < turns(cells_each / 8); ++i) {
            vec4 a = exp2(scores[own + 2 * i] - reference[r]);
            vec4 b = exp2(scores[own + 2 * i + 1] - reference[r]);
            staged[at + i] = uvec4(packHalf2x16(a.xy), packHalf2x16(a.zw), packHalf2x16(b.xy),
                                   packHalf2x16(b.zw));
        }
    }
}

// What the subgroup's queries see of the cells from `first` on, in bits: one sees some, or not all.
const uint sees_some = 1, sees_partly = 2;
uint view_of(int first) {
    int last = first + int(cells_at_once) - 1;
    uint view = 0;
    [[unroll]] for (uint r = 0; r < rows_each; ++r) {
        view |= sees_some * (uint(first <= newest[r]) & uint(last >= oldest[r]));
        view |= sees_partly * (uint(first < oldest[r]) | uint(last > newest[r]));
    }
    return subgroupOr(view);
}

// Of this block.
uint first_row, last_row, first_of_subgroup, kv_head, part;
uint sequences[rows_each];
int positions[rows_each];

void meet_cells(bool careful) {
    uint first_token = first_row / attention.q_per_kv, last_token = last_row / attention.q_per_kv;
    uint window = attention.window;
    [[unroll]] for (uint r = 0; r < rows_each; ++r) reference[r] = unset;
    [[unroll]] for (uint n = 0; n < turns(result_fragments); ++n) clear_results(n);
    const uint key_bytes = cache_row_bytes(key_type, d);
    const uint value_bytes = cache_row_bytes(value_type, dv);
    uint key_cells = attention.key_cells, value_cells = attention.value_cells;
    uint last_sequence = sequence_of_token(attention.sequence_of, last_token);
    for (uint s = sequence_of_token(attention.sequence_of, first_token); s <= last_sequence; ++s) {
        uvec4 sequence = Quads(attention.sequences).at[s];  // slot, first, count, cached
        uint a = max(first_token, sequence.y), b = min(last_token, sequence.y + sequence.z - 1);
        uint end = uint(Ints(attention.positions).at[b]) + 1, begin = 0;
        if (window > 0) begin = uint(max(0, Ints(attention.positions).at[a] + 1 - int(window)));
        // Parts are whole tiles.
        uint tiles = (end - begin - 1) / cells_at_once + 1;
        uint share = ((tiles - 1) / attention.parts + 1) * cells_at_once;
        begin += part * share;
        end = min(begin + share, end);
        uint64_t head = uint64_t(sequence.x * attention.kv_heads + kv_head);
        uint64_t keys = attention.keys + head * key_cells * key_bytes;
        uint64_t values = attention.values + head * value_cells * value_bytes;
        [[unroll]] for (uint r = 0; r < rows_each; ++r)
            newest[r] = sequences[r] == s ? positions[r] : -1;
        if (begin >= end) continue;
        fetch(key_type, keys, d, key_cells, begin, end - 1);
        fill_keys();
        barrier();
        for (uint first = begin; first < end; first += cells_at_once) {
            uint view = view_of(int(first));
            bool seen = (view & sees_some) != 0;
            fetch(value_type, values, dv, value_cells, first, end - 1);
            if (careful) keep_finite();
            if (seen) {
                multiply_keys();
                soften(int(first), (view & sees_partly) != 0, careful);
            }
            fill_values();
            barrier();
            if (careful) spoil_rows(int(first));
            fetch(key_type, keys, d, key_cells, first + cells_at_once, end - 1);
            if (seen) multiply_values();
            fill_keys();
            barrier();
        }
    }
}

void put_results() {
    float sums[rows_each];
    store_results(value_fragments, first_staged());
    wait_for_subgroup();
    [[unroll]] for (uint r = 0; r < rows_each; ++r)
        sums[r] = uintBitsToFloat(staged[staged_row(r)].x);
    wait_for_subgroup();
    [[unroll]] for (uint n = 0; n < turns(value_fragments); ++n) {
        store_results(n, first_staged());
        wait_for_subgroup();
        [[unroll]] for (uint r = 0; r < rows_each; ++r) {
            uint row = first_of_subgroup + row_of(r);
            if (row > last_row || (spoiled_rows >> r & 1) != 0) continue;
            for (uint v = share_of_row(); v < fragment_tokens / 4; v += sharers) {
                vec4 values = uintBitsToFloat(staged[staged_row(r) + v]);
                put_result(row / attention.q_per_kv, kv_head, row % attention.q_per_kv, part,
                           n * fragment_tokens + v * 4, values, reference[r] / log2_e, sums[r]);
                if (!is_finite(values)) spoiled = true;
            }
        }
        wait_for_subgroup();
    }
}

void main() {
    uint q_per_kv = attention.q_per_kv;
    uint number = group_number(), rows = live_count(attention.count) * q_per_kv;
    uint blocks = (rows + rows_at_once - 1) / rows_at_once;
    if (number >= blocks * attention.parts) return;
    kv_head = gl_WorkGroupID.y;
    part = number % attention.parts;
    // The last, which see most cells, come first, so that none of them is waited for at the end.
    first_row = (blocks - 1 - number / attention.parts) * rows_at_once;
    last_row = min(first_row + rows_at_once, rows) - 1;
    scale_before = attention.scale * log2_e;
    if (capped) {
        scale_before = attention.scale / attention.cap;
        scale_after = attention.cap * log2_e;
    }

    first_of_subgroup = first_row + gl_SubgroupID * fragment_rows;
    [[unroll]] for (uint r = 0; r < rows_each; ++r) {
        uint row = first_of_subgroup + row_of(r), token = min(row, last_row) / q_per_kv;
        sequences[r] = sequence_of_token(attention.sequence_of, token);
        positions[r] = row <= last_row ? Ints(attention.positions).at[token] : -1;
        oldest[r] = attention.window > 0 ? max(0, positions[r] + 1 - int(attention.window)) : 0;
    }
    load_queries(first_of_subgroup, last_row, kv_head);
    if (gl_LocalInvocationIndex == 0) {
        spoiled = false;
        spoiled_cells = 0;
    }
    barrier();
    // A value that is not finite spoils what does not see it, too: it is multiplied by a share of 0.
    // That hardly ever happens and shows in the results, which a second, careful turn puts right.
    for (uint turn = 0; turn < 2; ++turn) {
        meet_cells(turn > 0);
        put_results();
        barrier();
        if (!spoiled) break;
    }
}
