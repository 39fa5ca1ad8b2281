// The table of types: ids, names, sizes.
#include <gtest/gtest.h>

#include "gguf/dtype.h"
#include "gguf/error.h"

namespace tandem::gguf {
namespace {

TEST(Types, stand_in_the_order_of_their_ids) {
    for (size_t i = 1; i < dtypes().size(); i++) {
        EXPECT_LT(dtypes()[i - 1].dtype, dtypes()[i].dtype);
    }
}

TEST(Types, are_found_by_id_and_name) {
    for (const DTypeTraits& type : dtypes()) {
        EXPECT_EQ(&traits(type.dtype), &type);
        EXPECT_EQ(dtype_from_id(uint32_t(type.dtype)), type.dtype);
        EXPECT_EQ(dtype_from_name(type.name), type.dtype);
        std::string lower(type.name);
        for (char& c : lower) c = char(std::tolower(c));
        EXPECT_EQ(dtype_from_name(lower), type.dtype);
        EXPECT_EQ(name(type.dtype), type.name);
        EXPECT_TRUE(type.decode) << type.name;
    }
    EXPECT_EQ(dtype_from_name("q4_k"), DType::Q4_K);
    EXPECT_EQ(dtype_from_name("Q4"), std::nullopt);
    EXPECT_EQ(dtype_from_name(""), std::nullopt);
    for (uint32_t id : {4u, 5u, 31u, 36u, 43u, 97u, 202u, 255u, 256u, 99999u, 0xffffffffu}) {
        EXPECT_EQ(dtype_from_id(id), std::nullopt) << id;
    }
}

TEST(Types, activations_are_not_in_files) {
    for (const DTypeTraits& type : dtypes()) {
        const bool activation = type.dtype == DType::Q8_1 || type.dtype == DType::Q8_K;
        EXPECT_EQ(type.in_files, !activation) << type.name;
    }
}

TEST(Types, bytes_of_a_row) {
    EXPECT_EQ(row_bytes(DType::F32, 3), 12);
    EXPECT_EQ(row_bytes(DType::Q4_0, 64), 36);
    EXPECT_EQ(row_bytes(DType::Q4_K, 4096), 2304);
    EXPECT_EQ(row_bytes(DType::IQ2_KS, 512), 142);
    EXPECT_EQ(row_bytes(DType::IQ4_KSS, 256), 132);
    EXPECT_EQ(row_bytes(DType::Q6_K, 0), 0);
    EXPECT_THROW((void)row_bytes(DType::Q4_0, 33), std::logic_error);
    EXPECT_THROW((void)traits(DType(4)), std::logic_error);
}

TEST(Types, rows_are_whole_blocks) {
    std::byte row[64] = {};
    float values[33] = {};
    EXPECT_THROW(decode_row(DType::Q4_0, row, values), std::logic_error);
    EXPECT_THROW(encode_row(DType::Q4_0, values, row), std::logic_error);
    EXPECT_THROW(encode_row(DType::Q4_0, std::span(values).first(32), row, std::span(values)),
                 std::logic_error);
}

template <class Number>
void expect_decoded(DType dtype, std::initializer_list<Number> numbers) {
    std::vector<float> values(numbers.size());
    decode_row(dtype, reinterpret_cast<const std::byte*>(numbers.begin()), values);
    size_t i = 0;
    for (Number number : numbers) EXPECT_EQ(values[i++], float(number)) << name(dtype);
}

TEST(Types, plain_numbers) {
    expect_decoded<int8_t>(DType::I8, {-128, 0, 127});
    expect_decoded<int16_t>(DType::I16, {-32768, 5, 32767});
    expect_decoded<int32_t>(DType::I32, {INT32_MIN, -1, INT32_MAX});
    expect_decoded<int64_t>(DType::I64, {INT64_MIN, 7, INT64_MAX});
    expect_decoded<double>(DType::F64, {-0.1, 1e-300, 3e38});
    expect_decoded<float>(DType::F32, {-0.1f, 1e-40f, 3e38f});
}

}  // namespace
}  // namespace tandem::gguf
