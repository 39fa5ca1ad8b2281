#include "kernels/cpu/packing.h"

#include <cstring>
#include <span>

#include "gguf/error.h"

namespace tandem::kernels::cpu {

using gguf::DType;

namespace {

// A field of a block, in the order of the block's bytes.
struct Field {
    int bytes, unit;
};

constexpr Field f32[] = {{4, 4}}, half[] = {{2, 2}};
constexpr Field q4_0[] = {{2, 2}, {16, 4}};                    // d, codes
constexpr Field q4_1[] = {{2, 2}, {2, 2}, {16, 4}};            // d, m, codes
constexpr Field q5_0[] = {{2, 2}, {4, 4}, {16, 4}};            // d, fifth bits, codes
constexpr Field q5_1[] = {{2, 2}, {2, 2}, {4, 4}, {16, 4}};    // d, m, fifth bits, codes
constexpr Field q8_0[] = {{2, 2}, {32, 4}};                    // d, codes
constexpr Field mxfp4[] = {{1, 1}, {16, 4}};                   // e, codes
constexpr Field q2_k[] = {{16, 4}, {64, 4}, {2, 2}, {2, 2}};   // scales, codes, d, dmin
constexpr Field q3_k[] = {{32, 4}, {64, 4}, {12, 4}, {2, 2}};  // high bits, codes, scales, d
constexpr Field q4_k[] = {{2, 2}, {2, 2}, {12, 4}, {128, 4}};  // d, dmin, scales, codes
constexpr Field q5_k[] = {{2, 2}, {2, 2}, {12, 4}, {32, 4}, {128, 4}};  // ..., fifth bits, codes
constexpr Field q6_k[] = {{128, 4}, {64, 4}, {16, 4}, {2, 2}};  // low bits, high bits, scales, d
constexpr Field iq4_xs[] = {{2, 2}, {2, 2}, {4, 4}, {128, 4}};  // d, scales high, low, codes

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
        default:
            return {};
    }
}

// Calls move(offset in a stored row, offset in the group, bytes) for the units of one lane.
template <int unit, typename Move>
void each_unit(const Field& field, int lanes, int lane, int64_t& from, int64_t& to, Move move) {
    for (int at = 0; at < field.bytes; at += unit) {
        move(from, to + int64_t(lane) * unit);
        from += unit;
        to += int64_t(lanes) * unit;
    }
}

template <bool packing>
void copy_lane(DType dtype, int lanes, int64_t columns, int lane, std::byte* group,
               std::byte* row) {
    int64_t from = 0, to = 0;
    std::span<const Field> all = fields(dtype);
    auto copy = [&]<int unit>(const Field& field) {
        each_unit<unit>(field, lanes, lane, from, to, [&](int64_t stored, int64_t packed) {
            if constexpr (packing)
                std::memcpy(group + packed, row + stored, unit);
            else
                std::memcpy(row + stored, group + packed, unit);
        });
    };
    for (int64_t block = 0; block < columns / gguf::traits(dtype).block; ++block)
        for (const Field& field : all)
            if (field.unit == 4)
                copy.template operator()<4>(field);
            else if (field.unit == 2)
                copy.template operator()<2>(field);
            else
                copy.template operator()<1>(field);
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
    for (int lane = 0; lane < lanes; ++lane)
        if (!rows[lane]) {
            std::memset(group, 0, size_t(group_bytes(dtype, lanes, columns)));
            break;
        }
    for (int lane = 0; lane < lanes; ++lane)
        if (rows[lane])
            copy_lane<true>(dtype, lanes, columns, lane, group, const_cast<std::byte*>(rows[lane]));
}

void unpack_row(DType dtype, int lanes, int64_t columns, const std::byte* group, int lane,
                std::byte* row) {
    copy_lane<false>(dtype, lanes, columns, lane, const_cast<std::byte*>(group), row);
}

}  // namespace tandem::kernels::cpu
