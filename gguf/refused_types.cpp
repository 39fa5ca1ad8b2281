#include "gguf/refused_types.h"

#include <string_view>

#include "gguf/dtype.h"

namespace tandem::gguf {

namespace {

struct NamedType {
    uint32_t id;
    std::string_view name;
};

// Formats withdrawn from the specification.
constexpr NamedType removed[] = {
    {4, "Q4_2"},      {5, "Q4_3"},        {31, "Q4_0_4_4"},   {32, "Q4_0_4_8"},
    {33, "Q4_0_8_8"}, {36, "IQ4_NL_4_4"}, {37, "IQ4_NL_4_8"}, {38, "IQ4_NL_8_8"},
};

// Of the fork: several rows stored as one, for its own kernels.
constexpr NamedType interleaved[] = {
    {202, "Q4_0_R8"},    {206, "Q5_0_R4"},   {208, "Q8_0_R8"},    {210, "Q2_K_R4"},
    {211, "Q3_K_R4"},    {212, "Q4_K_R4"},   {213, "Q5_K_R4"},    {214, "Q6_K_R4"},
    {216, "IQ2_XXS_R4"}, {217, "IQ2_XS_R4"}, {218, "IQ3_XXS_R4"}, {219, "IQ1_S_R4"},
    {220, "IQ4_NL_R4"},  {221, "IQ3_S_R4"},  {222, "IQ2_S_R4"},   {223, "IQ4_XS_R8"},
    {229, "IQ1_M_R4"},   {230, "BF16_R16"},  {233, "Q6_0_R4"},    {335, "IQ2_BN_R4"},
    {337, "IQ2_K_R4"},   {338, "IQ3_K_R4"},  {339, "IQ4_K_R4"},   {340, "IQ5_K_R4"},
    {344, "IQ4_KS_R4"},  {352, "IQ5_KS_R4"}, {353, "MXFP4_R8"},   {397, "Q8_K_R16"},
    {398, "Q8_KV_R8"},   {399, "Q8_K_R8"},
};

// Of the fork: other types, some of them for its memory only.
constexpr NamedType foreign[] = {
    {97, "Q8_0_X4"}, {98, "Q8_1_X4"},  {99, "Q8_2_X4"}, {134, "IQ1_BN"},
    {135, "IQ2_BN"}, {136, "Q8_K64"},  {147, "Q8_K16"}, {148, "Q8_K32"},
    {149, "Q8_KR8"}, {150, "Q8_K128"}, {151, "Q8_KV"},
};

template <size_t count>
std::string_view find_name(const NamedType (&types)[count], uint32_t id) {
    for (const NamedType& type : types) {
        if (type.id == id) return type.name;
    }
    return {};
}

}  // namespace

std::string why_refused(uint32_t id) {
    const auto type = [id](std::string_view name) {
        return "type " + std::to_string(id) + " (" + std::string(name) + ") ";
    };
    if (const auto known = dtype_from_id(id)) {
        return type(name(*known)) +
               "is for activations and not allowed in files; "
               "the file is damaged";
    }
    if (const auto name = find_name(removed, id); !name.empty()) {
        return type(name) + "was removed from the format; convert or quantize the model again";
    }
    if (const auto name = find_name(interleaved, id); !name.empty()) {
        return type(name) +
               "has rows interleaved for another engine; quantize the model again "
               "without repacking";
    }
    if (const auto name = find_name(foreign, id); !name.empty()) {
        return type(name) + "is read by another engine only; quantize the model to another type";
    }
    return "unknown type " + std::to_string(id) +
           "; the file is newer than this program, made for another engine, or damaged";
}

}  // namespace tandem::gguf
