// The weighted sum of the products of a token's choices, in their order.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"

#include "experts_result.glsl"
layout(push_constant) uniform Parameters {
    uint64_t count, ids, weights, scale;
    uint64_t products;  // [choices rows]
    uint ids_stride, weights_stride, used, first_expert, experts, rows;
    ExpertsResult result;
};

#include "experts_sums.glsl"

void main() {
    uint number = invocation_number(), token = number / rows, row = number % rows;
    if (token >= live_count(count)) return;
    float sum = 0;
    for (uint i = 0; i < used; ++i) {
        uint choice = token * used + i, id = id_of(choice);
        if (held(id) >= experts) continue;
        float weight = weight_of(token, i);
        sum += weight * bias_of(id, row);
        if (scale != 0) weight *= Floats(scale).at[id];
        sum += weight * Floats(products).at[choice * rows + row];
    }
    put_sum(token, row, sum);
}
