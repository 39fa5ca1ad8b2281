// Searches for the scale (and minimum) of a group of values that makes the weighted error of its
// codes small. All arithmetic is binary32 in the order written: the results are part of the
// format's reference and are matched bit for bit.
#pragma once

#include <cstdint>
#include <span>

namespace tandem::gguf {

constexpr float negligible = 1e-15f;  // smaller magnitudes count as zero

// The value of largest magnitude, with its sign; the first of equals.
float extreme(std::span<const float> x);

float sum_of_squares(std::span<const float> x);

// The weights of a group: importance * sqrt(variance + x x), or x x without importance, which is
// also where all of the group's columns have none. `importance` may be null.
void weigh(std::span<const float> x, const float* importance, float variance, float* weights);
bool any_positive(std::span<const float> x);

struct AffineSearch {
    int most;       // codes are 0..most
    float first;    // scales tried: (most + first + step * k) codes over the range, ...
    float step;     // ...
    int steps;      // ... k = 0..steps
    bool absolute;  // weigh magnitudes of errors instead of squares
};
struct AffineFit {
    float scale;
    float minimum;  // x ~ scale * code - minimum; never negative
};
AffineFit fit_affine(std::span<const float> x, const float* weights, const AffineSearch& search,
                     uint8_t* codes);

// x ~ scale * (code - half), codes 0..2 half - 1. Values that are all zero give scale 0 and codes
// 0.
float fit_symmetric(std::span<const float> x, const float* weights, int half, uint8_t* codes);

// The same by coordinate descent.
float descend_symmetric(std::span<const float> x, const float* weights, int half, uint8_t* codes);

// x ~ scale * code for x >= 0, codes 0..most.
float fit_positive(std::span<const float> x, const float* weights, int most, uint8_t* codes);

}  // namespace tandem::gguf
