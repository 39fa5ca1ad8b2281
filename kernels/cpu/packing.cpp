#include "kernels/cpu/packing.h"

#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "gguf/error.h"
#include "kernels/cpu/regroup.h"
#include "kernels/cpu/short_bf16.h"

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
constexpr Field q6_0[] = {{2, 2}, {8, 4}, {16, 4}};          // d, high bits, codes
constexpr Field q8_0[] = {{2, 2}, {32, 4}};                  // d, codes
constexpr Field mxfp4[] = {{1, 1}, {16, 4}};                 // e, codes
constexpr Field nvfp4[] = {{4, 4}, {32, 4}};                 // scales, codes
constexpr Field q1_0[] = {{2, 2}, {16, 4}};                  // d, bits
// Those that follow are regrouped or recoded, but for IQ4_XS, IQ1_S, IQ2_XXS and IQ4_K.
constexpr Field q2_0[] = {{2, 2}, {16, 4}};                            // d, codes
constexpr Field tq2_0[] = {{2, 2}, {32, 4}, {2, 2}, {32, 4}};          // twice: d, codes
constexpr auto q2_k = then_8_times({{2, 2}, {2, 2}}, {2, 2}, {8, 4});  // d, dmin; scales, codes
constexpr Field q3_k[] = {{12, 4}, {2, 2}, {96, 4}};                   // scales, d, codes
constexpr Field q4_k[] = {{2, 2}, {2, 2}, {12, 4}, {128, 4}};          // d, dmin, scales, codes
constexpr Field q5_k[] = {{2, 2}, {2, 2}, {12, 4}, {160, 4}};          // likewise
constexpr auto q6_k = then_8_times({{2, 2}}, {2, 2}, {24, 4});         // d; scales, codes
constexpr Field iq4_xs[] = {{2, 2}, {2, 2}, {4, 4}, {128, 4}};         // d, scales high, low, codes
constexpr Field iq1_s[] = {{2, 2}, {32, 4}, {16, 2}};  // d, indices, high bits and scales
constexpr Field iq2_xxs[] = {{2, 2}, {64, 4}};         // d, indices with signs and scales
constexpr Field iq2_xs[] = {{2, 2}, {72, 4}};          // d; scales, indices and signs
constexpr Field iq2_s[] = {{2, 2}, {80, 4}};           // d; high bits, scales, indices and signs
constexpr Field iq3_xxs[] = {{2, 2}, {96, 4}};         // d; indices, signs and scales
constexpr Field iq3_s[] = {{2, 2}, {108, 4}};          // d; high bits, scales, indices and signs
constexpr auto iq1_m = then_8_times({{8, 4}}, {4, 4}, {2, 2});  // scales and d; indices, high bits
// d, which levels are moved, scales, codes.
constexpr Field iq2_k[] = {{2, 2}, {2, 2}, {8, 4}, {64, 4}};
constexpr Field iq3_k[] = {{2, 2}, {2, 2}, {2, 2}, {8, 4}, {96, 4}};  // with signs of scales
constexpr Field iq4_k[] = {{2, 2}, {2, 2}, {12, 4}, {128, 4}};
constexpr Field iq5_k[] = {{2, 2}, {2, 2}, {12, 4}, {160, 4}};
constexpr Field iq6_k[] = {{2, 2}, {2, 2}, {16, 2}, {192, 4}};
// The row's scale, scales with which levels are moved, codes.
constexpr Field iq2_ks[] = {{2, 2}, {2, 2}, {4, 4}, {64, 4}};
constexpr Field iq3_ks[] = {{2, 2}, {2, 2}, {4, 4}, {96, 4}};
constexpr Field iq4_ks[] = {{4, 4}, {8, 4}, {128, 4}};
constexpr Field iq5_ks[] = {{4, 4}, {8, 4}, {160, 4}};
// The row's scale, scales; codes of pairs, their fifth bits.
constexpr auto iq2_kl = then_8_times({{2, 2}, {2, 2}, {4, 4}}, {8, 4}, {2, 2});
// The row's scale, scales; seeds, and their high bits or signs. Of IQ4_KT, scales lie beside seeds.
constexpr auto iq1_kt = then_8_times({{4, 4}, {8, 4}}, {4, 4}, {2, 2});
constexpr Field iq2_kt[] = {{4, 4}, {4, 4}, {64, 4}};
constexpr Field iq3_kt[] = {{4, 4}, {4, 4}, {96, 4}};
constexpr Field iq4_kt[] = {{4, 4}, {128, 4}};

// Those of a packed block.
struct Fields {
    DType dtype;
    std::span<const Field> of_block;
};
constexpr Fields packed_types[] = {
    {DType::F32, f32},       {DType::F16, half},        {DType::BF16, half},
    {DType::Q4_0, q4_0},     {DType::IQ4_NL, q4_0},     {DType::Q4_1, q4_1},
    {DType::Q5_0, q5_0},     {DType::Q5_1, q5_1},       {DType::Q6_0, q6_0},
    {DType::Q8_0, q8_0},     {DType::MXFP4, mxfp4},     {DType::NVFP4, nvfp4},
    {DType::Q1_0, q1_0},     {DType::Q2_0, q2_0},       {DType::TQ1_0, tq2_0},
    {DType::TQ2_0, tq2_0},   {DType::Q2_K, q2_k},       {DType::Q3_K, q3_k},
    {DType::Q4_K, q4_k},     {DType::Q5_K, q5_k},       {DType::Q6_K, q6_k},
    {DType::IQ4_XS, iq4_xs}, {DType::IQ2_XXS, iq2_xxs}, {DType::IQ2_XS, iq2_xs},
    {DType::IQ2_S, iq2_s},   {DType::IQ3_XXS, iq3_xxs}, {DType::IQ3_S, iq3_s},
    {DType::IQ1_S, iq1_s},   {DType::IQ1_M, iq1_m},     {DType::IQ2_K, iq2_k},
    {DType::IQ3_K, iq3_k},   {DType::IQ4_K, iq4_k},     {DType::IQ5_K, iq5_k},
    {DType::IQ6_K, iq6_k},   {DType::IQ2_KS, iq2_ks},   {DType::IQ3_KS, iq3_ks},
    {DType::IQ4_KS, iq4_ks}, {DType::IQ4_KSS, iq4_ks},  {DType::IQ5_KS, iq5_ks},
    {DType::IQ2_KL, iq2_kl}, {DType::IQ1_KT, iq1_kt},   {DType::IQ2_KT, iq2_kt},
    {DType::IQ3_KT, iq3_kt}, {DType::IQ4_KT, iq4_kt},
};

std::span<const Field> fields(DType dtype) {
    for (const Fields& type : packed_types)
        if (type.dtype == dtype) return type.of_block;
    return {};
}

// A block's bytes as runs of units. Elements of their own are one block, as long as the row.
int64_t blocks(DType dtype, int64_t columns) {
    const int64_t block = gguf::traits(dtype).block;
    return block == 1 ? 1 : columns / block;
}

int64_t units(DType dtype, const Field& field, int64_t columns) {
    return gguf::is_plain(dtype) ? columns : field.bytes / field.unit;
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
void pack_block(std::span<const Field> of_block, DType dtype, int64_t columns,
                const std::byte* const* rows, int64_t from, std::byte* to) {
    for (const Field& field : of_block) {
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

// Units of rows [first, last) of a group, back in rows that are `stride` bytes apart.
template <typename Unit>
void separate(const std::byte* group, int lanes, int64_t count, int first, int last, int64_t stride,
              std::byte* rows) {
    for (int64_t u = 0; u < count; ++u, group += lanes * int64_t(sizeof(Unit)))
        for (int lane = first; lane < last; ++lane)
            std::memcpy(rows + (lane - first) * stride + u * int64_t(sizeof(Unit)),
                        group + lane * int64_t(sizeof(Unit)), sizeof(Unit));
}

void unpack_block(std::span<const Field> of_block, DType dtype, int lanes, int64_t columns,
                  const std::byte* group, int first, int last, int64_t stride, std::byte* rows) {
    for (const Field& field : of_block) {
        const int64_t count = units(dtype, field, columns);
        if (field.unit == 4)
            separate<uint32_t>(group, lanes, count, first, last, stride, rows);
        else if (field.unit == 2)
            separate<uint16_t>(group, lanes, count, first, last, stride, rows);
        else
            separate<uint8_t>(group, lanes, count, first, last, stride, rows);
        rows += count * field.unit;
        group += count * field.unit * lanes;
    }
}

// Bytes of a block, packed: as many as in the file, or more where it is regrouped or recoded.
int64_t block_bytes(DType dtype, int64_t columns) {
    int64_t bytes = 0;
    for (const Field& field : fields(dtype)) bytes += units(dtype, field, columns) * field.unit;
    return bytes;
}

template <int lanes>
void pack_rows(DType dtype, int64_t columns, const std::byte* const* rows, std::byte* group) {
    const std::span<const Field> of_block = fields(dtype);
    const int64_t count = blocks(dtype, columns), bytes = block_bytes(dtype, columns);
    const Regrouping regrouping(dtype);
    for (int64_t block = 0; block < count; ++block, group += lanes * bytes) {
        if (regrouping) {
            std::byte regrouped[lanes][most_regrouped];
            const std::byte* all[lanes];
            for (int lane = 0; lane < lanes; ++lane) {
                regrouping.regroup(rows[lane], block, regrouped[lane]);
                all[lane] = regrouped[lane];
            }
            pack_block<lanes>(of_block, dtype, columns, all, 0, group);
        } else {
            pack_block<lanes>(of_block, dtype, columns, rows, block * bytes, group);
        }
    }
}

// In front of a group's blocks.
int64_t head_bytes(DType dtype) { return gguf::is_plain(dtype) ? int64_t(sizeof(FloatHead)) : 0; }

}  // namespace

bool is_packed(DType dtype, graph::Use use) {
    bool matrix = use == graph::Use::Matrix || use == graph::Use::Experts;
    return matrix && !fields(dtype).empty();
}

int64_t group_bytes(DType dtype, int lanes, int64_t columns) {
    return head_bytes(dtype) + lanes * blocks(dtype, columns) * block_bytes(dtype, columns);
}

int64_t group_bytes(DType dtype, int lanes, int64_t columns, const std::byte* first) {
    return gguf::is_plain(dtype) ? head_of(first).next : group_bytes(dtype, lanes, columns);
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
    if (gguf::is_plain(dtype)) group = begin_plain(dtype, lanes, columns, group);
    (lanes == 8 ? pack_rows<8> : pack_rows<16>)(dtype, columns, all.data(), group);
}

std::byte* begin_plain(DType dtype, int lanes, int64_t columns, std::byte* group) {
    const FloatHead head{.next = group_bytes(dtype, lanes, columns), .plain_at = sizeof head};
    std::memcpy(group, &head, sizeof head);
    return group + sizeof head;
}

void unpack_rows(DType dtype, int lanes, int64_t columns, const std::byte* group, int first,
                 int last, std::byte* rows) {
    const Regrouping regrouping(dtype);
    const std::span<const Field> of_block = fields(dtype);
    const int64_t stride = gguf::row_bytes(dtype, columns), bytes = block_bytes(dtype, columns);
    if (gguf::is_plain(dtype)) group += head_of(group).plain_at;
    for (int64_t block = 0; block < blocks(dtype, columns); ++block, group += lanes * bytes) {
        if (!regrouping) {
            unpack_block(of_block, dtype, lanes, columns, group, first, last, stride,
                         rows + block * bytes);
            continue;
        }
        std::byte regrouped[most_regrouped];
        for (int lane = first; lane < last; ++lane) {
            unpack_block(of_block, dtype, lanes, columns, group, lane, lane + 1, 0, regrouped);
            regrouping.ungroup(regrouped, block, rows + (lane - first) * stride);
        }
    }
}

void decode_rows(DType dtype, int lanes, int64_t columns, const std::byte* group, int first,
                 int last, std::byte* room, float* rows) {
    if (gguf::is_plain(dtype) && head_of(group).is_short()) {
        for (int lane = first; lane < last; ++lane, rows += columns)
            lengthen_row(lanes, columns, group, lane, rows);
        return;
    }
    unpack_rows(dtype, lanes, columns, group, first, last, room);
    const int64_t row_bytes = gguf::row_bytes(dtype, columns);
    for (int lane = first; lane < last; ++lane, rows += columns, room += row_bytes)
        gguf::decode_row(dtype, room, {rows, size_t(columns)});
}

}  // namespace tandem::kernels::cpu
