// Elements by an attribute that filters name: "function.name", "0", or a number.
#pragma once

#include "model/jinja/builtin.h"
#include "model/jinja/interpreter.h"

namespace tandem::model::jinja {

Value attribute_at(Interpreter& interpreter, const Value& object, const Value& path);

// Of each value; themselves where that argument was left out.
Values attributes(Interpreter& interpreter, const Values& values, const Arguments& arguments,
                  size_t at);
Values attributes(Interpreter& interpreter, const Values& values, const Value& path);

// What is compared where cases do not matter.
Value sort_key(Arena& arena, const Value& value, bool case_sensitive);

// The values in the order of their keys; those with equal keys stay in their order.
Values sorted(Arena& arena, const Values& values, const Values& keys, bool reverse);

}  // namespace tandem::model::jinja
