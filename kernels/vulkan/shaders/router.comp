// The choice of experts: the best of a row of scores, and their weights. A workgroup takes a row
// and chooses one after the other; its invocations hold the row together.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "runs.glsl"
#include "reduce.glsl"
#include "shares.glsl"
#include "units.glsl"

layout(constant_id = 1) const uint held = 1;    // choices of an invocation
layout(constant_id = 2) const uint used = 1;    // are chosen
layout(constant_id = 3) const uint groups = 1;  // of neighbouring choices
layout(constant_id = 4) const uint unit = 0;    // makes scores: 0: none, 1: softmax, 2: sigmoid
layout(constant_id = 5) const bool biased = false;
layout(constant_id = 6) const bool weighed = false;
layout(constant_id = 7) const bool weights_softmax = false;
layout(constant_id = 8) const bool weights_normalized = false;

layout(push_constant) uniform Parameters {
    uint64_t count, x, bias, ids, weights;
    uint per_live, length;
    uint kept;  // groups that take part, the best
    float factor;
    Runs rows;  // ids and weights lie alike
};

shared uint chosen[used];
shared float weight_of[used];
shared uint worth_of[groups];

float most = 0, sum = 1;  // of the softmax

float score(float value) {
    return unit == 1 ? exp(value - most) / sum : unit == 2 ? sigmoid(value) : value;
}

float preference(Floats row, uint i) {
    return score(row.at[i]) + (biased ? Floats(bias).at[i] : 0);
}

void prepare_softmax(Floats row) {
    float own = minus_infinity;
    for (uint i = gl_LocalInvocationIndex; i < length; i += gl_WorkGroupSize.x)
        own = max(own, row.at[i]);
    most = workgroup_max(own);
    own = 0;
    for (uint i = gl_LocalInvocationIndex; i < length; i += gl_WorkGroupSize.x)
        own += exp(row.at[i] - most);
    sum = workgroup_sum(own);
}

// A number above 0 that orders scores; both zeros are equal. What is no number is above all, so that
// it is not lost.
const uint order_of_nan = ~0u;
uint order(float value) {
    if (is_nan(value)) return order_of_nan;
    uint bits = floatBitsToUint(value);
    if (bits == 0x80000000u) bits = 0;
    return max(1u, (bits >> 31) != 0 ? ~bits : bits | 0x80000000u);
}
const uint order_of_left_out = 0x007fffffu;  // that of minus infinity

// A group is worth the sum of its two best.
void judge_groups(Floats row) {
    uint size = length / groups;
    for (uint group = gl_LocalInvocationIndex; group < groups; group += gl_WorkGroupSize.x) {
        float best = minus_infinity, second = minus_infinity;
        for (uint i = group * size; i < (group + 1) * size; ++i) {
            float value = preference(row, i);
            if (order(value) == order_of_nan) value = -minus_infinity;
            second = max(second, min(best, value));
            best = max(best, value);
        }
        // Of infinities of both signs there is no sum.
        bool alone = size == 1 || best == -minus_infinity;
        worth_of[group] = order(alone ? best : best + second);
    }
    barrier();
}

bool takes_part(uint group) {
    uint better = 0;
    for (uint other = 0; other < groups; ++other)
        if (worth_of[other] > worth_of[group] ||
            (worth_of[other] == worth_of[group] && other < group))
            ++better;
    return better < kept;
}

void choose(Floats row) {
    uint orders[held];  // 0 for what is chosen already
    for (uint j = 0; j < held; ++j) {
        uint i = gl_LocalInvocationIndex + j * gl_WorkGroupSize.x;
        orders[j] = 0;
        if (i < length)
            orders[j] = groups == 1 || takes_part(i / (length / groups))
                            ? order(preference(row, i))
                            : order_of_left_out;
    }
    for (uint choice = 0; choice < used; ++choice) {
        uint best = 0, first = ~0u;
        for (uint j = 0; j < held; ++j) best = max(best, orders[j]);
        best = workgroup_max(best);
        for (uint j = held; j-- > 0;)
            if (orders[j] == best) first = gl_LocalInvocationIndex + j * gl_WorkGroupSize.x;
        first = workgroup_min(first);
        for (uint j = 0; j < held; ++j)
            if (first == gl_LocalInvocationIndex + j * gl_WorkGroupSize.x) orders[j] = 0;
        if (gl_LocalInvocationIndex == 0) chosen[choice] = first;
    }
    barrier();
}

// Every invocation reads only the weights that it wrote.
void weigh(Floats row, Floats to) {
    const uint own = gl_LocalInvocationIndex;
    for (uint i = own; i < used; i += gl_WorkGroupSize.x) weight_of[i] = score(row.at[chosen[i]]);
    if (weights_softmax) {
        float best = minus_infinity, all = 0;
        for (uint i = own; i < used; i += gl_WorkGroupSize.x) best = max(best, weight_of[i]);
        best = workgroup_max(best);
        for (uint i = own; i < used; i += gl_WorkGroupSize.x)
            all += weight_of[i] = exp(weight_of[i] - best);
        all = workgroup_sum(all);
        for (uint i = own; i < used; i += gl_WorkGroupSize.x) weight_of[i] /= all;
    }
    if (weights_normalized) {
        float all = 0;
        for (uint i = own; i < used; i += gl_WorkGroupSize.x) all += weight_of[i];
        all = max(workgroup_sum(all), least_sum);
        for (uint i = own; i < used; i += gl_WorkGroupSize.x) weight_of[i] /= all;
    }
    for (uint i = own; i < used; i += gl_WorkGroupSize.x) to.at[i] = weight_of[i] * factor;
}

void main() {
    uint number = group_number();
    if (number >= live_count(count) * per_live) return;
    uvec2 at = places(rows, number);
    Floats row = Floats(x + uint64_t(at.x) * 4);
    if (unit == 1) prepare_softmax(row);
    if (groups > 1) judge_groups(row);
    choose(row);
    // Where nobody but the weights asks for the ids, they have no place.
    if (ids != 0)
        for (uint i = gl_LocalInvocationIndex; i < used; i += gl_WorkGroupSize.x)
            Words(ids + uint64_t(at.y) * 4).at[i] = chosen[i];
    if (weighed) weigh(row, Floats(weights + uint64_t(at.y) * 4));
}
