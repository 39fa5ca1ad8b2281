// The two ways in which Python formats text: "%s" % x and "{}".format(x). Marks of what is inserted
// as it is stay with it.
#pragma once

#include "model/jinja/arena.h"
#include "model/jinja/builtin.h"

namespace tandem::model::jinja {

// The operand is a tuple of values, a dict for %(name)s, or a single value.
Text formatted(Arena& arena, const String& format, const Value& operand);

// With the values behind the first positional one, which is the format.
Text formatted(Interpreter& interpreter, const Arguments& arguments);

// What print writes.
Text printed(Arena& arena, const Value& value);

}  // namespace tandem::model::jinja
