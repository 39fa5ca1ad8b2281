// What is wrong with a file, as one printable line of one form.
//
// Categories: E_IO, E_TRUNCATED, E_MAGIC, E_VERSION, E_ENDIAN, E_COUNT, E_LENGTH, E_KEY, E_TYPE,
// E_VALUE, E_DUPLICATE, E_ALIGNMENT, E_NAME, E_DIMS, E_TENSOR_TYPE, E_ROW_SIZE, E_OFFSET, E_RANGE,
// E_OVERLAP, E_SPLIT, E_METADATA.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gguf/error.h"

namespace tandem::gguf {

// `path: E_CATEGORY: text (file offset 0x1c3a9)`, the last part where an offset is known.
Error fault(std::string_view path, std::string_view category, const std::string& text,
            std::optional<uint64_t> offset = {});

// A text that a file holds, in quotes: what is not printable ASCII is escaped, the end is cut off.
std::string in_quotes(std::string_view text, size_t most_bytes = 128);

// True where a byte would break the line or the terminal that shows it.
inline bool is_control(char byte) { return uint8_t(byte) < 0x20 || uint8_t(byte) == 0x7f; }

}  // namespace tandem::gguf
