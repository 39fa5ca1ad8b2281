// The gated delta rule (delta.glsl), one token after the other. A subgroup takes some rows of a
// head's state, which its invocations hold together, through all tokens of a sequence. What a row
// predicts and what it gives are summed at once, since the new row times q is the decayed one times
// q plus the correction times k q.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "step.glsl"
#include "delta.glsl"

layout(constant_id = 8) const uint held = 4;  // elements of a row in an invocation
layout(constant_id = 9) const uint rows_at_once = 1;

float state_rows[rows_at_once][held];

void take_token(uint token, uint head, uint first_row) {
    Floats key = Floats(key_row(token, head)), query = Floats(query_row(token, head));
    Floats value = Floats(value_row(token, head)), decays = Floats(decay_row(token, head));
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
    float strength = strength_of(token, head);
    for (uint r = 0; r < rows_at_once; ++r) {
        uint row = min(first_row + r, rows - 1);
        float correction = strength * (value.at[row] - subgroupAdd(predicted[r]));
        for (uint j = 0; j < held; ++j) state_rows[r][j] += correction * keys[j];
        float result = subgroupAdd(given[r]) + correction * products;
        if (subgroupElect() && first_row + r < rows)
            Floats(result_row(token, head)).at[row] = result;
    }
}

void main() {
    const uint runs = (rows + rows_at_once - 1) / rows_at_once;
    uint number = group_number() * gl_NumSubgroups + gl_SubgroupID;
    uint head = number / runs, first_row = number % runs * rows_at_once;
    if (head >= heads) return;
    for (uint i = gl_WorkGroupID.y; i < live_count(sequence_count); i += gl_NumWorkGroups.y) {
        Sequence sequence = sequence_at(sequences, i);
        if (sequence.count > few) continue;
        for (uint r = 0; r < rows_at_once; ++r) {
            Floats row = Floats(state_row(sequence.slot, head, first_row + r));
            for (uint j = 0; j < held; ++j) {
                uint at = gl_SubgroupInvocationID + j * gl_SubgroupSize;
                bool known = sequence.cached > 0 && at < length && first_row + r < rows;
                state_rows[r][j] = known ? row.at[at] : 0;
            }
        }
        for (uint t = 0; t < sequence.count; ++t)
            take_token(sequence.first + t, head, first_row);
        for (uint r = 0; r < rows_at_once; ++r) {
            Floats row = Floats(state_row(sequence.slot, head, first_row + r));
            for (uint j = 0; j < held; ++j) {
                uint at = gl_SubgroupInvocationID + j * gl_SubgroupSize;
                if (at < length && first_row + r < rows) row.at[at] = state_rows[r][j];
            }
        }
    }
}
