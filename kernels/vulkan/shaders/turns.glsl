#include "memory.glsl"

// Sine and cosine of an angle in turns, 2^32 of them to one turn: exact however far a position is
// from the start, since whole turns fall away. Polynomials of an eighth of a turn, good to a few
// units in the last place; drivers' own functions need not be.
vec2 cos_sin(uint turns) {
    uint quarter = (turns + 0x20000000u) >> 30;
    float x = float(int(turns - (quarter << 30))) * 1.4629180792671596e-9;  // 2 pi / 2^32
    float z = x * x;
    float sine = x + x * z * (-1.6666654611e-1 + z * (8.3321608736e-3 - z * 1.9515295891e-4));
    float cosine = 1 - 0.5 * z +
                   z * z * (4.166664568298827e-2 + z * (-1.388731625493765e-3 + z * 2.443315711809948e-5));
    switch (quarter) {
        case 0:
            return vec2(cosine, sine);
        case 1:
            return vec2(-sine, cosine);
        case 2:
            return vec2(-cosine, -sine);
        default:
            return vec2(sine, -cosine);
    }
}

// Of a pair at a position; `angles` are 64-bit fractions of a turn, one for each pair, and of what
// they add up to the upper half counts.
vec2 cos_sin_at(uint64_t angles, uint pair, uint position) {
    uint low = Words(angles).at[2 * pair], high = Words(angles).at[2 * pair + 1];
    uint carried, lowest;
    umulExtended(low, position, carried, lowest);
    return cos_sin(high * position + carried);
}
