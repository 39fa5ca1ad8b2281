// Templates rendered in tests, on 15 January 2026.
#pragma once

#include <ctime>
#include <string_view>

#include <nlohmann/json.hpp>

#include "model/jinja/template.h"

namespace tandem::test {

inline std::tm now() {
    return {.tm_sec = 56,
            .tm_min = 34,
            .tm_hour = 12,
            .tm_mday = 15,
            .tm_mon = 0,
            .tm_year = 126,
            .tm_wday = 4,
            .tm_yday = 14};
}

inline model::jinja::Text rendered(
    std::string_view source,
    const nlohmann::ordered_json& variables = nlohmann::ordered_json::object()) {
    return model::jinja::Template(source).render(variables, now());
}

}  // namespace tandem::test
