#include "kernels/cpu/regroup.h"

#include <cstdint>
#include <cstring>
#include <span>

#include "kernels/cpu/join_bits.h"
#include "kernels/cpu/recode.h"

namespace tandem::kernels::cpu {

using gguf::DType;

namespace {

// Bytes of the file's block, which the row's scale precedes where there is one.
struct Part {
    int from, bytes;
};

// `bits` of every element, from a byte of the file's block on. Each 32 bytes hold 8 / bits groups
// of 32 elements, one above the other: neighbours, or every other one of four.
struct Plane {
    int from, bits;
    bool every_other = false;

    int byte(int group) const {
        const int run = every_other ? group / 4 * 2 + group % 2 : group * bits / 8;
        return from + 32 * run;
    }
    int shift(int group) const { return bits * (every_other ? group % 4 / 2 : group % (8 / bits)); }
};

struct Layout {
    std::span<const Part> front;
    std::span<const Part> parts;  // of the first 32 elements; those of others follow
    std::span<const Plane> planes = {};
};

Layout layout(DType dtype) {
    static constexpr Part q2_k[] = {{80, 4}}, q3_k[] = {{96, 12}, {108, 2}};
    static constexpr Part q4_k[] = {{0, 16}}, q6_k[] = {{208, 2}};
    static constexpr Part q2_k_scales[] = {{0, 2}}, q6_k_scales[] = {{192, 2}};
    static constexpr Plane q2_k_codes[] = {{16, 2}}, q3_k_codes[] = {{0, 1}, {32, 2}};
    static constexpr Plane q4_k_codes[] = {{16, 4}}, q5_k_codes[] = {{16, 1}, {48, 4}};
    static constexpr Plane q6_k_codes[] = {{128, 2}, {0, 4, true}};
    static constexpr Part iq2_xs[] = {{0, 2}, {66, 8}}, iq2_xs_parts[] = {{2, 8}};
    static constexpr Part iq2_s[] = {{0, 2}, {66, 16}}, iq2_s_parts[] = {{2, 4}, {34, 4}};
    static constexpr Part iq3_xxs[] = {{0, 2}}, iq3_xxs_parts[] = {{2, 8}, {66, 4}};
    static constexpr Part iq3_s[] = {{0, 2}, {66, 8}, {106, 4}}, iq3_s_parts[] = {{2, 8}, {74, 4}};
    static constexpr Part iq1_m[] = {{48, 8}}, iq1_m_parts[] = {{0, 4}, {32, 2}};
    static constexpr Part iq2_k[] = {{0, 12}}, iq3_k[] = {{0, 14}}, iq5_k[] = {{0, 16}};
    static constexpr Plane iq2_k_codes[] = {{12, 2}}, iq3_k_codes[] = {{78, 1}, {14, 2}};
    static constexpr Part iq6_k[] = {{0, 20}};
    static constexpr Plane iq5_k_codes[] = {{144, 1}, {16, 4}}, iq6_k_codes[] = {{148, 2}, {20, 4}};
    static constexpr Part iq2_ks[] = {{0, 8}}, iq4_ks[] = {{0, 140}}, iq5_ks[] = {{0, 12}};
    static constexpr Plane iq2_ks_codes[] = {{8, 2}}, iq3_ks_codes[] = {{72, 1}, {8, 2}};
    static constexpr Plane iq5_ks_codes[] = {{140, 1}, {12, 4}};
    static constexpr Part iq2_kt[] = {{0, 72}}, iq3_kt[] = {{0, 8}}, iq3_kt_parts[] = {{8, 8}};
    static constexpr Plane iq3_kt_signs[] = {{72, 1}};
    switch (dtype) {
        case DType::Q2_K:
            return {q2_k, q2_k_scales, q2_k_codes};
        case DType::Q3_K:
            return {q3_k, {}, q3_k_codes};
        case DType::Q4_K:
            return {q4_k, {}, q4_k_codes};
        case DType::Q5_K:
            return {q4_k, {}, q5_k_codes};
        case DType::Q6_K:
            return {q6_k, q6_k_scales, q6_k_codes};
        case DType::IQ2_XS:
            return {iq2_xs, iq2_xs_parts};
        case DType::IQ2_S:
            return {iq2_s, iq2_s_parts};
        case DType::IQ3_XXS:
            return {iq3_xxs, iq3_xxs_parts};
        case DType::IQ3_S:
            return {iq3_s, iq3_s_parts};
        case DType::IQ1_M:
            return {iq1_m, iq1_m_parts};
        case DType::IQ2_K:
            return {iq2_k, {}, iq2_k_codes};
        case DType::IQ3_K:
            return {iq3_k, {}, iq3_k_codes};
        case DType::IQ5_K:
            return {iq5_k, {}, iq5_k_codes};
        case DType::IQ6_K:
            return {iq6_k, {}, iq6_k_codes};
        case DType::IQ2_KS:
            return {iq2_ks, {}, iq2_ks_codes};
        case DType::IQ3_KS:
            return {iq2_ks, {}, iq3_ks_codes};
        case DType::IQ4_KS:
            return {iq4_ks, {}};
        case DType::IQ5_KS:
            return {iq5_ks, {}, iq5_ks_codes};
        case DType::IQ2_KT:
            return {iq2_kt, {}};
        case DType::IQ3_KT:
            return {iq3_kt, iq3_kt_parts, iq3_kt_signs};
        default:
            return {};
    }
}

// Most parts are a register or less: a call would take longer than they do.
void copy_part(uint8_t* to, const uint8_t* from, size_t count) {
    switch (count) {
        case 2:
            std::memcpy(to, from, 2);
            break;
        case 4:
            std::memcpy(to, from, 4);
            break;
        case 8:
            std::memcpy(to, from, 8);
            break;
        default:
            std::memcpy(to, from, count);
    }
}

template <typename Visit>
void with_bits(int bits, Visit visit) {
    if (bits == 1) visit.template operator()<1>();
    if (bits == 2) visit.template operator()<2>();
    if (bits == 4) visit.template operator()<4>();
}

// Calls bytes(in the file's block, in the regrouped one, count) for what belongs to all elements
// and to each 32, and codes<bits>(byte of the file's block, shift, byte of the regrouped one) for
// codes of those.
template <typename Bytes, typename Codes>
void each_part(DType dtype, Bytes bytes, Codes codes) {
    const auto [front, parts, planes] = layout(dtype);
    int at = 0;
    auto copy = [&](int from, int count) {
        bytes(from, at, size_t(count));
        at += count;
    };
    for (const Part& part : front) copy(part.from, part.bytes);
    for (int group = 0; group < 8; ++group) {
        for (const Part& part : parts) copy(part.from + group * part.bytes, part.bytes);
        for (const Plane& plane : planes) {
            with_bits(plane.bits, [&]<int bits>() {
                codes.template operator()<bits>(plane.byte(group), plane.shift(group), at);
            });
            at += 4 * plane.bits;
        }
    }
}

// A block of the file behind the scale of its row.
constexpr int64_t most_block = 256;

}  // namespace

bool is_regrouped(DType dtype) { return recoding(dtype) || !layout(dtype).front.empty(); }

void regroup(DType dtype, const std::byte* row, int64_t block, std::byte* to) {
    const gguf::DTypeTraits& type = gguf::traits(dtype);
    const auto* of_file = reinterpret_cast<const uint8_t*>(row);
    const uint8_t* from = of_file + type.row_header + block * type.block_bytes;
    auto* ours = reinterpret_cast<uint8_t*>(to);
    uint8_t behind_scale[most_block];
    if (type.row_header > 0) {
        std::memcpy(behind_scale, of_file, type.row_header);
        std::memcpy(behind_scale + type.row_header, from, type.block_bytes);
        from = behind_scale;
    }
    if (const Recoding* recode = recoding(dtype)) return recode->from_file(from, ours);
    each_part(
        dtype, [&](int at, int to, size_t count) { copy_part(ours + to, from + at, count); },
        [&]<int bits>(int at, int shift, int to) { join_bits<bits>(from + at, shift, ours + to); });
}

void ungroup(DType dtype, const std::byte* regrouped, int64_t block, std::byte* row) {
    const gguf::DTypeTraits& type = gguf::traits(dtype);
    const auto* ours = reinterpret_cast<const uint8_t*>(regrouped);
    auto* of_file = reinterpret_cast<uint8_t*>(row);
    uint8_t behind_scale[most_block] = {};
    if (const Recoding* recode = recoding(dtype))
        recode->to_file(ours, behind_scale);
    else
        each_part(
            dtype,
            [&](int at, int from, size_t count) {
                copy_part(behind_scale + at, ours + from, count);
            },
            [&]<int bits>(int at, int shift, int from) {
                part_bits<bits>(ours + from, shift, behind_scale + at);
            });
    std::memcpy(of_file, behind_scale, type.row_header);
    std::memcpy(of_file + type.row_header + block * type.block_bytes,
                behind_scale + type.row_header, type.block_bytes);
}

}  // namespace tandem::kernels::cpu
