// Schemas that hold together as one, and schemas that cannot hold together.
#pragma once

#include "model/grammar/schema/keywords.h"

namespace tandem::model::grammar::schema {

// What a value must be for which both hold. Objects, without $ref and allOf at the top; parts may
// get an allOf. Throws Error where that cannot be said by keywords that can be followed.
Json merged(const Json& schema, const Json& other);

// Whether no value that is written by one of them is one of the other; false where that is not
// plain to see. What is written has no properties but those named, unless additionalProperties
// says so. Such objects, too.
bool exclude_each_other(const Json& schema, const Json& other);

}  // namespace tandem::model::grammar::schema
