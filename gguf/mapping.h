// A file's bytes in memory, read-only, for as long as this lives.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>

namespace tandem::gguf {

class Mapping {
  public:
    Mapping() = default;  // of no file
    // Throws Error (E_IO) where the file cannot be opened or mapped.
    explicit Mapping(const std::filesystem::path& path);
    ~Mapping();
    Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    Mapping& operator=(Mapping&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    std::span<const std::byte> bytes() const { return bytes_; }

  private:
    std::span<const std::byte> bytes_;
};

}  // namespace tandem::gguf
