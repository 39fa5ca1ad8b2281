// The part of `tandem perplexity` that has a model choose: --hellaswag and relatives.
#pragma once

#include <cstdint>
#include <optional>

#include "cli/driver.h"
#include "cli/options.h"
#include "cli/perplexity/benchmark.h"
#include "model/tokenizer/tokenizer.h"

namespace tandem::cli {

// The benchmark that the options ask for, and none where they ask for none. `notes` says of which
// options nothing comes.
const Benchmark* chosen_benchmark(const Arguments& arguments, std::vector<std::string>& notes);

// Evaluates the tasks of a file, a row on standard output for each. `engine` has the most tokens
// that a text may have, and of a step.
void choose(const Benchmark& benchmark, const Arguments& arguments, const gguf::File& file,
            const model::Tokenizer& tokenizer, EngineOptions engine, Interrupts& interrupts);

}  // namespace tandem::cli
