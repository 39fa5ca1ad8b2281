// What methods and filters do with strings. Marks stay exact where bytes are kept; where they are
// made anew (upper), the whole is given if a part was.
#pragma once

#include <optional>
#include <string_view>

#include "model/jinja/arena.h"

namespace tandem::model::jinja {

// Without characters of a set at the ends, or without white space.
const String* stripped(Arena& arena, const String& string,
                       std::optional<std::string_view> characters, bool front, bool back);

// At a separator, or at white space without empty parts; at most so many times (-1: all).
Values split(Arena& arena, const String& string, std::optional<std::string_view> separator,
             int64_t most, bool from_back);
Values split_lines(Arena& arena, const String& string, bool keep_ends);

const String* replaced(Arena& arena, const String& string, const String& old,
                       const String& replacement, int64_t most);

enum class Case { Upper, Lower, Title, Words, Capitalize };
const String* in_case(Arena& arena, const String& string, Case wanted);

// Lines behind the first, or all, get `prefix` in front; empty ones only if asked for.
const String* indented(Arena& arena, const String& string, const String& prefix, bool first,
                       bool blank);

const String* joined(Arena& arena, const Values& items, const String& separator);

const String* escaped(Arena& arena, const String& string);

}  // namespace tandem::model::jinja
