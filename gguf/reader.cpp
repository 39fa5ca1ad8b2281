#include "gguf/reader.h"

#include "gguf/fault.h"

namespace tandem::gguf {

std::span<const std::byte> Reader::bytes(uint64_t count, std::string_view name) {
    field_ = offset_;
    if (count > left()) {
        fail("E_TRUNCATED", "the file ends inside the " + std::string(name) + ", " +
                                std::to_string(count - left()) +
                                " bytes early; if it is a download, it is incomplete");
    }
    offset_ += count;
    return bytes_.subspan(field_, count);
}

std::string_view Reader::text(std::string_view name) {
    const auto length = number<uint64_t>(name);
    if (length > longest) {
        fail("E_LENGTH", "the length of the " + std::string(name) + " is " +
                             std::to_string(length) + ", the most is " + std::to_string(longest));
    }
    const uint64_t start = field_;
    const auto characters = bytes(length, name);
    field_ = start;
    return {reinterpret_cast<const char*>(characters.data()), characters.size()};
}

void Reader::fail(std::string_view category, const std::string& text) const {
    throw fault(path_, category, subject_.empty() ? text : subject_ + ": " + text, field_);
}

}  // namespace tandem::gguf
