#include "cli/perplexity/score.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tandem::cli {

namespace {

// exp for x <= 0, to a few units in the last place and without a branch, so that the compiler can
// compute several at once: 2^n times a polynomial (Cephes, S. Moshier). What is too small for a
// normal number becomes the least of them.
float exp_of_negative(float x) {
    constexpr float lowest = -87.0f;        // the least with a normal result
    constexpr float log2_e = 1.44269504f;   // 1 / ln 2
    constexpr float rounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
    constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
    const float bounded = x < lowest ? lowest : x;
    const float shifted = bounded * log2_e + rounder;
    const float n = shifted - rounder;
    const float r = (bounded - n * ln2_high) - n * ln2_low;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    const float fraction = (p * r) * r + r + 1.0f;
    const auto exponent = std::bit_cast<uint32_t>(shifted) << 23;  // n * 2^23, modulo 2^32
    return std::bit_cast<float>(std::bit_cast<uint32_t>(fraction) + exponent);
}

}  // namespace

double negative_log_likelihood(std::span<const float> logits, int32_t target) {
    // Side by side, so that the next does not wait for the last.
    constexpr size_t lanes = 16;
    const size_t even = logits.size() / lanes * lanes;
    float largest[lanes];
    std::fill(std::begin(largest), std::end(largest), logits[0]);
    for (size_t i = 0; i < even; i += lanes)
        for (size_t lane = 0; lane < lanes; ++lane) {
            const float next = logits[i + lane], known = largest[lane];
            largest[lane] = next > known ? next : known;
        }
    float most = *std::max_element(std::begin(largest), std::end(largest));
    for (size_t i = even; i < logits.size(); ++i) most = std::max(most, logits[i]);

    // Pieces short enough to stay in the fastest cache: exponentials first, then their sum.
    float powers[64 * lanes];
    double sums[lanes] = {};
    for (size_t first = 0; first < logits.size(); first += std::size(powers)) {
        const size_t count = std::min(std::size(powers), logits.size() - first);
        const float* piece = logits.data() + first;
        for (size_t i = 0; i < count; ++i) powers[i] = exp_of_negative(piece[i] - most);
        std::fill(powers + count, std::end(powers), 0.0f);
        for (size_t i = 0; i < std::size(powers); i += lanes)
            for (size_t lane = 0; lane < lanes; ++lane) sums[lane] += double(powers[i + lane]);
    }
    double sum = 0;
    for (double part : sums) sum += part;
    return -(double(logits[size_t(target)]) - double(most) - std::log(sum));
}

void Likelihoods::add(double value) {
    sum += value;
    squares += value * value;
    ++count;
}

double Likelihoods::perplexity() const { return std::exp(mean()); }

double Likelihoods::error() const {
    const double variance = squares / double(count) - mean() * mean();
    return variance > 0 ? std::sqrt(variance / double(count - 1))
                        : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace tandem::cli
