// Hidden rows of experts, where gate and up were multiplied each by itself.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "step.glsl"
#include "expert_products.glsl"

void main() {
    uint number = invocation_number(), choice = number / rows;
    if (choice >= live_count(count) * used) return;
    uint id = id_of(choice);
    if (held(id) >= experts) return;
    Floats(hidden).at[number] = unit_of_products(id, number);
}
