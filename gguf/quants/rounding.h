// Floats to codes: rounded in one of three ways and clamped to low..high. What is not a number
// becomes `low`, so that no input is out of an integer's range.
#pragma once

#include <cmath>

namespace tandem::gguf {

inline int truncate(float value, int low, int high) {
    if (!(value > float(low))) return low;
    return value < float(high) ? int(value) : high;
}

// To nearest, halves to even: adding 1.5 * 2^23 leaves no bits for the fraction.
inline int round_to_even(float value, int low, int high) {
    if (!(value > float(low))) return low;
    if (value >= float(high)) return high;
    return int((value + 12582912.0f) - 12582912.0f);
}

// To nearest, halves away from zero.
inline int round_away(float value, int low, int high) {
    const int whole = truncate(value, low, high);
    const float rest = value - float(whole);
    if (rest >= 0.5f && whole < high) return whole + 1;
    return rest <= -0.5f && whole > low ? whole - 1 : whole;
}

// 1 / value; 0 for what has no finite reciprocal, so that such a block encodes as zero.
inline float reciprocal(float value) {
    const float inverse = 1.0f / value;
    return std::isfinite(inverse) ? inverse : 0.0f;
}

}  // namespace tandem::gguf
