// Values as Python prints them.
#pragma once

#include <string>

#include "model/jinja/arena.h"

namespace tandem::model::jinja {

// Pieces of text in which some were given: the whole is, then. For what makes new bytes out of old.
struct Written {
    std::string bytes;
    bool given = false;
    Text text() && { return Text(std::move(bytes), given); }
};

// Strings with quotes. Throws Error for lists that are nested too deeply, as those in themselves
// are.
Written repr(Arena& arena, const Value& value);

// The shortest digits that read as the same number, as Python writes them: 1.0, 0.1, 1e+22.
std::string number_text(double number);

// JSON as Python's json.dumps writes it, without escapes for HTML.
struct JsonStyle {
    int indent = -1;  // -1: all on one line
    bool ascii = false;
    bool sort_keys = false;
    std::string between = ", ";
    std::string after_key = ": ";
};
Written json(Arena& arena, const Value& value, const JsonStyle& style);

// Throws Error for what is no JSON.
Value parse_json(Arena& arena, const String& text);

}  // namespace tandem::model::jinja
