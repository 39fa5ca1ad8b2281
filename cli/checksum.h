// A number that tells whether bytes have changed, by accident and not by design.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tandem::cli {

// Of all bytes that were added, however they were divided. Each word of eight goes through steps
// that can be undone, so that no other word in its place gives the same number.
class Checksum {
  public:
    void add(std::span<const std::byte> bytes);
    void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
    template <class Number>
    void add_number(Number number) {
        add(std::as_bytes(std::span(&number, 1)));
    }
    uint64_t value() const;

  private:
    uint64_t hash_ = 0xcbf29ce484222325u, count_ = 0;
    std::byte rest_[8] = {};  // bytes that make no word yet
};

}  // namespace tandem::cli
