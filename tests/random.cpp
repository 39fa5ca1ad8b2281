#include "random.h"

#include <algorithm>
#include <cmath>

namespace tandem::test {

namespace {

bool moderate(const std::vector<float>& values) {
    float most = 0;
    for (float value : values) {
        if (!std::isfinite(value)) return false;
        most = std::max(most, std::abs(value));
    }
    return most > 0.1f && most < 10;
}

}  // namespace

std::vector<float> Random::floats(int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = float(2 * uniform() - 1);
    return values;
}

std::vector<std::byte> Random::bytes(int64_t count) {
    std::vector<std::byte> bytes(static_cast<size_t>(count));
    for (std::byte& byte : bytes) byte = std::byte(below(256));
    return bytes;
}

// Most bit patterns of a scale are far too large or too small: a block (behind a header, a row) is
// drawn until it will do.
std::vector<std::byte> Random::rows(gguf::DType dtype, int64_t rows, int64_t row_length) {
    const gguf::DTypeTraits& type = gguf::traits(dtype);
    int64_t piece = type.row_header > 0 ? row_length : type.block;
    std::vector<std::byte> all;
    std::vector<float> values(static_cast<size_t>(piece));
    for (int64_t i = 0; i < rows * row_length; i += piece) {
        std::vector<std::byte> drawn;
        do {
            drawn = bytes(gguf::row_bytes(dtype, piece));
            gguf::decode_row(dtype, drawn.data(), values);
        } while (!moderate(values));
        all.insert(all.end(), drawn.begin(), drawn.end());
    }
    return all;
}

}  // namespace tandem::test
