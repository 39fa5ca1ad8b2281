// BF16 in 12 bits: nothing is lost, products are those of the same weights in 16, and weights that
// have no room stay as they are.
#include "kernels/cpu/short_bf16.h"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/cpu/loading.h"
#include "kernels/cpu_case.h"
#include "kernels/cpu_product.h"

namespace tandem {
namespace {

using gguf::DType;
namespace cpu = kernels::cpu;

using Row = std::vector<uint16_t>;  // bits of BF16

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

std::vector<std::vector<std::byte>> bytes_of(const std::vector<Row>& rows) {
    std::vector<std::vector<std::byte>> all;
    for (const Row& row : rows) {
        all.emplace_back(2 * row.size());
        std::memcpy(all.back().data(), row.data(), all.back().size());
    }
    return all;
}

// The group shortened; empty where it cannot be.
std::vector<std::byte> shortened(int lanes, const std::vector<Row>& rows) {
    const int64_t columns = std::ssize(rows[0]);
    std::vector<const std::byte*> pointers;
    const auto bytes = bytes_of(rows);
    for (const auto& row : bytes) pointers.push_back(row.data());
    std::vector<std::byte> plain(size_t(cpu::group_bytes(DType::BF16, lanes, columns)));
    cpu::pack_group(DType::BF16, lanes, columns, pointers.data(), plain.data());
    std::vector<std::byte> group(size_t(cpu::short_group_bytes(lanes, columns)));
    if (!cpu::shorten(lanes, columns, plain.data() + sizeof(cpu::Bf16Head), group.data()))
        return {};
    return group;
}

TEST(CpuShortBf16, LosesNothing) {
    for (int lanes : {8, 16})
        for (int64_t columns : {8, 640, 2048}) {
            // So few weights have room for none that are unlike the others.
            const auto rows = columns == 8 ? std::vector<Row>(size_t(lanes), Row(8, bf16(-0.5f)))
                                           : model_rows(lanes, columns);
            const auto group = shortened(lanes, rows);
            ASSERT_FALSE(group.empty()) << lanes << " " << columns;
            EXPECT_EQ(cpu::group_bytes(DType::BF16, lanes, columns, group.data()),
                      std::ssize(group));
            std::vector<std::byte> all(size_t(2 * columns * lanes));
            cpu::unpack_rows(DType::BF16, lanes, columns, group.data(), 0, lanes, all.data());
            for (int lane = 0; lane < lanes; ++lane)
                EXPECT_EQ(std::memcmp(&all[size_t(2 * columns * lane)], rows[size_t(lane)].data(),
                                      size_t(2 * columns)),
                          0)
                    << lane;
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
    std::vector<std::byte> memory, rows;  // packed, and unpacked again
};
Loaded load(const test::Machine& machine, const std::vector<Row>& rows, int64_t matrices = 1) {
    const cpu::Isa& isa = cpu::find_variant(machine.variant)->isa();
    const std::vector<int> cores(size_t(machine.threads), 0);
    cpu::Team team(cores, true, machine.threads);
    const int64_t columns = std::ssize(rows[0]), count = std::ssize(rows) / matrices;
    const kernels::WeightSource source{
        .dtype = DType::BF16,
        .use = graph::Use::Matrix,
        .matrices = matrices,
        .rows = count,
        .columns = columns,
        .row = [&](int64_t row, std::byte*) {
            return reinterpret_cast<const std::byte*>(rows[size_t(row)].data());
        }};
    const int64_t most = cpu::packed_bytes(DType::BF16, isa.lanes, matrices, count, columns);
    std::atomic<int64_t> progress = 0;
    Loaded loaded{.most = most};
    std::vector<std::byte>& memory = loaded.memory;
    memory.resize(size_t(most));
    loaded.taken = cpu::load_packed(isa, team, source, memory.data(), progress);
    loaded.progress = progress;
    const int64_t stride = cpu::group_bytes(DType::BF16, isa.lanes, columns, memory.data());
    const int64_t groups = (count + isa.lanes - 1) / isa.lanes;
    for (int64_t row = 0; row < matrices * count; ++row) {
        const int64_t group = row / count * groups + row % count / isa.lanes;
        const int lane = int(row % count % isa.lanes);
        loaded.rows.resize(loaded.rows.size() + size_t(2 * columns));
        cpu::unpack_rows(DType::BF16, isa.lanes, columns, &memory[size_t(group * stride)], lane,
                         lane + 1, &loaded.rows[loaded.rows.size() - size_t(2 * columns)]);
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
            const Loaded loaded = load(machine, rows);
            EXPECT_EQ(loaded.taken < loaded.most, isa.keeps_short_bf16) << machine.variant;
            const auto bytes = bytes_of(rows);
            for (const int64_t count : {1, 2, 3, 8, 9, 40})
                for (const bool tiles : {false, true}) {
                    if (tiles ? count <= 8 : count > 9) continue;
                    const auto tokens = tokens_of(count, columns);
                    const bool crossed = cpu::adds_cheaply();
                    expect_same(test::product_of_packed(isa, DType::BF16, loaded.memory,
                                                        std::ssize(rows), tokens, tiles, crossed),
                                test::product_of(isa, DType::BF16, bytes, tokens, tiles, crossed),
                                tiles ? 0 : 2e-5, machine.variant + (tiles ? " tiles" : " rows"));
                }
        }
    }
}

std::vector<std::byte> joined(const std::vector<Row>& rows) {
    std::vector<std::byte> all;
    for (const auto& row : bytes_of(rows)) all.insert(all.end(), row.begin(), row.end());
    return all;
}

// A weight of a model is short, however many groups it has, and takes three quarters.
TEST(CpuShortBf16, WeightsOfModelsAreShort) {
    const auto rows = model_rows(1000, 2048);
    for (const test::Machine& machine : test::machines()) {
        const bool is_short = cpu::find_variant(machine.variant)->isa().keeps_short_bf16;
        EXPECT_EQ(is_short, machine.variant != "portable");
        const Loaded loaded = load(machine, rows);
        EXPECT_EQ(loaded.taken < 0.78 * double(loaded.most), is_short) << machine.variant;
        EXPECT_LE(loaded.taken, loaded.most);
        EXPECT_EQ(loaded.progress, 1000 * 2048 * 2);
        EXPECT_EQ(loaded.rows, joined(rows)) << machine.variant;
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
        for (size_t row = 0; many && row < rows.size(); row += 33) spoil(row);
        for (const test::Machine& machine : test::machines()) {
            const bool is_short = cpu::find_variant(machine.variant)->isa().keeps_short_bf16;
            const Loaded loaded = load(machine, rows, 3);
            EXPECT_EQ(double(loaded.taken) < 0.95 * double(loaded.most), is_short && !many)
                << machine.variant;
            EXPECT_LE(loaded.taken, loaded.most);
            EXPECT_EQ(loaded.progress, 3 * 200 * 640 * 2);
            EXPECT_EQ(loaded.rows, joined(rows)) << machine.variant;
        }
    }
    const auto odd = model_rows(20, 44);
    for (const test::Machine& machine : test::machines()) {
        const Loaded loaded = load(machine, odd);
        EXPECT_EQ(loaded.taken, loaded.most) << machine.variant;
        EXPECT_EQ(loaded.rows, joined(odd)) << machine.variant;
    }
}

// Products of devices that load such weights, of which no group is plain, or some, or all.
TEST(CpuShortBf16, DevicesReadEveryKind) {
    for (const int plain_rows : {0, 3, 200}) {
        test::SmallModel model;
        const graph::Axis k = model.axis("k", 256), n = model.axis("n", 197);
        const graph::Tensor x = model.activation("x", {k});
        std::mt19937 random(3);
        std::normal_distribution<float> normal(0, 0.1f);
        int row = 0;
        const auto fill = [&](std::span<std::byte> bytes) {
            for (size_t i = 0; i < bytes.size(); i += 2) {
                const float size = row >= 197 - plain_rows ? std::exp2(-float(i % 80)) : 1;
                const uint16_t weight = bf16(size * normal(random));
                std::memcpy(&bytes[i], &weight, 2);
            }
            ++row;
        };
        model.finish(linear(x, model.weight("w", DType::BF16, {n}, {k}, fill)));
        test::expect_close(model, {test::random_step(0, 1), test::random_step(1, 5)},
                           test::bound_of(DType::BF16));
    }
}

}  // namespace
}  // namespace tandem
