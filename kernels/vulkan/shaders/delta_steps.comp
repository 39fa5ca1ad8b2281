// The gated delta rule, one token after the other: per head, with the state S of the sequence,
//     S   <- S * exp(decay)
//     S   <- S + beta (v - S k) k^T
//     out  = S q
// A subgroup takes some rows of S of one head, which its invocations hold together, through all
// tokens of a sequence. What a row predicts and what it gives are summed at once, since the new
// row times q is the decayed one times q plus the correction times k q.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "step.glsl"
#include "sequences.glsl"

layout(constant_id = 1) const uint length = 128;  // of a row, as of q and k
layout(constant_id = 2) const uint held = 4;      // elements of a row in an invocation
layout(constant_id = 3) const uint rows_at_once = 1;
layout(constant_id = 4) const uint heads = 1;
layout(constant_id = 5) const uint rows = 128;  // of a head, as elements of v
layout(constant_id = 6) const uint key_heads = 1;
layout(constant_id = 7) const uint heads_apart = 1;  // from one key head to the next
layout(constant_id = 8) const bool per_channel = false;

layout(push_constant) uniform Parameters {
    uint64_t sequence_count, sequences, q, k, v, decay, beta, state, y;
    uint q_stride, k_stride, v_stride, decay_stride, beta_stride, y_stride;  // of tokens
    uint row_bytes;
};

float state_rows[rows_at_once][held];

void take_token(uint token, uint head, uint first_row) {
    uint key_head = head / heads_apart % key_heads;
    Floats key = Floats(k + uint64_t(token * k_stride + key_head * length) * 4);
    Floats query = Floats(q + uint64_t(token * q_stride + key_head * length) * 4);
    Floats value = Floats(v + uint64_t(token * v_stride + head * rows) * 4);
    Floats decays =
        Floats(decay + uint64_t(token * decay_stride + head * (per_channel ? length : 1)) * 4);
    float decayed = per_channel ? 1 : exp(decays.at[0]);
    float keys[held], products = 0;
    float predicted[rows_at_once], given[rows_at_once];
    for (uint r = 0; r < rows_at_once; ++r) predicted[r] = given[r] = 0;
    for (uint j = 0; j < held; ++j) {
        uint i = gl_SubgroupInvocationID + j * gl_SubgroupSize;
        bool inside = i < length;
        keys[j] = inside ? key.at[i] : 0;
        float query_here = inside ? query.at[i] : 0;
        float factor = per_channel && inside ? exp(decays.at[i]) : decayed;
        products += keys[j] * query_here;
        for (uint r = 0; r < rows_at_once; ++r) {
            state_rows[r][j] *= factor;
            predicted[r] += state_rows[r][j] * keys[j];
            given[r] += state_rows[r][j] * query_here;
        }
    }
    products = subgroupAdd(products);
    float strength = Floats(beta).at[token * beta_stride + head];
    for (uint r = 0; r < rows_at_once; ++r) {
        uint row = min(first_row + r, rows - 1);
        float correction = strength * (value.at[row] - subgroupAdd(predicted[r]));
        for (uint j = 0; j < held; ++j) state_rows[r][j] += correction * keys[j];
        float result = subgroupAdd(given[r]) + correction * products;
        if (subgroupElect() && first_row + r < rows)
            Floats(y + uint64_t(token * y_stride + head * rows) * 4).at[row] = result;
    }
}

void main() {
    const uint runs = (rows + rows_at_once - 1) / rows_at_once;
    uint number = group_number() * gl_NumSubgroups + gl_SubgroupID;
    uint head = number / runs, first_row = number % runs * rows_at_once;
    if (head >= heads) return;
    for (uint i = gl_WorkGroupID.y; i < live_count(sequence_count); i += gl_NumWorkGroups.y) {
        Sequence sequence = sequence_at(sequences, i);
        uint64_t row_at =
            state + uint64_t((sequence.slot * heads + head) * rows + first_row) * row_bytes;
        for (uint r = 0; r < rows_at_once; ++r) {
            Floats row = Floats(row_at + r * row_bytes);
            for (uint j = 0; j < held; ++j) {
                uint at = gl_SubgroupInvocationID + j * gl_SubgroupSize;
                bool known = sequence.cached > 0 && at < length && first_row + r < rows;
                state_rows[r][j] = known ? row.at[at] : 0;
            }
        }
        for (uint t = 0; t < sequence.count; ++t)
            take_token(sequence.first + t, head, first_row);
        for (uint r = 0; r < rows_at_once; ++r) {
            Floats row = Floats(row_at + r * row_bytes);
            for (uint j = 0; j < held; ++j) {
                uint at = gl_SubgroupInvocationID + j * gl_SubgroupSize;
                if (at < length && first_row + r < rows) row.at[at] = state_rows[r][j];
            }
        }
    }
}
