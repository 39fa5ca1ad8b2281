// Numbers of BF16 in 12 bits, whatever type they have in the file: nothing is lost, products are
// those of the same weights as they were, and weights that have no room stay so.
#include "kernels/cpu/short_bf16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>

#include "gguf/half.h"
#include "kernels/cpu/loading.h"
#include "kernels/cpu_case.h"
#include "kernels/cpu_product.h"

namespace tandem {
namespace {

using gguf::DType;
namespace cpu = kernels::cpu;

using Row = std::vector<uint16_t>;  // bits of BF16

constexpr DType types[] = {DType::BF16, DType::F16, DType::F32};

uint16_t bf16(float x) { return uint16_t(std::bit_cast<uint32_t>(x) >> 16); }

// Normal weights of a model, and here and there one that is unlike them.
std::vector<Row> model_rows(int64_t count, int64_t columns, bool finite = false) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float unlike[] = {
        -0.0f, 1e-40f, -3e38f, 1e-30f, finite ? 7.0f : infinity, finite ? -1e20f : std::nanf("")};
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, 0.02f);
    std::vector<Row> rows(static_cast<size_t>(count), Row(size_t(columns)));
    for (size_t row = 0; row < rows.size(); ++row) {
        for (uint16_t& weight : rows[row]) weight = bf16(normal(random));
        rows[row][row * 37 % size_t(columns)] = bf16(unlike[row % std::size(unlike)]);
    }
    return rows;
}

// As the file has them. F16 has the nearest ones where it does not reach so far.
std::vector<std::vector<std::byte>> bytes_of(const std::vector<Row>& rows,
                                             DType dtype = DType::BF16) {
    std::vector<std::vector<std::byte>> all;
    for (const Row& row : rows) {
        std::vector<float> numbers;
        for (const uint16_t bits : row) {
            const float number = gguf::bf16_to_f32(bits);
            const bool far = dtype == DType::F16 && std::isfinite(number);
            numbers.push_back(far ? std::clamp(number, -0x1.fep15f, 0x1.fep15f) : number);
        }
        all.emplace_back(size_t(gguf::row_bytes(dtype, std::ssize(row))));
        if (dtype == DType::BF16)
            std::memcpy(all.back().data(), row.data(), all.back().size());
        else
            gguf::encode_row(dtype, numbers, all.back().data());
    }
    return all;
}

using Bits = std::vector<uint32_t>;  // of f32

Bits bits_of(const std::vector<float>& numbers) {
    Bits bits;
    for (const float number : numbers) bits.push_back(std::bit_cast<uint32_t>(number));
    return bits;
}

Bits decoded(const std::vector<std::vector<std::byte>>& rows, DType dtype) {
    Bits all;
    for (const auto& row : rows) {
        std::vector<float> numbers(row.size() / size_t(gguf::row_bytes(dtype, 1)));
        gguf::decode_row(dtype, row.data(), numbers);
        std::ranges::copy(bits_of(numbers), std::back_inserter(all));
    }
    return all;
}

// The group shortened; empty where it cannot be.
std::vector<std::byte> shortened(int lanes, const std::vector<Row>& rows,
                                 DType dtype = DType::BF16) {
    const int64_t columns = std::ssize(rows[0]);
    std::vector<const std::byte*> pointers;
    const auto bytes = bytes_of(rows, dtype);
    for (const auto& row : bytes) pointers.push_back(row.data());
    std::vector<std::byte> plain(size_t(cpu::group_bytes(dtype, lanes, columns)));
    std::vector<std::byte> narrowed(size_t(2 * columns * lanes));
    cpu::pack_group(dtype, lanes, columns, pointers.data(), plain.data());
    std::vector<std::byte> group(size_t(cpu::short_group_bytes(lanes, columns)));
    if (!cpu::narrow(dtype, plain.data() + sizeof(cpu::FloatHead), columns * lanes,
                     narrowed.data()) ||
        !cpu::shorten(lanes, columns, narrowed.data(), group.data()))
        return {};
    return group;
}

TEST(CpuShortBf16, LosesNothing) {
    for (int lanes : {8, 16})
        for (int64_t columns : {8, 640, 2048}) {
            // So few weights have room for none that are unlike the others.
            const auto rows = columns == 8 ? std::vector<Row>(size_t(lanes), Row(8, bf16(-0.5f)))
                                           : model_rows(lanes, columns);
            for (const DType dtype : types) {
                const std::string where = std::string(gguf::name(dtype)) + " " +
                                          std::to_string(lanes) + " " + std::to_string(columns);
                const auto group = shortened(lanes, rows, dtype);
                ASSERT_FALSE(group.empty()) << where;
                EXPECT_EQ(cpu::group_bytes(dtype, lanes, columns, group.data()), std::ssize(group));
                std::vector<float> all(size_t(lanes * columns));
                cpu::decode_rows(dtype, lanes, columns, group.data(), 0, lanes, nullptr,
                                 all.data());
                EXPECT_EQ(bits_of(all), decoded(bytes_of(rows, dtype), dtype)) << where;
            }
        }
}

// Every number of F16 that BF16 has is found, and comes back.
TEST(CpuShortBf16, KnowsNumbersOfOtherTypes) {
    for (int bits = 0; bits < 1 << 16; ++bits) {
        const auto half = uint16_t(bits);
        const float number = gguf::f16_to_f32(half);
        std::byte file[2], narrowed[2];
        std::memcpy(file, &half, 2);
        const bool has = gguf::bf16_to_f32(gguf::f32_to_bf16(number)) == number;
        if (std::isnan(number)) continue;  // which one it is may change
        ASSERT_EQ(cpu::narrow(DType::F16, file, 1, narrowed), has) << number;
        uint16_t bf16;
        std::memcpy(&bf16, narrowed, 2);
        if (has) {
            ASSERT_EQ(gguf::f32_to_f16(gguf::bf16_to_f32(bf16)), half) << number;
        }
    }
    for (const auto& [number, has] : {std::pair{1.0f, true},
                                      {-0.0f, true},
                                      {1e38f, false},
                                      {0x1.fep127f, true},
                                      {0x1p-133f, true},
                                      {0x1p-134f, false},
                                      {1.00390625f, false},
                                      {1.0078125f, true}}) {
        std::byte file[4], narrowed[2];
        std::memcpy(file, &number, 4);
        EXPECT_EQ(cpu::narrow(DType::F32, file, 1, narrowed), has) << number;
    }
}

TEST(CpuShortBf16, TakesThreeQuarters) {
    EXPECT_LT(double(cpu::short_group_bytes(16, 2048)), 0.77 * 16 * 2048 * 2);
}

// 15 upper bytes and 0 have codes, and one of 512 other weights may have another.
TEST(CpuShortBf16, WhatHasNoRoomStaysPlain) {
    constexpr int64_t columns = 512;
    for (const int lanes : {8, 16}) {
        const int most = int(lanes * columns / cpu::weights_per_other);
        std::vector<Row> rows(size_t(lanes), Row(columns, 0x3f80));
        auto weight = [&](int64_t i) -> uint16_t& {
            return rows[size_t(i % lanes)][size_t(i / lanes)];
        };
        for (int i = 0; i < 14 * 20; ++i) weight(i) = uint16_t((1 + i % 14) << 8 | i % 256);
        for (int i = 0; i < most; ++i) {
            weight(lanes * columns - 1 - i) = uint16_t((100 + i) << 8);
            EXPECT_FALSE(shortened(lanes, rows).empty()) << lanes << " " << i;
        }
        weight(lanes * columns - 1 - most) = 0x7f00;
        EXPECT_TRUE(shortened(lanes, rows).empty()) << lanes;
    }
    EXPECT_TRUE(cpu::can_be_short(8, 16));
    EXPECT_FALSE(cpu::can_be_short(8, 12));
}

std::vector<std::vector<float>> tokens_of(int64_t count, int64_t columns) {
    std::mt19937 random(2);
    std::normal_distribution<float> normal;
    std::vector<std::vector<float>> tokens(static_cast<size_t>(count));
    for (auto& token : tokens) {
        token.resize(size_t(columns));
        for (float& x : token) x = normal(random);
    }
    return tokens;
}

void expect_same(const std::vector<float>& y, const std::vector<float>& plain, double rounding,
                 const std::string& where) {
    ASSERT_EQ(y.size(), plain.size()) << where;
    for (size_t i = 0; i < y.size(); ++i) {
        if (std::isfinite(plain[i]))
            EXPECT_NEAR(y[i], plain[i], rounding * (1 + std::abs(double(plain[i]))))
                << where << " " << i;
        else if (std::isnan(plain[i]))
            EXPECT_TRUE(std::isnan(y[i])) << where << " " << i;
        else
            EXPECT_EQ(y[i], plain[i]) << where << " " << i;
    }
}

// How much of its memory a weight takes on a machine when it is loaded.
struct Loaded {
    int64_t taken = 0, most = 0, progress = 0;
    std::vector<std::byte> memory;
    Bits numbers;  // unpacked again
};
using Bytes = std::vector<std::vector<std::byte>>;  // of rows
Loaded load(const test::Machine& machine, const Bytes& rows, DType dtype, int64_t matrices = 1) {
    const cpu::Isa& isa = cpu::find_variant(machine.variant)->isa();
    const std::vector<int> cores(size_t(machine.threads), 0);
    cpu::Team team(cores, true, machine.threads);
    const int64_t row_bytes = std::ssize(rows[0]), count = std::ssize(rows) / matrices;
    const int64_t columns = row_bytes / gguf::row_bytes(dtype, 1);
    const kernels::WeightSource source{
        .dtype = dtype,
        .use = graph::Use::Matrix,
        .matrices = matrices,
        .rows = count,
        .columns = columns,
        .row = [&](int64_t row, std::byte*) { return rows[size_t(row)].data(); }};
    const int64_t most = cpu::packed_bytes(dtype, isa.lanes, matrices, count, columns);
    std::atomic<int64_t> progress = 0;
    Loaded loaded{.most = most};
    std::vector<std::byte>& memory = loaded.memory;
    memory.resize(size_t(most));
    loaded.taken = cpu::load_packed(isa, team, source, memory.data(), progress);
    loaded.progress = progress;
    const int64_t stride = cpu::group_bytes(dtype, isa.lanes, columns, memory.data());
    const int64_t groups = (count + isa.lanes - 1) / isa.lanes;
    std::vector<std::byte> room(static_cast<size_t>(row_bytes));
    std::vector<float> numbers(static_cast<size_t>(columns));
    for (int64_t row = 0; row < matrices * count; ++row) {
        const int64_t group = row / count * groups + row % count / isa.lanes;
        const int lane = int(row % count % isa.lanes);
        cpu::decode_rows(dtype, isa.lanes, columns, &memory[size_t(group * stride)], lane, lane + 1,
                         room.data(), numbers.data());
        std::ranges::copy(bits_of(numbers), std::back_inserter(loaded.numbers));
    }
    return loaded;
}

// In tiles, weights become plain again; in rows, those without codes are added at the end. Some
// groups are plain among short ones.
TEST(CpuShortBf16, ProductsAreThoseOfPlainWeights) {
    constexpr int64_t columns = 1032;
    for (const test::Machine& machine : test::machines()) {
        const cpu::Isa& isa = cpu::find_variant(machine.variant)->isa();
        for (const bool finite : {false, true}) {
            auto rows = model_rows(12 * isa.lanes, columns, finite);
            for (const int row : {3 * isa.lanes + 2, 10 * isa.lanes})
                for (size_t i = 0; i < size_t(columns); ++i)
                    rows[size_t(row)][i] = uint16_t(i % 100 << 8 | i % 7);
            for (const DType dtype : types) {
                const auto bytes = bytes_of(rows, dtype);
                const Loaded loaded = load(machine, bytes, dtype);
                const std::string where = machine.variant + " " + std::string(gguf::name(dtype));
                EXPECT_EQ(loaded.taken < loaded.most, isa.keeps_short_bf16) << where;
                for (const int64_t count : {1, 2, 3, 8, 9, 40})
                    for (const bool tiles : {false, true}) {
                        if (tiles ? count <= 8 : count > 9) continue;
                        // What plain weights of two parts lack of infinity is no number.
                        if (tiles && !finite && dtype == DType::F16 &&
                            isa.reduced == cpu::Reduced::AllTypes)
                            continue;
                        const auto tokens = tokens_of(count, columns);
                        const bool adding = cpu::adds_cheaply();
                        expect_same(
                            test::product_of_packed(isa, dtype, loaded.memory, std::ssize(rows),
                                                    tokens, tiles, adding),
                            test::product_of(isa, dtype, bytes, tokens, tiles, adding),
                            tiles ? 0 : 2e-5, where + (tiles ? " tiles" : " rows"));
                    }
            }
        }
    }
}

// A weight of a model is short, however many groups it has, and takes three quarters.
TEST(CpuShortBf16, WeightsOfModelsAreShort) {
    const auto rows = model_rows(1000, 2048);
    for (const test::Machine& machine : test::machines()) {
        const bool is_short = cpu::find_variant(machine.variant)->isa().keeps_short_bf16;
        EXPECT_EQ(is_short, machine.variant != "portable");
        for (const DType dtype : types) {
            const auto bytes = bytes_of(rows, dtype);
            const Loaded loaded = load(machine, bytes, dtype);
            const double part = dtype == DType::F32 ? 0.39 : 0.78;
            EXPECT_EQ(loaded.taken < part * double(loaded.most), is_short) << machine.variant;
            EXPECT_LE(loaded.taken, loaded.most);
            EXPECT_EQ(loaded.progress, 1000 * std::ssize(bytes[0]));
            EXPECT_EQ(loaded.numbers, decoded(bytes, dtype)) << machine.variant;
        }
    }
}

// A few groups of a stack may be plain; where many must be, all are.
TEST(CpuShortBf16, GroupsWithoutRoomArePlain) {
    auto rows = model_rows(3 * 200, 640);
    auto spoil = [&](size_t row) {
        for (size_t i = 0; i < 640; ++i) rows[row][i] = uint16_t(i % 256 << 8 | i % 7);
    };
    for (const size_t row : {0, 30, 2 * 200 + 190}) spoil(row);
    for (const bool many : {false, true}) {
        for (size_t row = 0; many && row < rows.size(); row += 12) spoil(row);
        for (const DType dtype : types) {
            const auto bytes = bytes_of(rows, dtype);
            for (const test::Machine& machine : test::machines()) {
                const bool is_short = cpu::find_variant(machine.variant)->isa().keeps_short_bf16;
                const Loaded loaded = load(machine, bytes, dtype, 3);
                const std::string where = machine.variant + " " + std::string(gguf::name(dtype));
                EXPECT_EQ(double(loaded.taken) < 0.95 * double(loaded.most), is_short && !many)
                    << where;
                EXPECT_LE(loaded.taken, loaded.most) << where;
                EXPECT_EQ(loaded.progress, 3 * 200 * std::ssize(bytes[0])) << where;
                EXPECT_EQ(loaded.numbers, decoded(bytes, dtype)) << where;
            }
        }
    }
    const auto odd = model_rows(20, 44);
    for (const test::Machine& machine : test::machines())
        for (const DType dtype : types) {
            const auto bytes = bytes_of(odd, dtype);
            const Loaded loaded = load(machine, bytes, dtype);
            EXPECT_EQ(loaded.taken, loaded.most) << machine.variant;
            EXPECT_EQ(loaded.numbers, decoded(bytes, dtype)) << machine.variant;
        }
}

// Where BF16 lacks some numbers of a group it is plain; all are where the first one is, or most.
TEST(CpuShortBf16, GroupsOfOtherNumbersArePlain) {
    struct Rows {
        size_t first, last;
        bool are_many;
    };
    for (const DType dtype : {DType::F16, DType::F32})
        for (const Rows& others :
             {Rows{0, 0, true}, {40, 40, false}, {199, 199, false}, {40, 199, true}}) {
            auto bytes = bytes_of(model_rows(200, 640), dtype);
            for (size_t row = others.first; row <= others.last; ++row)
                bytes[row][4] |= std::byte{1};
            for (const test::Machine& machine : test::machines()) {
                const cpu::Isa& isa = cpu::find_variant(machine.variant)->isa();
                const Loaded loaded = load(machine, bytes, dtype);
                EXPECT_EQ(loaded.taken < loaded.most, isa.keeps_short_bf16 && !others.are_many)
                    << machine.variant;
                EXPECT_EQ(loaded.progress, 200 * std::ssize(bytes[0]));
                EXPECT_EQ(loaded.numbers, decoded(bytes, dtype)) << machine.variant;
            }
        }
}

// Products of devices that load such weights, of which no group is plain, or some, or all.
TEST(CpuShortBf16, DevicesReadEveryKind) {
    for (const DType dtype : types)
        for (const int plain_rows : {0, 3, 200}) {
            test::SmallModel model;
            const graph::Axis k = model.axis("k", 256), n = model.axis("n", 197);
            const graph::Tensor x = model.activation("x", {k});
            std::mt19937 random(3);
            std::normal_distribution<float> normal(0, 0.1f);
            int row = 0;
            const auto fill = [&](std::span<std::byte> bytes) {
                Row weights;
                for (int i = 0; i < 256; ++i) {
                    const float size = row >= 197 - plain_rows ? std::exp2(-float(2 * i % 80)) : 1;
                    weights.push_back(bf16(size * normal(random)));
                }
                std::ranges::copy(bytes_of({weights}, dtype)[0], bytes.begin());
                ++row;
            };
            model.finish(linear(x, model.weight("w", dtype, {n}, {k}, fill)));
            test::expect_close(model, {test::random_step(0, 1), test::random_step(1, 5)},
                               test::bound_of(dtype));
        }
}

}  // namespace
}  // namespace tandem
