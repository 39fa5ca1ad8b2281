// What becomes of a query's results: they are divided by the sum of their shares, or, where a cache
// is read in parts, wait for attend_join.comp. The shader has the constants dv and parted.
#include "attend.glsl"

// By their bits, as a driver may take every float for a number.
bool is_finite(vec4 values) {
    return all(lessThan(floatBitsToUint(values) & 0x7fffffffu, uvec4(0x7f800000u)));
}

// Four elements, from `first` on, of the sum of values by shares exp(score - largest), whose own sum
// is `sum`.
void put_result(uint token, uint kv_head, uint query, uint part, uint first, vec4 values,
                float largest, float sum) {
    uint head = kv_head * attention.q_per_kv + query;
    if (parted) {
        Floats to = Floats(partial_of(token, head, part, dv));
        if (first == 0) {
            to.at[0] = largest;
            to.at[1] = sum;
        }
        for (uint j = 0; j < 4; ++j) to.at[4 + first + j] = values[j];
        return;
    }
    float factor = factor_of(head, largest, sum);
    Floats to = Floats(row_of_head(attention.y, token, kv_head, query));
    for (uint j = 0; j < 4; ++j)
        if (first + j < dv) to.at[first + j] = values[j] * factor;
}
