// How long an evaluation takes, in llama-perplexity's words.
#pragma once

#include <string>

#include "cli/format.h"

namespace tandem::cli {

// "ETA 2 hours 3.50 minutes"
inline std::string estimated_time(double seconds) {
    const int hours = int(seconds / 3600);
    return "ETA " + (hours > 0 ? format("%d hours ", hours) : "") +
           format("%.2f minutes", (seconds - 3600 * hours) / 60);
}

}  // namespace tandem::cli
