// The ends of weighted sums of a token's choices. The shader's parameters have `result`.
#include "experts.glsl"

float weight_of(uint token, uint i) {
    return Floats(weights).at[token * result.weights_stride + i];
}

void put_sum(uint token, uint row, float sum) {
    if (result.biases != 0)
        for (uint i = 0; i < used; ++i)
            sum += weight_of(token, i) *
                   Floats(result.biases).at[id_of(token * used + i) * rows + row];
    uint at = token * result.y_stride + row;
    if (result.addend != 0) sum += Floats(result.addend).at[at];
    Floats(result.y).at[at] = sum;
}
