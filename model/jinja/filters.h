// The tables of filters, by what they work on.
#pragma once

#include "model/jinja/builtin.h"

namespace tandem::model::jinja {

Table text_filters();       // strings and numbers
Table sequence_filters();   // lists and dicts, one value for another
Table selection_filters();  // lists, by tests, filters and attributes

}  // namespace tandem::model::jinja
