// Text as printf writes it, however long it gets, and numbers with units.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

namespace tandem::cli {

[[gnu::format(printf, 1, 2)]] inline std::string format(const char* pattern, ...) {
    std::va_list values, again;
    va_start(values, pattern);
    va_copy(again, values);
    std::string text(size_t(std::vsnprintf(nullptr, 0, pattern, values)), ' ');
    std::vsnprintf(text.data(), text.size() + 1, pattern, again);
    va_end(again);
    va_end(values);
    return text;
}

// "20.1 G", in front of the name of a unit.
inline std::string in_units(double number) {
    if (number >= 1e12) return format("%.1f T", number * 1e-12);
    if (number >= 1e9) return format("%.1f G", number * 1e-9);
    return format("%.1f M", number * 1e-6);
}

}  // namespace tandem::cli
