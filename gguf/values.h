// Reads one metadata value of a file, checked.
#pragma once

#include "gguf/metadata.h"
#include "gguf/reader.h"

namespace tandem::gguf {

// The value's type and the value, a scalar or an array of scalars.
MetadataValue read_value(Reader& reader);

}  // namespace tandem::gguf
