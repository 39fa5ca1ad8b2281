// The options that say how the next token is chosen.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "gguf/file.h"
#include "model/sampler/options.h"
#include "model/tokenizer/tokenizer.h"

namespace tandem::cli {

extern const OptionGroup sampling_options;

// What the user said, else what the file recommends, else the defaults. `context` is what a window
// of -1 stands for; `notes` gets what cannot be followed. Throws Error where a value makes no
// sense.
model::SamplingOptions read_sampling(const Arguments& arguments, const gguf::File& file,
                                     const model::Tokenizer& tokenizer, int64_t context,
                                     std::vector<std::string>& notes);

// The values in force, in lines as llama-cli writes them.
std::string to_string(const model::SamplingOptions& options);

}  // namespace tandem::cli
