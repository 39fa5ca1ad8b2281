// Text as printf writes it, however long it gets.
#pragma once

#include <cstdio>
#include <string>

namespace tandem::cli {

template <typename... Values>
std::string format(const char* pattern, Values... values) {
    std::string text(size_t(std::snprintf(nullptr, 0, pattern, values...)), ' ');
    std::snprintf(text.data(), text.size() + 1, pattern, values...);
    return text;
}

}  // namespace tandem::cli
