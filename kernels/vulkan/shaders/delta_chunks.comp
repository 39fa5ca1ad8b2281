// The gated delta rule from chunk to chunk (delta_chunk.glsl). A workgroup of 128 has 32 rows of a
// head's state in shared memory and goes through the tokens of a sequence.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "delta.glsl"
#include "delta_chunk.glsl"

const uint rows_at_once = 32;
const uint state_fours = padded / 4 + 1;
shared vec4 state_rows[rows_at_once * state_fours];
// First w and the queries of all tokens, some channels at once; then the corrections [token][row],
// and behind them what the results read of them [token][token].
shared vec4 room[2 * chunk * fours_apart];
const uint deltas_apart = rows_at_once / 4, reads = chunk * deltas_apart;

// Of the state, an invocation keeps eight rows of some channels up to date.
const uint kept_rows = 8;
uint kept_four() { return gl_LocalInvocationIndex % 32; }
uint kept_row() { return gl_LocalInvocationIndex / 32 * kept_rows; }

void load_state(Sequence sequence, uint head, uint first_row) {
    for (uint four = kept_four(); four < padded / 4; four += 32)
        for (uint r = kept_row(); r < kept_row() + kept_rows; ++r) {
            bool known = sequence.cached > 0 && first_row + r < rows && four * 16 < row_bytes;
            uint64_t row = state_row(sequence.slot, head, first_row + r);
            state_rows[r * state_fours + four] = known ? Vectors(row).at[four] : vec4(0);
        }
}

void store_state(Sequence sequence, uint head, uint first_row) {
    for (uint four = kept_four(); four < padded / 4; four += 32)
        for (uint r = kept_row(); r < kept_row() + kept_rows; ++r)
            if (first_row + r < rows && four * 16 < row_bytes)
                Vectors(state_row(sequence.slot, head, first_row + r)).at[four] =
                    state_rows[r * state_fours + four];
}

// S w and S q. An invocation has four rows and two tokens, 16 apart.
const uint products = 4;  // with w of these tokens, then with their queries
uint own_token(uint product) { return gl_LocalInvocationIndex % 16 + product % 2 * 16; }
uint own_row() { return gl_LocalInvocationIndex / 16 * 4; }

void multiply_state(uint first, uint count, uint head, out vec4 sums[products]) {
    for (uint p = 0; p < products; ++p) sums[p] = vec4(0);
    for (uint channel = 0; channel < padded; channel += channels) {
        barrier();
        for (uint i = gl_LocalInvocationIndex; i < 2 * chunk * fours; i += gl_WorkGroupSize.x) {
            uint column = i / fours, token = column % chunk, four = i % fours;
            uint64_t row = column < chunk ? solved_keys(first + token, head)
                                          : solved_queries(first + token, head);
            room[column * fours_apart + four] =
                token < count ? Vectors(row).at[channel / 4 + four] : vec4(0);
        }
        barrier();
        for (uint four = 0; four < fours; ++four) {
            vec4 of_rows[4];
            for (uint r = 0; r < 4; ++r)
                of_rows[r] = state_rows[(own_row() + r) * state_fours + channel / 4 + four];
            for (uint p = 0; p < products; ++p) {
                vec4 other = room[(p / 2 * chunk + own_token(p)) * fours_apart + four];
                for (uint r = 0; r < 4; ++r) sums[p][r] += dot(of_rows[r], other);
            }
        }
    }
    barrier();
}

// u - S w, where u still stands in the place of the result.
void place_corrections(uint first, uint count, uint head, uint first_row, vec4 sums[products]) {
    for (uint p = 0; p < 2; ++p) {
        uint token = own_token(p), row = first_row + own_row();
        vec4 value = vec4(0);
        if (token < count) value = four_of(result_row(first + token, head), row, rows, false);
        room[token * deltas_apart + own_row() / 4] = value - sums[p];
    }
    for (uint i = gl_LocalInvocationIndex; i < chunk * fours; i += gl_WorkGroupSize.x) {
        uint token = i / fours, four = i % fours;
        room[reads + token * fours_apart + four] =
            token < count ? Vectors(solved_reads(first + token, head)).at[four] : vec4(0);
    }
    barrier();
}

// Adds what a token reads of four corrections. Those of later tokens may be not finite, and 0 times
// them would spoil it.
void add_four(uint token, uint four, bool have_later, inout vec4 result) {
    vec4 weights = room[reads + token * fours_apart + four];
    for (uint j = 0; j < 4; ++j) {
        vec4 correction = room[(4 * four + j) * deltas_apart + own_row() / 4];
        if (have_later) correction = 4 * four + j > token ? vec4(0) : correction;
        result += weights[j] * correction;
    }
}

void give_results(uint first, uint count, uint head, uint first_row, vec4 sums[products]) {
    for (uint p = 2; p < products; ++p) {
        uint token = own_token(p), row = first_row + own_row();
        vec4 result = sums[p];
        const uint own_half = p % 2 * (fours / 2);
        for (uint four = 0; four < own_half; ++four) add_four(token, four, false, result);
        for (uint i = 0; i < fours / 2; ++i) add_four(token, own_half + i, true, result);
        Floats to = Floats(result_row(first + token, head));
        for (uint r = 0; r < 4; ++r)
            if (token < count && row + r < rows) to.at[row + r] = result[r];
    }
}

// From the last token to the first, so that the decays after a token add up on the way.
void update_state(uint first, uint count, uint head) {
    for (uint four = kept_four(); four < padded / 4; four += 32) {
        vec4 added[kept_rows], after = vec4(0), decayed = vec4(1);
        for (uint r = 0; r < kept_rows; ++r) added[r] = vec4(0);
        for (uint j = count; j-- > 0;) {
            vec4 key = decayed * four_of(key_row(first + j, head), 4 * four, length, aligned);
            for (uint r = 0; r < kept_rows; ++r)
                added[r] += room[j * deltas_apart + (kept_row() + r) / 4][r % 4] * key;
            uint64_t decays = decay_row(first + j, head);
            if (per_channel) {
                after += fading(four_of(decays, 4 * four, length, aligned));
                decayed = exp(after);
            } else {
                after.x += fading(vec4(Floats(decays).at[0])).x;
                decayed = vec4(exp(after.x));
            }
        }
        for (uint r = 0; r < kept_rows; ++r) {
            uint at = (kept_row() + r) * state_fours + four;
            state_rows[at] = state_rows[at] * decayed + added[r];
        }
    }
}

void main() {
    const uint runs = (rows + rows_at_once - 1) / rows_at_once;
    uint number = group_number(), head = number / runs, first_row = number % runs * rows_at_once;
    if (head >= heads) return;
    for (uint i = gl_WorkGroupID.y; i < live_count(sequence_count); i += gl_NumWorkGroups.y) {
        Sequence sequence = sequence_at(sequences, i);
        if (sequence.count <= few) continue;
        load_state(sequence, head, first_row);
        uint last = sequence.first + sequence.count;
        for (uint first = sequence.first; first < last; first = chunk_end(sequence, first)) {
            uint count = chunk_end(sequence, first) - first;
            vec4 sums[products];
            multiply_state(first, count, head, sums);
            place_corrections(first, count, head, first_row, sums);
            give_results(first, count, head, first_row, sums);
            update_state(first, count, head);
        }
        store_state(sequence, head, first_row);
    }
}
