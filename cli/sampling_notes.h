// Options of sampling that were given and change nothing.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "model/sampler/options.h"

namespace tandem::cli {

// Adds a note on those that stand for something, but not with the samplers of `options`.
void add_sampling_notes(const Arguments& arguments, const model::SamplingOptions& options,
                        std::vector<std::string>& notes);

}  // namespace tandem::cli
