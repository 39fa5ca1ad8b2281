#include "kernels/cpu/packing.h"

#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "gguf/error.h"
#include "kernels/cpu/regroup.h"

namespace tandem::kernels::cpu {

using gguf::DType;

namespace {

// A field of a block, in the order of its bytes.
struct Field {
    int bytes, unit;
};

// Those of a block, and then eight times two fields.
template <size_t count>
constexpr std::array<Field, count + 16> then_8_times(const Field (&front)[count], Field first,
                                                     Field second) {
    std::array<Field, count + 16> all = {};
    for (size_t i = 0; i < count; ++i) all[i] = front[i];
    for (size_t i = 0; i < 16; ++i) all[count + i] = i % 2 == 0 ? first : second;
    return all;
}

constexpr Field f32[] = {{4, 4}}, half[] = {{2, 2}};
constexpr Field q4_0[] = {{2, 2}, {16, 4}};                  // d, codes
constexpr Field q4_1[] = {{2, 2}, {2, 2}, {16, 4}};          // d, m, codes
constexpr Field q5_0[] = {{2, 2}, {4, 4}, {16, 4}};          // d, fifth bits, codes
constexpr Field q5_1[] = {{2, 2}, {2, 2}, {4, 4}, {16, 4}};  // d, m, fifth bits, codes
constexpr Field q8_0[] = {{2, 2}, {32, 4}};                  // d, codes
constexpr Field mxfp4[] = {{1, 1}, {16, 4}};                 // e, codes
// K-quants as they are regrouped.
constexpr auto q2_k = then_8_times({{2, 2}, {2, 2}}, {2, 2}, {8, 4});  // d, dmin; scales, codes
constexpr Field q3_k[] = {{12, 4}, {2, 2}, {96, 4}};                   // scales, d, codes
constexpr Field q4_k[] = {{2, 2}, {2, 2}, {12, 4}, {128, 4}};          // d, dmin, scales, codes
constexpr Field q5_k[] = {{2, 2}, {2, 2}, {12, 4}, {160, 4}};          // likewise
constexpr auto q6_k = then_8_times({{2, 2}}, {2, 2}, {24, 4});         // d; scales, codes
constexpr Field iq4_xs[] = {{2, 2}, {2, 2}, {4, 4}, {128, 4}};         // d, scales high, low, codes
constexpr Field iq1_s[] = {{2, 2}, {32, 4}, {16, 2}};  // d, indices, high bits and scales
constexpr Field iq2_xxs[] = {{2, 2}, {64, 4}};         // d, indices with signs and scales
// These are regrouped, too.
constexpr Field iq2_xs[] = {{2, 2}, {72, 4}};   // d; scales, indices and signs
constexpr Field iq2_s[] = {{2, 2}, {80, 4}};    // d; high bits, scales, indices and signs
constexpr Field iq3_xxs[] = {{2, 2}, {96, 4}};  // d; indices, signs and scales
constexpr Field iq3_s[] = {{2, 2}, {108, 4}};   // d; high bits, scales, indices and signs
constexpr auto iq1_m = then_8_times({{8, 4}}, {4, 4}, {2, 2});  // scales and d; indices, high bits

std::span<const Field> fields(DType dtype) {
    switch (dtype) {
        case DType::F32:
            return f32;
        case DType::F16:
        case DType::BF16:
            return half;
        case DType::Q4_0:
        case DType::IQ4_NL:
            return q4_0;
        case DType::Q4_1:
            return q4_1;
        case DType::Q5_0:
            return q5_0;
        case DType::Q5_1:
            return q5_1;
        case DType::Q8_0:
            return q8_0;
        case DType::MXFP4:
            return mxfp4;
        case DType::Q2_K:
            return q2_k;
        case DType::Q3_K:
            return q3_k;
        case DType::Q4_K:
            return q4_k;
        case DType::Q5_K:
            return q5_k;
        case DType::Q6_K:
            return q6_k;
        case DType::IQ4_XS:
            return iq4_xs;
        case DType::IQ2_XXS:
            return iq2_xxs;
        case DType::IQ2_XS:
            return iq2_xs;
        case DType::IQ2_S:
            return iq2_s;
        case DType::IQ3_XXS:
            return iq3_xxs;
        case DType::IQ3_S:
            return iq3_s;
        case DType::IQ1_S:
            return iq1_s;
        case DType::IQ1_M:
            return iq1_m;
        default:
            return {};
    }
}

// A block's bytes as runs of units. Elements of their own are one block, as long as the row.
int64_t blocks(DType dtype, int64_t columns) {
    const int64_t block = gguf::traits(dtype).block;
    return block == 1 ? 1 : columns / block;
}

int64_t units(DType dtype, const Field& field, int64_t columns) {
    return gguf::traits(dtype).block == 1 ? columns : field.bytes / field.unit;
}

// Unit u of each of the rows, `from` bytes on, becomes units u * lanes and following of the group.
// A line of each row is read at a time: rows whose lengths are powers of two share few places in
// the cache.
template <typename Unit, int lanes>
void interleave(const std::byte* const* rows, int64_t from, int64_t count, std::byte* group) {
    constexpr int64_t line = 64 / sizeof(Unit);
    Unit lines[lanes][line];
    int64_t u = 0;
    for (; u + line <= count; u += line) {
        for (int lane = 0; lane < lanes; ++lane)
            std::memcpy(lines[lane], rows[lane] + from + u * int64_t(sizeof(Unit)), 64);
        for (int64_t i = 0; i < line; ++i)
            for (int lane = 0; lane < lanes; ++lane)
                std::memcpy(group + ((u + i) * lanes + lane) * int64_t(sizeof(Unit)),
                            &lines[lane][i], sizeof(Unit));
    }
    for (; u < count; ++u)
        for (int lane = 0; lane < lanes; ++lane)
            std::memcpy(group + (u * lanes + lane) * int64_t(sizeof(Unit)),
                        rows[lane] + from + u * int64_t(sizeof(Unit)), sizeof(Unit));
}

// The fields of a block of each row, which begins `from` bytes on.
template <int lanes>
void pack_block(DType dtype, int64_t columns, const std::byte* const* rows, int64_t from,
                std::byte* to) {
    for (const Field& field : fields(dtype)) {
        const int64_t count = units(dtype, field, columns);
        if (field.unit == 4)
            interleave<uint32_t, lanes>(rows, from, count, to);
        else if (field.unit == 2)
            interleave<uint16_t, lanes>(rows, from, count, to);
        else
            interleave<uint8_t, lanes>(rows, from, count, to);
        from += count * field.unit;
        to += count * field.unit * lanes;
    }
}

template <int lanes>
void pack_rows(DType dtype, int64_t columns, const std::byte* const* rows, std::byte* group) {
    const int64_t count = blocks(dtype, columns), bytes = gguf::row_bytes(dtype, columns) / count;
    for (int64_t from = 0; from < count * bytes; from += bytes) {
        std::byte* const to = group + from * lanes;
        if (is_regrouped(dtype)) {
            std::byte regrouped[lanes][most_regrouped];
            const std::byte* all[lanes];
            for (int lane = 0; lane < lanes; ++lane) {
                regroup(dtype, rows[lane] + from, regrouped[lane]);
                all[lane] = regrouped[lane];
            }
            pack_block<lanes>(dtype, columns, all, 0, to);
        } else {
            pack_block<lanes>(dtype, columns, rows, from, to);
        }
    }
}

}  // namespace

bool is_packed(DType dtype, graph::Use use) {
    bool matrix = use == graph::Use::Matrix || use == graph::Use::Experts;
    return matrix && !fields(dtype).empty();
}

int64_t group_bytes(DType dtype, int lanes, int64_t columns) {
    return lanes * gguf::row_bytes(dtype, columns);
}

int64_t packed_bytes(DType dtype, int lanes, int64_t matrices, int64_t rows, int64_t columns) {
    return matrices * ((rows + lanes - 1) / lanes) * group_bytes(dtype, lanes, columns);
}

void pack_group(DType dtype, int lanes, int64_t columns, const std::byte* const* rows,
                std::byte* group) {
    std::vector<std::byte> zeros;
    std::vector<const std::byte*> all(rows, rows + lanes);
    for (const std::byte*& row : all)
        if (!row) zeros.resize(size_t(gguf::row_bytes(dtype, columns))), row = zeros.data();
    check(lanes == 8 || lanes == 16, "rows are packed by eight or sixteen");
    (lanes == 8 ? pack_rows<8> : pack_rows<16>)(dtype, columns, all.data(), group);
}

void unpack_row(DType dtype, int lanes, int64_t columns, const std::byte* group, int lane,
                std::byte* row) {
    const int64_t count = blocks(dtype, columns), bytes = gguf::row_bytes(dtype, columns) / count;
    std::byte regrouped[most_regrouped];
    for (int64_t block = 0; block < count; ++block, row += bytes) {
        std::byte* to = is_regrouped(dtype) ? regrouped : row;
        for (const Field& field : fields(dtype))
            for (int64_t u = 0; u < units(dtype, field, columns); ++u) {
                std::memcpy(to, group + int64_t(lane) * field.unit, size_t(field.unit));
                to += field.unit;
                group += int64_t(lanes) * field.unit;
            }
        if (is_regrouped(dtype)) ungroup(dtype, regrouped, row);
    }
}

}  // namespace tandem::kernels::cpu
