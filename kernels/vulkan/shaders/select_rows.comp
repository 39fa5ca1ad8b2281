// Some rows of x, by number.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"

layout(push_constant) uniform Parameters {
    uint64_t count, x, numbers, y;
    uint length, x_stride, y_stride;
};

void main() {
    uint number = invocation_number(), row = number / length, i = number % length;
    if (row >= live_count(count)) return;
    uint from = uint(Ints(numbers).at[row]);
    Floats(y).at[row * y_stride + i] = Floats(x).at[from * x_stride + i];
}
