// Expressions of GBNF for the numbers between two others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tandem::model::grammar::schema {

struct Bound {
    int64_t value = 0;
    bool excluded = false;
};

// Without a bound on a side numbers have at most 16 digits there, or one more than the other bound.
std::string whole_numbers(std::optional<int64_t> least, std::optional<int64_t> most);
// With fractions, without exponents. Empty where there is no such number.
std::string numbers(std::optional<Bound> least, std::optional<Bound> most);

}  // namespace tandem::model::grammar::schema
