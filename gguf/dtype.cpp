#include "gguf/dtype.h"

#include <array>
#include <cmath>
#include <string>

#include "gguf/error.h"
#include "gguf/quants/quants.h"

namespace tandem::gguf {

namespace {

// Elements and bytes per block, functions, the bytes of a row's header, whether it is in files.
constexpr DTypeTraits table[] = {
    {DType::F32, "F32", 1, 4, decode_f32, encode_f32},
    {DType::F16, "F16", 1, 2, decode_f16, encode_f16},
    {DType::Q4_0, "Q4_0", 32, 18, decode_q4_0, encode_q4_0},
    {DType::Q4_1, "Q4_1", 32, 20, decode_q4_1, encode_q4_1},
    {DType::Q5_0, "Q5_0", 32, 22, decode_q5_0, encode_q5_0},
    {DType::Q5_1, "Q5_1", 32, 24, decode_q5_1, encode_q5_1},
    {DType::Q8_0, "Q8_0", 32, 34, decode_q8_0, encode_q8_0},
    {DType::Q8_1, "Q8_1", 32, 36, decode_q8_1, encode_q8_1, 0, false},
    {DType::Q2_K, "Q2_K", 256, 84, decode_q2_k, encode_q2_k},
    {DType::Q3_K, "Q3_K", 256, 110, decode_q3_k, encode_q3_k},
    {DType::Q4_K, "Q4_K", 256, 144, decode_q4_k, encode_q4_k},
    {DType::Q5_K, "Q5_K", 256, 176, decode_q5_k, encode_q5_k},
    {DType::Q6_K, "Q6_K", 256, 210, decode_q6_k, encode_q6_k},
    {DType::Q8_K, "Q8_K", 256, 292, decode_q8_k, encode_q8_k, 0, false},
    {DType::IQ2_XXS, "IQ2_XXS", 256, 66, decode_iq2_xxs},
    {DType::IQ2_XS, "IQ2_XS", 256, 74, decode_iq2_xs},
    {DType::IQ3_XXS, "IQ3_XXS", 256, 98, decode_iq3_xxs},
    {DType::IQ1_S, "IQ1_S", 256, 50, decode_iq1_s},
    {DType::IQ4_NL, "IQ4_NL", 32, 18, decode_iq4_nl, encode_iq4_nl},
    {DType::IQ3_S, "IQ3_S", 256, 110, decode_iq3_s},
    {DType::IQ2_S, "IQ2_S", 256, 82, decode_iq2_s},
    {DType::IQ4_XS, "IQ4_XS", 256, 136, decode_iq4_xs, encode_iq4_xs},
    {DType::I8, "I8", 1, 1, decode_i8},
    {DType::I16, "I16", 1, 2, decode_i16},
    {DType::I32, "I32", 1, 4, decode_i32},
    {DType::I64, "I64", 1, 8, decode_i64},
    {DType::F64, "F64", 1, 8, decode_f64},
    {DType::IQ1_M, "IQ1_M", 256, 56, decode_iq1_m},
    {DType::BF16, "BF16", 1, 2, decode_bf16, encode_bf16},
    {DType::TQ1_0, "TQ1_0", 256, 54, decode_tq1_0, encode_tq1_0},
    {DType::TQ2_0, "TQ2_0", 256, 66, decode_tq2_0, encode_tq2_0},
    {DType::MXFP4, "MXFP4", 32, 17, decode_mxfp4, encode_mxfp4},
    {DType::NVFP4, "NVFP4", 64, 36, decode_nvfp4, encode_nvfp4},
    {DType::Q1_0, "Q1_0", 128, 18, decode_q1_0, encode_q1_0},
    {DType::Q2_0, "Q2_0", 64, 18, decode_q2_0, encode_q2_0},
    {DType::Q6_0, "Q6_0", 32, 26, decode_q6_0},
    {DType::IQ2_K, "IQ2_K", 256, 76, decode_iq2_k},
    {DType::IQ3_K, "IQ3_K", 256, 110, decode_iq3_k},
    {DType::IQ4_K, "IQ4_K", 256, 144, decode_iq4_k},
    {DType::IQ5_K, "IQ5_K", 256, 176, decode_iq5_k},
    {DType::IQ6_K, "IQ6_K", 256, 212, decode_iq6_k},
    {DType::IQ4_KS, "IQ4_KS", 256, 136, decode_iq4_ks, nullptr, 4},
    {DType::IQ2_KS, "IQ2_KS", 256, 70, decode_iq2_ks, nullptr, 2},
    {DType::IQ4_KSS, "IQ4_KSS", 256, 128, decode_iq4_kss, nullptr, 4},
    {DType::IQ5_KS, "IQ5_KS", 256, 168, decode_iq5_ks, nullptr, 4},
    {DType::IQ2_KT, "IQ2_KT", 256, 68, decode_iq2_kt, nullptr, 4},
    {DType::IQ3_KT, "IQ3_KT", 256, 100, decode_iq3_kt, nullptr, 4},
    {DType::IQ4_KT, "IQ4_KT", 256, 128, decode_iq4_kt, nullptr, 4},
    {DType::IQ3_KS, "IQ3_KS", 256, 102, decode_iq3_ks, nullptr, 2},
    {DType::IQ2_KL, "IQ2_KL", 256, 86, decode_iq2_kl, nullptr, 2},
    {DType::IQ1_KT, "IQ1_KT", 256, 56, decode_iq1_kt, nullptr, 4},
};

constexpr uint8_t unknown = 0xff;

// Where a type stands in the table, by its id.
constexpr auto places = [] {
    std::array<uint8_t, 256> by_id{};
    by_id.fill(unknown);
    for (size_t i = 0; i < std::size(table); i++) by_id[uint32_t(table[i].dtype)] = uint8_t(i);
    return by_id;
}();

char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

bool same(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); i++) {
        if (lower(a[i]) != lower(b[i])) return false;
    }
    return true;
}

}  // namespace

std::span<const DTypeTraits> dtypes() { return table; }

std::optional<DType> dtype_from_id(uint32_t id) {
    if (id >= places.size() || places[id] == unknown) return {};
    return DType(id);
}

std::optional<DType> dtype_from_name(std::string_view name) {
    for (const DTypeTraits& type : table) {
        if (same(type.name, name)) return type.dtype;
    }
    return {};
}

const DTypeTraits& traits(DType dtype) {
    check(dtype_from_id(uint32_t(dtype)).has_value(), "a DType is one of the known types");
    return table[places[uint32_t(dtype)]];
}

int64_t row_bytes(DType dtype, int64_t elements) {
    const DTypeTraits& type = traits(dtype);
    check(elements % type.block == 0, "a row is a multiple of its type's block");
    return type.row_header + elements / type.block * type.block_bytes;
}

void decode_row(DType dtype, const std::byte* row, std::span<float> values) {
    const DTypeTraits& type = traits(dtype);
    check(values.size() % type.block == 0, "a row is a multiple of its type's block");
    type.decode(row, values);
}

void encode_row(DType dtype, std::span<const float> values, std::byte* row,
                std::span<const float> importance) {
    const DTypeTraits& type = traits(dtype);
    check(values.size() % type.block == 0, "a row is a multiple of its type's block");
    check(importance.empty() || importance.size() == values.size(),
          "there is one importance for each value of a row");
    for (float weight : importance) {
        if (std::isfinite(weight) && weight >= 0) continue;
        throw Error("cannot encode to " + std::string(type.name) + ": an importance is " +
                    std::to_string(weight) + ", allowed are finite values from 0");
    }
    if (!type.encode) {
        throw Error("cannot encode to " + std::string(type.name) +
                    ": this type can only be read; choose another, such as Q4_K or Q8_0");
    }
    type.encode(values, importance, row);
}

}  // namespace tandem::gguf
