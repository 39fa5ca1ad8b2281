// Text as printf writes it, however long it gets.
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

}  // namespace tandem::cli
