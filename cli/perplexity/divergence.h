// How far the predictions of a model are from those of another, by llama-perplexity's rules and in
// its words (--kl-divergence).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/perplexity/base_file.h"
#include "cli/perplexity/score.h"

namespace tandem::cli {

// Of one prediction.
struct Difference {
    double likelihood = 0, base_likelihood = 0;  // negative logarithms, of the token that follows
    double divergence = 0;                       // Kullback-Leibler, of ours from the base's; nats
    double change = 0;                           // of the probability of the token that follows
    bool same_top = false;                       // the likeliest token is the same
};
Difference compare(std::span<const float> logits, const BasePrediction& base, int32_t target);

class Divergences {
  public:
    void add(const Difference& difference);

    static std::string heading();
    std::string row(int64_t window) const;  // of the table, up to here
    std::string summary() const;

  private:
    // A mean and how uncertain it is.
    struct Estimate {
        double value = 0, error = 0;
    };
    struct Moments {
        double sum = 0, squares = 0;
        void add(double value) { sum += value, squares += value * value; }
    };

    double count() const { return double(divergences_.size()); }
    Estimate estimate(const Moments& moments) const;
    double covariance() const;  // of the means of both likelihoods
    Estimate perplexity(const Moments& likelihoods) const;
    Estimate log_ratio() const;
    Estimate root_mean_square_change() const;
    Estimate same_top() const;

    Moments likelihood_, base_likelihood_, divergence_, change_, squared_change_;
    double products_ = 0;  // of both likelihoods
    int64_t same_top_ = 0;
    std::vector<float> divergences_, changes_;
};

}  // namespace tandem::cli
