#include "kernels/cpu/regroup.h"

#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "kernels/cpu/join_bits.h"

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

    constexpr int byte(int group) const {
        const int run = every_other ? group / 4 * 2 + group % 2 : group * bits / 8;
        return from + 32 * run;
    }
    constexpr int shift(int group) const {
        return bits * (every_other ? group % 4 / 2 : group % (8 / bits));
    }
};

struct Layout {
    std::span<const Part> front;
    std::span<const Part> parts;  // of the first 32 elements; those of others follow
    std::span<const Plane> planes = {};
};

constexpr Part q4_k_front[] = {{0, 16}};  // of Q5_K, too
constexpr Plane q2_k_codes[] = {{16, 2}};
constexpr Part q2_k_front[] = {{80, 4}}, q2_k_parts[] = {{0, 2}};
constexpr Layout q2_k{q2_k_front, q2_k_parts, q2_k_codes};
constexpr Plane q3_k_codes[] = {{0, 1}, {32, 2}};
constexpr Part q3_k_front[] = {{96, 12}, {108, 2}};
constexpr Layout q3_k{q3_k_front, {}, q3_k_codes};
constexpr Plane q4_k_codes[] = {{16, 4}}, q5_k_codes[] = {{16, 1}, {48, 4}};
constexpr Layout q4_k{q4_k_front, {}, q4_k_codes}, q5_k{q4_k_front, {}, q5_k_codes};
constexpr Plane q6_k_codes[] = {{128, 2}, {0, 4, true}};
constexpr Part q6_k_front[] = {{208, 2}}, q6_k_parts[] = {{192, 2}};
constexpr Layout q6_k{q6_k_front, q6_k_parts, q6_k_codes};
constexpr Part iq2_xs_front[] = {{0, 2}, {66, 8}}, iq2_xs_parts[] = {{2, 8}};
constexpr Layout iq2_xs{iq2_xs_front, iq2_xs_parts};
constexpr Part iq2_s_front[] = {{0, 2}, {66, 16}}, iq2_s_parts[] = {{2, 4}, {34, 4}};
constexpr Layout iq2_s{iq2_s_front, iq2_s_parts};
constexpr Part iq3_xxs_front[] = {{0, 2}}, iq3_xxs_parts[] = {{2, 8}, {66, 4}};
constexpr Layout iq3_xxs{iq3_xxs_front, iq3_xxs_parts};
constexpr Part iq3_s_front[] = {{0, 2}, {66, 8}, {106, 4}}, iq3_s_parts[] = {{2, 8}, {74, 4}};
constexpr Layout iq3_s{iq3_s_front, iq3_s_parts};
constexpr Part iq1_m_front[] = {{48, 8}}, iq1_m_parts[] = {{0, 4}, {32, 2}};
constexpr Layout iq1_m{iq1_m_front, iq1_m_parts};
constexpr Part iq2_k_front[] = {{0, 12}}, iq3_k_front[] = {{0, 14}}, iq5_k_front[] = {{0, 16}};
constexpr Plane iq2_k_codes[] = {{12, 2}}, iq3_k_codes[] = {{78, 1}, {14, 2}};
constexpr Plane iq5_k_codes[] = {{144, 1}, {16, 4}}, iq6_k_codes[] = {{148, 2}, {20, 4}};
constexpr Part iq6_k_front[] = {{0, 20}};
constexpr Layout iq2_k{iq2_k_front, {}, iq2_k_codes}, iq3_k{iq3_k_front, {}, iq3_k_codes};
constexpr Layout iq5_k{iq5_k_front, {}, iq5_k_codes}, iq6_k{iq6_k_front, {}, iq6_k_codes};
constexpr Part iq2_ks_front[] = {{0, 8}};  // of IQ3_KS, too
constexpr Part iq4_ks_front[] = {{0, 140}}, iq5_ks_front[] = {{0, 12}};
constexpr Plane iq2_ks_codes[] = {{8, 2}}, iq3_ks_codes[] = {{72, 1}, {8, 2}};
constexpr Plane iq5_ks_codes[] = {{140, 1}, {12, 4}};
constexpr Layout iq2_ks{iq2_ks_front, {}, iq2_ks_codes}, iq3_ks{iq2_ks_front, {}, iq3_ks_codes};
constexpr Layout iq4_ks{iq4_ks_front, {}}, iq5_ks{iq5_ks_front, {}, iq5_ks_codes};
constexpr Part iq2_kt_front[] = {{0, 72}}, iq3_kt_front[] = {{0, 8}}, iq3_kt_parts[] = {{8, 8}};
constexpr Plane iq3_kt_signs[] = {{72, 1}};
constexpr Layout iq2_kt{iq2_kt_front, {}}, iq3_kt{iq3_kt_front, iq3_kt_parts, iq3_kt_signs};

// visit<0>() to visit<count - 1>().
template <size_t count, typename Visit>
[[gnu::always_inline]] inline void unrolled(Visit visit) {
    [&]<size_t... i>(std::index_sequence<i...>) { (visit.template operator()<i>(), ...); }
    (std::make_index_sequence<count>{});
}

// Calls bytes(in the file's block, in the regrouped one, count) for what belongs to all elements
// and to each 32, and codes<bits>(byte of the file's block, shift, byte of the regrouped one) for
// codes of those. Unrolled, so that all places are constants.
template <const Layout& of, typename Bytes, typename Codes>
[[gnu::always_inline]] inline void each_part(Bytes bytes, Codes codes) {
    int at = 0;
    auto copy = [&](int from, int count) {
        bytes(from, at, size_t(count));
        at += count;
    };
    unrolled<of.front.size()>([&]<size_t i>() { copy(of.front[i].from, of.front[i].bytes); });
    unrolled<8>([&]<size_t group>() {
        unrolled<of.parts.size()>([&]<size_t i>() {
            copy(of.parts[i].from + int(group) * of.parts[i].bytes, of.parts[i].bytes);
        });
        unrolled<of.planes.size()>([&]<size_t i>() {
            constexpr Plane plane = of.planes[i];
            codes.template operator()<plane.bits>(plane.byte(group), plane.shift(group), at);
            at += 4 * plane.bits;
        });
    });
}

template <const Layout& of>
void from_file(const uint8_t* block, uint8_t* packed) {
    each_part<of>(
        [&](int from, int to, size_t count) { std::memcpy(packed + to, block + from, count); },
        [&]<int bits>(int from, int shift, int to) {
            join_bits<bits>(block + from, shift, packed + to);
        });
}

template <const Layout& of>
void to_file(const uint8_t* packed, uint8_t* block) {
    each_part<of>(
        [&](int to, int from, size_t count) { std::memcpy(block + to, packed + from, count); },
        [&]<int bits>(int to, int shift, int from) {
            part_bits<bits>(packed + from, shift, block + to);
        });
}

template <const Layout& of>
inline constexpr Recoding recoding_of{from_file<of>, to_file<of>};

constexpr RecodingOfType regroupings[] = {
    {DType::Q2_K, recoding_of<q2_k>},     {DType::Q3_K, recoding_of<q3_k>},
    {DType::Q4_K, recoding_of<q4_k>},     {DType::Q5_K, recoding_of<q5_k>},
    {DType::Q6_K, recoding_of<q6_k>},     {DType::IQ2_XS, recoding_of<iq2_xs>},
    {DType::IQ2_S, recoding_of<iq2_s>},   {DType::IQ3_XXS, recoding_of<iq3_xxs>},
    {DType::IQ3_S, recoding_of<iq3_s>},   {DType::IQ1_M, recoding_of<iq1_m>},
    {DType::IQ2_K, recoding_of<iq2_k>},   {DType::IQ3_K, recoding_of<iq3_k>},
    {DType::IQ5_K, recoding_of<iq5_k>},   {DType::IQ6_K, recoding_of<iq6_k>},
    {DType::IQ2_KS, recoding_of<iq2_ks>}, {DType::IQ3_KS, recoding_of<iq3_ks>},
    {DType::IQ4_KS, recoding_of<iq4_ks>}, {DType::IQ5_KS, recoding_of<iq5_ks>},
    {DType::IQ2_KT, recoding_of<iq2_kt>}, {DType::IQ3_KT, recoding_of<iq3_kt>},
};

const Recoding* regrouping(DType dtype) {
    const Recoding* of = find(regroupings, dtype);
    return of ? of : recoding(dtype);
}

// A block of the file behind the scale of its row.
constexpr int64_t most_block = 256;

}  // namespace

Regrouping::Regrouping(DType dtype) : type_(gguf::traits(dtype)), blocks_(regrouping(dtype)) {}

void Regrouping::regroup(const std::byte* row, int64_t block, std::byte* to) const {
    const auto* of_file = reinterpret_cast<const uint8_t*>(row);
    const uint8_t* from = of_file + type_.row_header + block * type_.block_bytes;
    uint8_t behind_scale[most_block];
    if (type_.row_header > 0) {
        std::memcpy(behind_scale, of_file, type_.row_header);
        std::memcpy(behind_scale + type_.row_header, from, type_.block_bytes);
        from = behind_scale;
    }
    blocks_->from_file(from, reinterpret_cast<uint8_t*>(to));
}

void Regrouping::ungroup(const std::byte* regrouped, int64_t block, std::byte* row) const {
    auto* of_file = reinterpret_cast<uint8_t*>(row);
    uint8_t behind_scale[most_block] = {};
    blocks_->to_file(reinterpret_cast<const uint8_t*>(regrouped), behind_scale);
    std::memcpy(of_file, behind_scale, type_.row_header);
    std::memcpy(of_file + type_.row_header + block * type_.block_bytes,
                behind_scale + type_.row_header, type_.block_bytes);
}

}  // namespace tandem::kernels::cpu
