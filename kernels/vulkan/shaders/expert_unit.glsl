// What becomes of an expert's products of gate and up.
#include "units.glsl"

layout(constant_id = 1) const uint unit = 0;

float expert_unit(uint id, uint row, float of_gate, float of_up) {
    if (gate_scale != 0) of_gate *= Floats(gate_scale).at[id];
    if (up_scale != 0) of_up *= Floats(up_scale).at[id];
    uint number = held(id) * rows + row;
    if (gate_bias != 0) of_gate += Floats(gate_bias).at[number];
    if (up_bias != 0) of_up += Floats(up_bias).at[number];
    return gated_unit(unit, of_gate, of_up);
}
