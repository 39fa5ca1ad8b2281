// The `{architecture}.*` keys of a file's metadata, read by the part after the dot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/file.h"

namespace tandem::model {

class Hyperparameters {
  public:
    explicit Hyperparameters(const gguf::File& file);

    const std::string& architecture() const { return architecture_; }
    // Without a fallback the key is required: Error names the file and the key.
    int64_t integer(std::string_view key) const;
    int64_t integer(std::string_view key, int64_t fallback) const;
    double real(std::string_view key) const;
    // A number, neither infinite nor NaN; one above 0. Error otherwise.
    double finite(std::string_view key, double fallback) const;
    double positive(std::string_view key, double fallback) const;
    bool boolean(std::string_view key, bool fallback) const;
    std::string text(std::string_view key, std::string_view fallback) const;
    // One value for all layers, or one per block.
    int64_t of_layer(std::string_view key, int layer, std::optional<int64_t> fallback = {}) const;
    // All values of an array; one for a scalar, none where the key is missing.
    std::vector<int64_t> list(std::string_view key) const;
    // The same for what becomes an axis: from 1 to the largest extent. Error otherwise.
    int64_t extent(std::string_view key, std::optional<int64_t> fallback = {}) const;
    int64_t extent_of_layer(std::string_view key, int layer,
                            std::optional<int64_t> fallback = {}) const;
    static constexpr int64_t largest_extent = (int64_t(1) << 31) - 1;

  private:
    std::string full(std::string_view key) const;
    [[noreturn]] void missing(std::string_view key) const;
    int64_t require_extent(std::string_view key, int64_t value) const;

    const gguf::File& file_;
    std::string architecture_;
};

}  // namespace tandem::model
