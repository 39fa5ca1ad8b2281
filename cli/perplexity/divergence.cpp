#include "cli/perplexity/divergence.h"

#include <algorithm>
#include <cmath>

#include "cli/format.h"
#include "cli/perplexity/exponential.h"

namespace tandem::cli {

namespace {

// Of sorted values, between two of them in proportion.
double quantile(const std::vector<float>& sorted, double share) {
    const double at = share * double(sorted.size() - 1);
    const auto below = size_t(at);
    const size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - double(below)) * (double(sorted[above]) - sorted[below]);
}

struct Line {
    const char* name;
    double share;
};

// Every line has its value written by print(value).
template <typename Print>
std::string quantiles(std::vector<float> values, std::span<const Line> lines, const Print& print) {
    std::sort(values.begin(), values.end());
    std::string text;
    for (const Line& line : lines) text += line.name + print(quantile(values, line.share));
    return text;
}

// Of what the model says from what the base does. Side by side, so that the compiler can compute
// several at once and none waits for the last.
double divergence_of(std::span<const float> logits, double normalizer, const BasePrediction& base) {
    constexpr float lowest = -16;  // what the file leaves out is as unlikely, or less
    constexpr size_t lanes = 8;
    double sums[lanes] = {};
    const auto add = [&](size_t i, double& sum) {
        const float own = base.log_probability(i);
        const double difference = double(own) - (double(logits[i]) - normalizer);
        // A token that the model excludes may be as far as can be where the base leaves it out.
        sum += own > lowest ? double(exp_of_negative(own)) * difference : 0;
    };
    const size_t even = logits.size() / lanes * lanes;
    for (size_t i = 0; i < even; i += lanes)
        for (size_t lane = 0; lane < lanes; ++lane) add(i + lane, sums[lane]);
    for (size_t i = even; i < logits.size(); ++i) add(i, sums[0]);
    double sum = 0;
    for (double part : sums) sum += part;
    return sum;
}

double root(double square) { return square > 0 ? std::sqrt(square) : 0; }

}  // namespace

Difference compare(std::span<const float> logits, const BasePrediction& base, int32_t target) {
    Difference difference;
    difference.likelihood = negative_log_likelihood(logits, target);
    const double normalizer = difference.likelihood + double(logits[size_t(target)]);
    difference.divergence = divergence_of(logits, normalizer, base);
    const auto top = std::max_element(logits.begin(), logits.end()) - logits.begin();
    const auto base_top = std::max_element(base.codes.begin(), base.codes.end());
    const double base_log = base.log_probability(size_t(target));
    difference.base_likelihood = -base_log;
    difference.change = std::exp(-difference.likelihood) - std::exp(base_log);
    difference.same_top = top == base_top - base.codes.begin();
    return difference;
}

void Divergences::add(const Difference& difference) {
    likelihood_.add(difference.likelihood);
    base_likelihood_.add(difference.base_likelihood);
    products_ += difference.likelihood * difference.base_likelihood;
    divergence_.add(difference.divergence);
    change_.add(difference.change);
    squared_change_.add(difference.change * difference.change);
    same_top_ += difference.same_top;
    divergences_.push_back(float(difference.divergence));
    changes_.push_back(float(difference.change));
}

Divergences::Estimate Divergences::estimate(const Moments& moments) const {
    const double mean = moments.sum / count();
    const double variance = moments.squares / count() - mean * mean;
    return {mean, count() > 1 ? root(variance / (count() - 1)) : 0};
}

double Divergences::covariance() const {
    if (count() < 2) return 0;
    const double means = likelihood_.sum / count() * (base_likelihood_.sum / count());
    return (products_ / count() - means) / (count() - 1);
}

Divergences::Estimate Divergences::perplexity(const Moments& likelihoods) const {
    const Estimate log = estimate(likelihoods);
    return {std::exp(log.value), std::exp(log.value) * log.error};
}

Divergences::Estimate Divergences::log_ratio() const {
    const Estimate own = estimate(likelihood_), base = estimate(base_likelihood_);
    return {own.value - base.value,
            root(own.error * own.error + base.error * base.error - 2 * covariance())};
}

Divergences::Estimate Divergences::root_mean_square_change() const {
    const Estimate square = estimate(squared_change_);
    const double value = root(square.value);
    return {value, value > 0 ? square.error / (2 * value) : 0};
}

Divergences::Estimate Divergences::same_top() const {
    const double share = double(same_top_) / count();
    return {share, count() > 1 ? root(share * (1 - share) / (count() - 1)) : 0};
}

std::string Divergences::heading() {
    return "chunk             PPL               ln(PPL(Q)/PPL(base))          KL Divergence"
           "              \u0394p RMS            Same top p\n";
}

std::string Divergences::row(int64_t window) const {
    const Estimate own = perplexity(likelihood_), ratio = log_ratio(),
                   divergence = estimate(divergence_), change = root_mean_square_change(),
                   top = same_top();
    return format(
               "%4d    %9.4lf \u00b1 %9.4lf    %10.5lf \u00b1 %10.5lf    %10.5lf \u00b1 %10.5lf   "
               " ",
               int(window) + 1, own.value, own.error, ratio.value, ratio.error, divergence.value,
               divergence.error) +
           format("%6.3lf \u00b1 %6.3lf %%    %6.3lf \u00b1 %6.3lf %%\n", 100 * change.value,
                  100 * change.error, 100 * top.value, 100 * top.error);
}

std::string Divergences::summary() const {
    const Estimate own = perplexity(likelihood_), base = perplexity(base_likelihood_),
                   ratio = log_ratio(), divergence = estimate(divergence_),
                   change = estimate(change_), change_size = root_mean_square_change(),
                   top = same_top();
    const double errors = estimate(likelihood_).error * estimate(base_likelihood_).error;
    const double correlation = errors > 0 ? covariance() / errors : 1;
    const double difference = root(own.error * own.error + base.error * base.error -
                                   2 * own.value * base.value * covariance());
    std::string text = "\n====== Perplexity statistics ======\n";
    text +=
        format("Mean PPL(Q)                   : %10.6lf \u00b1 %10.6lf\n", own.value, own.error);
    text +=
        format("Mean PPL(base)                : %10.6lf \u00b1 %10.6lf\n", base.value, base.error);
    text += format("Cor(ln(PPL(Q)), ln(PPL(base))): %6.2lf%%\n", 100 * correlation);
    text += format("Mean ln(PPL(Q)/PPL(base))     : %10.6lf \u00b1 %10.6lf\n", ratio.value,
                   ratio.error);
    text += format("Mean PPL(Q)/PPL(base)         : %10.6lf \u00b1 %10.6lf\n",
                   std::exp(ratio.value), std::exp(ratio.value) * ratio.error);
    text += format("Mean PPL(Q)-PPL(base)         : %10.6lf \u00b1 %10.6lf\n",
                   own.value - base.value, difference);
    constexpr Line of_divergences[] = {{"Maximum", 1},    {"99.9%  ", .999}, {"99.0%  ", .99},
                                       {"95.0%  ", .95},  {"90.0%  ", .9},   {"Median ", .5},
                                       {"10.0%  ", .1},   {" 5.0%  ", .05},  {" 1.0%  ", .01},
                                       {" 0.1%  ", .001}, {"Minimum", 0}};
    text += "\n====== KL divergence statistics ======\n";
    text += format("Mean    KLD: %10.6lf \u00b1 %10.6lf\n", divergence.value, divergence.error);
    text += quantiles(divergences_, of_divergences,
                      [](double value) { return format(" KLD: %10.6lf\n", value); });
    constexpr Line of_changes[] = {
        {"Maximum", 1},   {"99.9%  ", .999}, {"99.0%  ", .99}, {"95.0%  ", .95}, {"90.0%  ", .9},
        {"75.0%  ", .75}, {"Median ", .5},   {"25.0%  ", .25}, {"10.0%  ", .1},  {" 5.0%  ", .05},
        {" 1.0%  ", .01}, {" 0.1%  ", .001}, {"Minimum", 0}};
    text += "\n====== Token probability statistics ======\n";
    text += format("Mean    \u0394p: %6.3lf \u00b1 %5.3lf %%\n", 100 * change.value,
                   100 * change.error);
    text += quantiles(changes_, of_changes,
                      [](double value) { return format(" \u0394p: %6.3lf%%\n", 100 * value); });
    text += format("RMS \u0394p    : %6.3lf \u00b1 %5.3lf %%\n", 100 * change_size.value,
                   100 * change_size.error);
    text += format("Same top p: %6.3lf \u00b1 %5.3lf %%\n", 100 * top.value, 100 * top.error);
    return text;
}

}  // namespace tandem::cli
