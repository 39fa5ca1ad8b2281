// Random weights decode to what they should be like, in every type.
#include "cli/synth/random_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "gguf/error.h"

namespace tandem::cli {
namespace {

struct Statistics {
    double mean = 0, deviation = 0;
};

Statistics measure(gguf::DType dtype, int64_t columns, int rows) {
    const RandomRows random(dtype, columns);
    std::vector<std::byte> row(size_t(random.row_bytes()));
    std::vector<float> values(static_cast<size_t>(columns));
    double sum = 0, squares = 0;
    for (int i = 0; i < rows; ++i) {
        random.fill(mix(uint64_t(i)), row);
        gguf::decode_row(dtype, row.data(), values);
        for (float value : values) sum += value, squares += double(value) * value;
    }
    const double count = double(columns) * rows, mean = sum / count;
    return {mean, std::sqrt(squares / count - mean * mean)};
}

TEST(RandomRows, every_type_has_the_wanted_mean_and_deviation) {
    for (const gguf::DTypeTraits& type : gguf::dtypes()) {
        if (!RandomRows::exists(type.dtype)) continue;
        const int64_t columns = 2048;
        const Statistics found = measure(type.dtype, columns, 256);
        const double wanted = 1 / std::sqrt(double(columns));
        EXPECT_NEAR(found.mean / wanted, 0, 0.02) << type.name;
        EXPECT_NEAR(found.deviation / wanted, 1, 0.03) << type.name;
    }
}

TEST(RandomRows, exist_for_all_types_of_files_but_integers) {
    for (const gguf::DTypeTraits& type : gguf::dtypes()) {
        const bool integer = type.name.starts_with("I8") || type.name.starts_with("I16") ||
                             type.name.starts_with("I32") || type.name.starts_with("I64");
        EXPECT_EQ(RandomRows::exists(type.dtype), type.in_files && !integer) << type.name;
    }
    EXPECT_THROW(RandomRows(gguf::DType::I8, 32), Error);
}

TEST(RandomRows, follow_from_the_seed) {
    const RandomRows random(gguf::DType::Q4_0, 64);
    std::vector<std::byte> a(size_t(random.row_bytes())), b = a, c = a;
    random.fill(1, a);
    random.fill(1, b);
    random.fill(2, c);
    EXPECT_EQ(a, b);
    EXPECT_NE(a, c);
}

}  // namespace
}  // namespace tandem::cli
