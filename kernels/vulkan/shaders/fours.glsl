// Rows of activations, four numbers at a time.
#ifndef FOURS_GLSL
#define FOURS_GLSL
#include "memory.glsl"

// `aligned`: the row's address and its length allow whole vectors. Past the end there are zeros.
vec4 four_of(uint64_t row, uint at, uint length, bool aligned) {
    if (aligned) {
        vec4 values = Vectors(row).at[(at < length ? at : 0) >> 2];
        return at < length ? values : vec4(0);
    }
    vec4 values = vec4(0);
    Floats from = Floats(row);
    for (uint i = 0; i < 4; ++i)
        if (at + i < length) values[i] = from.at[at + i];
    return values;
}

void put_four(uint64_t row, uint at, uint length, bool aligned, vec4 values) {
    if (aligned)
        Vectors(row).at[at >> 2] = values;
    else
        for (uint i = 0; i < 4; ++i)
            if (at + i < length) Floats(row).at[at + i] = values[i];
}

#endif
