// Dates as strftime writes them, in English whatever the locale.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

namespace tandem::model::jinja {

// Codes that are not known stay as they are.
std::string date_text(std::string_view format, const std::tm& time);

}  // namespace tandem::model::jinja
