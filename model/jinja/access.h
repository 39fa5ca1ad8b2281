// Parts of strings, lists and tuples.
#pragma once

#include <optional>

#include "model/jinja/arena.h"

namespace tandem::model::jinja {

// Where a character begins, from 0 to their number.
size_t byte_of(const String& string, size_t character);

// One character.
const String* character(Arena& arena, const String& string, size_t at);

// All of them.
Values characters(Arena& arena, const String& string);

// value[begin:end:step].
Value slice(Arena& arena, const Value& value, std::optional<int64_t> begin,
            std::optional<int64_t> end, std::optional<int64_t> step);

// A part of a text, with its marks.
const String* part(Arena& arena, const String& string, size_t begin, size_t end);

}  // namespace tandem::model::jinja
