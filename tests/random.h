// Random numbers for tests: the same everywhere for one seed, which no standard distribution is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "gguf/dtype.h"

namespace tandem::test {

class Random {
  public:
    explicit Random(uint64_t seed) : engine_(seed) {}

    int64_t below(int64_t count) { return int64_t(engine_() % uint64_t(count)); }
    int64_t between(int64_t least, int64_t most) { return least + below(most - least + 1); }
    // At least 0, less than 1.
    double uniform() { return double(engine_() >> 11) * 0x1p-53; }

    std::vector<float> floats(int64_t count);  // in [-1, 1)
    std::vector<std::byte> bytes(int64_t count);
    // `rows` stored rows of any type, whose values are finite and around 1.
    std::vector<std::byte> rows(gguf::DType dtype, int64_t rows, int64_t row_length);

  private:
    std::mt19937_64 engine_;
};

}  // namespace tandem::test
