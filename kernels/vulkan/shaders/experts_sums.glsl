// Weighted sums of a token's choices, and what follows them. The shader's parameters have `result`.
#include "experts.glsl"

float weight_of(uint token, uint i) {
    return Floats(weights).at[token * weights_stride + i];
}

// Of the expert `id`, for a row of the result.
float bias_of(uint id, uint row) {
    return result.biases != 0 ? Floats(result.biases).at[id * rows + row] : 0;
}

void put_sum(uint token, uint row, float sum) {
    uint at = token * result.y_stride + row;
    if (result.addend != 0) sum += Floats(result.addend).at[at];
    Floats(result.y).at[at] = sum;
}
