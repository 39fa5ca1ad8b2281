// How far numbers are from what they should be: the normalised mean square error.
#pragma once

#include <limits>
#include <span>

namespace tandem::test {

// The power of the error over that of the reference; infinite where there are not as many numbers
// or none at all, and no number where one of them is none.
inline double nmse(std::span<const float> x, std::span<const float> reference) {
    if (x.size() != reference.size() || reference.empty())
        return std::numeric_limits<double>::infinity();
    double error = 0, power = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const double off = double(x[i]) - reference[i];
        error += off * off;
        power += double(reference[i]) * reference[i];
    }
    return error == 0 ? 0 : error / power;
}

}  // namespace tandem::test
