// A synthetic model that is written for as long as it takes to load it, and what tables call a
// model.
#pragma once

#include <cstdint>
#include <string>

#include "gguf/file.h"

namespace tandem::cli {

class Interrupts;

// `what` as for `tandem synth`. The file has lost its name before it is written, so that
// nothing is left whatever happens. Throws Error, also when there is no room or an interrupt comes.
gguf::File open_synthetic(const std::string& what, int64_t layers, const Interrupts& interrupts);

// "llama 8B Q4_K - Medium"
std::string describe_model(const gguf::File& file);

}  // namespace tandem::cli
