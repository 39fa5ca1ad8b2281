// The variables of a rendering, as values.
#pragma once

#include <nlohmann/json.hpp>

#include "model/jinja/arena.h"

namespace tandem::model::jinja {

// Strings below are marked as given, if that is so, but for keys and values of keys "role".
Value value_of(Arena& arena, const nlohmann::ordered_json& json, bool given);

}  // namespace tandem::model::jinja
