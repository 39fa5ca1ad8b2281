#include "cli/perplexity/score.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/perplexity/exponential.h"

namespace tandem::cli {

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
