// The biases of the chosen experts, weighted and added up. An invocation takes an element.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"

layout(push_constant) uniform Parameters {
    uint64_t count, ids, weights, biases, y;
    uint length, used, ids_stride, weights_stride, y_stride;
};

void main() {
    uint number = invocation_number(), token = number / length, i = number % length;
    if (token >= live_count(count)) return;
    float sum = 0;
    for (uint choice = 0; choice < used; ++choice) {
        uint expert = Words(ids).at[token * ids_stride + choice];
        sum += Floats(weights).at[token * weights_stride + choice] *
               Floats(biases).at[expert * length + i];
    }
    Floats(y).at[token * y_stride + i] = sum;
}
