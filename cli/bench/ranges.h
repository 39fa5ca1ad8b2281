// Lists of numbers as measurements take them: "512", "128,512", "1-4", "64-256+64", "128-1024*2".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::cli {

// Error says that `what` takes such a list of numbers from `least` on.
std::vector<int64_t> to_numbers(std::string_view text, const std::string& what, int64_t least = 0);

}  // namespace tandem::cli
