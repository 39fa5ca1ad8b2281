// Rows of random weights in any type that a file may hold, as fast as memory is written: random
// codes, with the scales set so that the decoded values have mean about 0 and standard deviation
// 1 / sqrt(row length), like those of a trained matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "gguf/dtype.h"

namespace tandem::cli {

// Well mixed bits of a number (the finaliser of SplitMix64; Steele et al. 2014).
uint64_t mix(uint64_t number);
// The number that stands for a text.
uint64_t hash(std::string_view text);
// Normal deviates with mean 0 and variance 1.
std::vector<float> normals(uint64_t seed, size_t count);

class RandomRows {
  public:
    // Throws Error for a type that holds no weights, naming those that do. `from_bf16`: numbers of
    // F32 and F16 are among those of BF16.
    RandomRows(gguf::DType dtype, int64_t columns, bool from_bf16 = false);

    int64_t row_bytes() const { return row_bytes_; }
    // Fills one row; the same seed gives the same bytes.
    void fill(uint64_t seed, std::span<std::byte> row) const;

    static bool exists(gguf::DType dtype);

    // What the scales of blocks are set to.
    struct Scale {
        double value = 1;
        // Coarse scales: the code below, and the chance of taking the next one, which together make
        // the mean square right.
        uint8_t code = 0;
        double chance = 0;
    };

  private:
    void fill_plain(uint64_t seed, std::span<std::byte> row) const;
    void set_scales(uint64_t seed, std::span<std::byte> row) const;

    gguf::DType dtype_;
    int64_t row_bytes_;
    Scale scale_;
    std::vector<std::byte> plain_;  // encoded deviates of a type without blocks
};

}  // namespace tandem::cli
