// Times a test on a loaded model, by llama-bench's rules.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/bench/row.h"
#include "cli/engine.h"
#include "parallel/work.h"

namespace tandem::cli {

struct MeasurementRules {
    int64_t repetitions = 5;
    bool warmup = true;
    double least_warmup = 0;  // seconds, as often as it takes
};

// A model, the token that begins texts (-1 where none does), and how many tokens of each sequence
// are cached from earlier tests.
struct Subject {
    parallel::Executor& executor;
    int32_t bos = -1;
    int64_t cached = 0;
};

// Appends the nanoseconds of each repetition as it ends, so that they are known if a later one
// throws. Tokens are random. What stands before the test (its depth) is evaluated once, and not at
// all as far as an earlier test has done so: a cell of the cache belongs to a position, so that
// evaluating the same positions again takes the place of what was there. `say` hears of every run.
void measure(Subject& subject, const Case& test, const MeasurementRules& rules,
             const std::function<void(const std::string&)>& say, std::vector<int64_t>& nanoseconds);

// Parts of a test, run once: seconds. The prompt follows the tokens cached before it, generated
// tokens follow the prompt.
double run_prompt(Subject& subject, const Case& test);
double run_generation(Subject& subject, const Case& test);

// Seconds that hardware of these limits needs for products, of which some are of floats.
double seconds_of(double multiply_adds, double float_multiply_adds, const kernels::Limits& limits);
// Seconds that it needs for a test.
Least least_seconds(const parallel::DeviceWork& work, const kernels::Limits& limits,
                    const Case& test);

// The token that a text begins with, by the file's word; -1 where it asks for none.
int32_t first_token(const gguf::Metadata& metadata);

}  // namespace tandem::cli
