#include "cli/perplexity/values.h"

#include <cmath>
#include <iostream>

#include "cli/format.h"
#include "gguf/error.h"

namespace tandem::cli {

void Values::add(int64_t window, const Likelihoods& own) {
    total_.sum += own.sum;
    total_.squares += own.squares;
    total_.count += own.count;
    if (!std::isfinite(total_.sum)) throw Error("the model's logits are not all numbers");
    const int first = int(window * distance_);
    if (lines_ && overlapping_)
        std::cout << format("%8d  %.4lf\n", first, total_.perplexity());
    else if (lines_)
        std::cout << format("%8d  %.4lf  %4lf  %4lf\n", first, total_.perplexity(), total_.mean(),
                            total_.error());
    else
        std::cout << format("[%d]%.4lf,", int(window) + 1, total_.perplexity());
    in_line_ = !lines_;
    std::cout << std::flush;
    if (!std::cout) throw Error("cannot write the values to standard output");
}

void Values::finish() {
    end_line();
    if (overlapping_) return;
    if (total_.count < 2)
        throw Error("one prediction has no standard deviation; a longer text has more of them");
    const double error = total_.error();
    if (std::isnan(error)) throw Error("unexpected negative standard deviation of log(prob)");
    std::cout << format("Final estimate: PPL = %.4lf +/- %.5lf\n", total_.perplexity(),
                        total_.perplexity() * error)
              << std::flush;
}

void Values::end_line() {
    if (in_line_) std::cout << "\n" << std::flush;
    in_line_ = false;
}

}  // namespace tandem::cli
