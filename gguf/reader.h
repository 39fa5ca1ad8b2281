// Reads the fields of one file front to back and never past its end. What cannot be read is an
// Error that says what was being read, where, and how much is missing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace tandem::gguf {

static_assert(std::endian::native == std::endian::little, "the files are read as they lie");

class Reader {
  public:
    Reader(std::span<const std::byte> bytes, std::string path)
        : bytes_(bytes), path_(std::move(path)) {}

    // What the next fields belong to, for messages: `tensor "output.weight" (index 0)`.
    void set_subject(std::string subject) { subject_ = std::move(subject); }

    const std::string& path() const { return path_; }
    uint64_t offset() const { return offset_; }
    uint64_t left() const { return bytes_.size() - offset_; }

    // The names of the fields (`length of the key`) go into messages.
    std::span<const std::byte> bytes(uint64_t count, std::string_view name);
    template <class Number>
    Number number(std::string_view name) {
        Number value;
        std::memcpy(&value, bytes(sizeof value, name).data(), sizeof value);
        return value;
    }
    // A length of 64 bits, then that many bytes: one field.
    std::string_view text(std::string_view name);

    // Throws what is wrong with the field read last.
    [[noreturn]] void fail(std::string_view category, const std::string& text) const;

  private:
    std::span<const std::byte> bytes_;
    std::string path_;
    std::string subject_;
    uint64_t offset_ = 0;
    uint64_t field_ = 0;  // where the field read last begins
};

// The longest text and array that is believed.
constexpr uint64_t longest = uint64_t(1) << 30;

}  // namespace tandem::gguf
