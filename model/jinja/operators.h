// Operators, as Python has them, on integers of 64 bits. All throw Error where operands do not fit.
#pragma once

#include <optional>

#include "model/jinja/arena.h"
#include "model/jinja/syntax.h"

namespace tandem::model::jinja {

Value calculate(Arena& arena, Binary::Operator op, const Value& left, const Value& right);
Value negated(const Value& operand);
bool compare(Arena& arena, Comparison::Operator op, const Value& left, const Value& right);

// Deep, and the same for numbers of all kinds. Never an error but for what is nested endlessly.
bool equal(Arena& arena, const Value& left, const Value& right);
// Numbers, strings, lists, tuples.
bool less(Arena& arena, const Value& left, const Value& right);
bool contains(Arena& arena, const Value& container, const Value& element);

double as_double(const Value& number);
// nullopt: no integer.
std::optional<int64_t> as_integer(const Value& value);

}  // namespace tandem::model::jinja
