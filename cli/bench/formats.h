// Tables of measurements as text, row by row: md (llama-bench's table), csv, json, jsonl.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cli/bench/cases.h"
#include "cli/bench/row.h"

namespace tandem::cli {

struct Format {
    std::string_view name;
    // What stands in front of the first row, instead of a row (the `first` one or another), and
    // behind the last of all `rows`.
    std::string (*head)(const Columns& columns);
    std::string (*row)(const Row& row, const Columns& columns, bool first);
    std::string (*foot)(std::string_view build, std::span<const Row> rows);
};

// Throws Error naming those that exist.
const Format& find_format(std::string_view name);

}  // namespace tandem::cli
