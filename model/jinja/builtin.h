// What is there without being written in a template: filters, tests, methods, functions. Each is a
// line in a table.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/jinja/value.h"

namespace tandem::model::jinja {

class Interpreter;

class Arguments {
  public:
    Values positional;
    std::vector<std::pair<const String*, Value>> keywords;

    bool has(size_t at) const;
    // Throws Error unless it was given and is of that kind.
    const Value& operator[](size_t at) const;
    const String& string(size_t at) const;
    int64_t integer(size_t at) const;
    // Left out, or none: the other value.
    int64_t integer_or(size_t at, int64_t other) const;
    bool truth_or(size_t at, bool other) const;
    std::string_view string_or(size_t at, std::string_view other) const;
};

struct Builtin {
    std::string_view name;
    // The first argument of filters and tests is what stands in front of them, of methods their
    // object.
    Value (*run)(Interpreter&, const Arguments&);
    // Names, in order; those that may be left out begin at "?". "*": it looks after them itself.
    std::string_view parameters;
};

using Table = std::span<const Builtin>;
const Builtin* find(Table table, std::string_view name);

// Keywords put into their places. Throws Error for arguments that are missing or too many.
Arguments bound(const Builtin& builtin, Arguments arguments);

const Builtin* find_filter(std::string_view name);
const Builtin* find_test(std::string_view name);
// Of the value's type.
const Builtin* find_method(const Value& value, std::string_view name);
Table global_functions();

}  // namespace tandem::model::jinja
