// A string that knows which of its bytes were given: what users and models wrote, as opposed to the
// syntax of the conversation around it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/byte_range.h"

namespace tandem::model::jinja {

class Text {
  public:
    Text() = default;
    explicit Text(std::string bytes, bool given = false);

    const std::string& bytes() const { return bytes_; }
    size_t size() const { return bytes_.size(); }

    // Sorted, disjoint, not touching, none empty.
    const std::vector<ByteRange>& given() const { return given_; }
    bool any_given() const { return !given_.empty(); }

    void append(std::string_view bytes, bool given = false);
    void append(const Text& text) { append(text, 0, text.size()); }
    // Bytes [begin, end) of a text, with their marks.
    void append(const Text& text, size_t begin, size_t end);

  private:
    void mark(size_t begin, size_t end);

    std::string bytes_;
    std::vector<ByteRange> given_;
};

}  // namespace tandem::model::jinja
