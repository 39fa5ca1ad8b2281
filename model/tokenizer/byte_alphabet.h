// Byte-level vocabularies write each byte as one printable code point, as GPT-2 did: bytes that
// print in Latin-1 stand for themselves, the 68 others follow from U+0100 in their order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tandem::model {

char32_t byte_image(uint8_t byte);
std::optional<uint8_t> byte_of_image(char32_t code);

std::string to_images(std::string_view bytes);
// Code points that are no images, and bytes that are not UTF-8, stay what they are.
std::string from_images(std::string_view images);

}  // namespace tandem::model
