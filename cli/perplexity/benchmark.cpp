#include "cli/perplexity/benchmark.h"

#include <algorithm>
#include <cmath>

namespace tandem::cli {

double Tally::error(double share) const {
    return std::sqrt(share * (1 - share) / double(tasks - 1));
}

std::vector<std::string_view> lines_of(std::string_view bytes) {
    std::vector<std::string_view> lines;
    while (!bytes.empty()) {
        std::string_view line = bytes.substr(0, bytes.find('\n'));
        bytes.remove_prefix(std::min(bytes.size(), line.size() + 1));
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.push_back(line);
    }
    return lines;
}

}  // namespace tandem::cli
