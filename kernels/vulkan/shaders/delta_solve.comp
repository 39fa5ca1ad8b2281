// What of a chunk of the gated delta rule does not depend on the state (delta_chunk.glsl). A
// workgroup of 128 takes the chunks of a block of tokens, for one head.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "delta.glsl"
#include "delta_chunk.glsl"

// Of each token, some channels at once.
shared vec4 keys[chunk * fours_apart], queries[chunk * fours_apart];
const uint sums_kept = per_channel ? chunk * fours_apart : 1;
shared vec4 sums[sums_kept];       // decays added up
shared float sum_of_token[chunk];  // the same, where they are those of the head
// Tokens that forget all, as bits: of channels, or of the head in the first.
shared uvec4 forgetting[fours];
shared float strengths[chunk];
// How much of delta_j goes into delta_i: [j][i / 4].
shared vec4 among[chunk * fours_apart];

// x of some channels, 0 where a token behind j, up to i, forgets.
vec4 unless_forgotten(vec4 x, uint j, uint i, uint four) {
    const uint between = (2u << i) - (2u << j);
    return mix(x, vec4(0), notEqual(forgetting[four] & between, uvec4(0)));
}

void load_tokens(uint first, uint count, uint head) {
    for (uint i = gl_LocalInvocationIndex; i < chunk; i += gl_WorkGroupSize.x) {
        strengths[i] = i < count ? strength_of(first + i, head) : 0;
        if (per_channel) continue;
        float sum = 0;
        uint bits = 0;
        for (uint j = 0; j <= min(i, count - 1); ++j) {
            vec4 decay = vec4(Floats(decay_row(first + j, head)).at[0]);
            if (forgets(decay).x)
                bits |= 1u << j;
            else
                sum += decay.x;
        }
        sum_of_token[i] = sum;
        if (i == chunk - 1) forgetting[0] = uvec4(bits);
    }
}

void load_channels(uint first, uint count, uint head, uint channel) {
    for (uint i = gl_LocalInvocationIndex; i < chunk * fours; i += gl_WorkGroupSize.x) {
        uint token = i / fours, four = i % fours, to = token * fours_apart + four;
        bool inside = token < count;
        uint at = channel + 4 * four;
        keys[to] = inside ? four_of(key_row(first + token, head), at, length, aligned) : vec4(0);
        queries[to] =
            inside ? four_of(query_row(first + token, head), at, length, aligned) : vec4(0);
    }
    if (!per_channel || gl_LocalInvocationIndex >= fours) return;
    vec4 sum = vec4(0);
    uvec4 bits = uvec4(0);
    for (uint token = 0; token < chunk; ++token) {
        if (token < count) {
            vec4 decay = four_of(decay_row(first + token, head),
                                 channel + 4 * gl_LocalInvocationIndex, length, aligned);
            sum += mix(decay, vec4(0), forgets(decay));
            bits |= uvec4(forgets(decay)) << token;
        }
        sums[token * fours_apart + gl_LocalInvocationIndex] = sum;
    }
    forgetting[gl_LocalInvocationIndex] = bits;
}

// The products of keys and queries with earlier keys. An invocation has tokens i to i + 3 and two
// of the j.
void multiply(uint first, uint count, uint head) {
    const uint i = gl_LocalInvocationIndex / 16 * 4, own = gl_LocalInvocationIndex % 16;
    const uint js[2] = {own, own + 16};
    float of_keys[4][2], of_queries[4][2];
    for (uint a = 0; a < 4; ++a)
        for (uint b = 0; b < 2; ++b) of_keys[a][b] = of_queries[a][b] = 0;
    for (uint channel = 0; channel < length; channel += channels) {
        barrier();
        load_channels(first, count, head, channel);
        barrier();
        for (uint four = 0; four < fours; ++four) {
            const bool some_forget = per_channel && forgetting[four] != uvec4(0);
            for (uint a = 0; a < 4; ++a)
                for (uint b = 0; b < 2; ++b) {
                    uint at = (i + a) * fours_apart + four, from = js[b] * fours_apart + four;
                    vec4 key = keys[from];
                    // Where j > i it may be anything, and is left out below.
                    if (per_channel) key *= exp(sums[at] - sums[from]);
                    if (some_forget) key = unless_forgotten(key, js[b], i + a, four);
                    of_keys[a][b] += dot(keys[at], key);
                    of_queries[a][b] += dot(queries[at], key);
                }
        }
    }
    for (uint b = 0; b < 2; ++b) {
        uint j = js[b];
        vec4 column = vec4(0);
        for (uint a = 0; a < 4; ++a) {
            float decayed = 1;
            if (!per_channel) {
                float power = exp(sum_of_token[i + a] - sum_of_token[j]);
                decayed = unless_forgotten(vec4(power), j, i + a, 0).x;
            }
            if (j < i + a) column[a] = strengths[i + a] * decayed * of_keys[a][b];
            if (i + a < count)
                Floats(solved_reads(first + i + a, head)).at[j] =
                    j <= i + a ? decayed * of_queries[a][b] : 0;
        }
        among[j * fours_apart + i / 4] = column;
    }
    barrier();
}

// One column of w or u: eight tokens at a time, after all before them.
void solve(uint first, uint count, uint head, uint column) {
    const bool of_keys = column < padded;
    const uint apart = of_keys ? heads * solution : y_stride;  // from token to token
    Floats solved = Floats(of_keys ? solved_keys(first, head) + column * 4
                                   : result_row(first, head) + (column - padded) * 4);
    float sum = 0;
    for (uint begin = 0; begin < count; begin += 8) {
        float own[8];
        for (uint r = 0; r < 8; ++r) {
            uint i = begin + r, token = first + i;
            own[r] = 0;
            if (i >= count) continue;
            if (!of_keys) {
                own[r] = strengths[i] * Floats(value_row(token, head)).at[column - padded];
                continue;
            }
            float query = 0;
            if (column < length) {
                sum += fading(vec4(Floats(decay_row(token, head)).at[per_channel ? column : 0])).x;
                query = exp(sum) * Floats(query_row(token, head)).at[column];
                own[r] = strengths[i] * exp(sum) * Floats(key_row(token, head)).at[column];
            }
            Floats(solved_queries(token, head)).at[column] = query;
        }
        for (uint j = 0; j < begin; ++j) {
            float earlier = solved.at[j * apart];
            uint at = j * fours_apart + begin / 4;
            for (uint r = 0; r < 8; ++r) own[r] -= among[at + r / 4][r % 4] * earlier;
        }
        for (uint j = 0; j < 7; ++j) {
            uint at = (begin + j) * fours_apart + begin / 4;
            for (uint r = j + 1; r < 8; ++r) own[r] -= among[at + r / 4][r % 4] * own[j];
        }
        for (uint r = 0; r < 8; ++r)
            if (begin + r < count) solved.at[(begin + r) * apart] = own[r];
    }
}

void main() {
    uint head = gl_WorkGroupID.y, first = group_number() * chunk;
    uint last = min(first + chunk, live_count(count));
    while (first < last) {
        Sequence sequence = sequence_at(sequences, sequence_of_token(sequence_of, first));
        uint end = chunk_end(sequence, first);
        if (sequence.count > few) {
            barrier();
            load_tokens(first, end - first, head);
            multiply(first, end - first, head);
            for (uint column = gl_LocalInvocationIndex; column < padded + rows;
                 column += gl_WorkGroupSize.x)
                solve(first, end - first, head, column);
        }
        first = end;
    }
}
