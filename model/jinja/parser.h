// From the source of a template to its syntax tree.
#pragma once

#include <string_view>

#include "model/jinja/syntax.h"

namespace tandem::model::jinja {

// Throws Error: "line 3: ...".
Syntax parse(std::string_view source);

}  // namespace tandem::model::jinja
