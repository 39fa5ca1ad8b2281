// How unlikely a model finds a text: negative log-likelihoods and what is made of them.
#pragma once

#include <cstdint>
#include <span>

namespace tandem::cli {

// -ln of the probability that the softmax of the logits gives to the target.
double negative_log_likelihood(std::span<const float> logits, int32_t target);

struct Likelihoods {
    double sum = 0, squares = 0;
    int64_t count = 0;

    void add(double negative_log_likelihood);
    double mean() const { return sum / double(count); }
    double perplexity() const;  // exp(mean)
    // Standard error of the mean; not a number where the variance is not positive.
    double error() const;
};

}  // namespace tandem::cli
