// Measurements against the depth of the context: a chart of generation and one of prompts, a line
// for each model, set of devices and so on.
#pragma once

#include <vector>

#include "cli/bench/chart.h"
#include "cli/bench/row.h"

namespace tandem::cli {

std::vector<Chart> make_charts(const std::vector<Row>& rows);

}  // namespace tandem::cli
