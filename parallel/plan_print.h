// A plan's report as text, in stable order, and as JSON with the same content.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "parallel/plan_report.h"

namespace tandem::parallel {

std::string to_string(const PlanReport& report);
nlohmann::ordered_json to_json(const PlanReport& report);

// "388.2 MiB", "16 KiB", "0"
std::string in_bytes(double bytes);

}  // namespace tandem::parallel
