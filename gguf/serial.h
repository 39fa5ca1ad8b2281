// The bytes of a file's head: header, metadata and directory, as a Writer puts them down.
#pragma once

#include <span>
#include <string>

#include "gguf/file.h"

namespace tandem::gguf {

// Without padding at the end. Throws Error where a value does not fit its type; `path` is for
// messages only.
std::string serialize(const Metadata& metadata, std::span<const TensorInfo> tensors,
                      const std::string& path);

}  // namespace tandem::gguf
