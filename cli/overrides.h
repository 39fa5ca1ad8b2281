// What -ot, -cmoe and -ncmoe say: weights on devices of their own, past the split mode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.h"
#include "parallel/policy.h"

namespace tandem::cli {

extern const OptionGroup override_options;

struct Overrides {
    std::vector<std::string> tensors;  // "REGEX=DEVICE"; the first that fits counts
    int64_t expert_blocks = 0;         // so many blocks, the first, have experts on the CPU

    std::string option_of_experts() const;  // "-cmoe" or "-ncmoe 4"
    bool operator==(const Overrides&) const = default;
};

// Throws Error for what is no pair.
Overrides overrides_of(const Arguments& arguments);
void require_pair(const std::string& text);

// Adds their homes to the plan. A name, in any case, stands for all devices that have it, and "cpu"
// for all CPU devices; what is not among `devices` is added behind them, for this alone. Where all
// devices are CPUs, experts stay where they are: `notes` says so.
void add_overrides(const Overrides& overrides, std::vector<std::string>& devices,
                   parallel::PlanOptions& plan, std::vector<std::string>& notes);

}  // namespace tandem::cli
