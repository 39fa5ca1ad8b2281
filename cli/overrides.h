// What -ot, -cmoe and -ncmoe say: weights on devices of their own, past the split mode.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "cli/options.h"
#include "parallel/policy.h"

namespace tandem::cli {

extern const OptionGroup override_options;

inline constexpr int64_t all_blocks = std::numeric_limits<int32_t>::max();

struct Overrides {
    std::vector<std::string> tensors;  // "REGEX=DEVICE"; the first that fits counts
    int64_t expert_blocks = 0;         // so many blocks, the first, have experts on the CPU

    bool operator==(const Overrides&) const = default;
};

// Throws Error for what is no pair.
Overrides overrides_of(const Arguments& arguments);
void require_pair(const std::string& text);

// Adds their homes to the plan. A device goes by its name, in any case, and "cpu" stands for all
// CPU devices; one that is not among `devices` is added behind them, for this alone. Experts of
// which all devices are CPUs stay where they are.
void add_overrides(const Overrides& overrides, std::vector<std::string>& devices,
                   parallel::PlanOptions& plan);

}  // namespace tandem::cli
