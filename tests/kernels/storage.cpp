// Memory of weights: one behind the other, and given back when all of a slab have others.
#include "kernels/storage.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tandem {
namespace {

using kernels::WeightMemory;

constexpr int64_t megabyte = int64_t(1) << 20;

TEST(WeightMemory, WeightsLieOneBehindTheOther) {
    WeightMemory memory;
    std::byte* const first = memory.make(7, 5000);
    std::byte* const second = memory.make(2, 3 * megabyte);
    std::byte* const third = memory.make(9, 1);
    EXPECT_EQ(uintptr_t(first) % 4096, 0u);
    EXPECT_EQ(second, first + 8192);
    EXPECT_EQ(third, second + 3 * megabyte);
    EXPECT_EQ(memory.at(7), first);
    EXPECT_EQ(memory.at(2), second);
    EXPECT_EQ(memory.at(9), third);
}

TEST(WeightMemory, WhatAWeightDoesNotNeedIsForTheNext) {
    WeightMemory memory;
    std::byte* const first = memory.make(0, 3 * megabyte);
    memory.shrink(0, 5000);
    std::byte* const second = memory.make(1, megabyte);
    EXPECT_EQ(second, first + 8192);
    std::byte* const third = memory.make(2, 1);
    memory.shrink(1, 1);  // others are behind it
    EXPECT_EQ(third, second + megabyte);
    EXPECT_EQ(memory.make(3, 1), third + 4096);
}

TEST(WeightMemory, HasRoomForWeightsOfAnySize) {
    WeightMemory memory;
    std::byte* of[6];
    const int64_t bytes[6] = {1, 70 * megabyte, 40 * megabyte, 40 * megabyte, 0, 130 * megabyte};
    for (int i = 0; i < 6; ++i) {
        of[i] = memory.make(i, bytes[i]);
        if (bytes[i] == 0) continue;
        std::memset(of[i], i, 1);
        std::memset(of[i] + bytes[i] - 1, i, 1);
    }
    for (int i = 0; i < 6; ++i) {
        ASSERT_EQ(memory.at(i), of[i]);
        if (bytes[i] == 0) continue;
        EXPECT_EQ(int(of[i][0]), i);
        EXPECT_EQ(int(of[i][bytes[i] - 1]), i);
    }
}

TEST(WeightMemory, AWeightTakesThePlaceOfTheOneBefore) {
    WeightMemory memory;
    for (int round = 0; round < 20; ++round)
        for (int value : {0, 1}) {
            std::byte* const data = memory.make(value, 100 * megabyte);
            data[0] = data[100 * megabyte - 1] = std::byte(round);
            ASSERT_EQ(memory.at(value), data);
            ASSERT_LE(memory.bytes(), 200 * megabyte);
        }
    // Of a slab that others still use, nothing is given back.
    memory.make(2, 1);
    memory.make(3, megabyte);
    const int64_t before = memory.bytes();
    memory.make(3, megabyte);
    EXPECT_EQ(memory.bytes(), before);
}

// Bytes of `memory` that take some of the machine's.
int64_t present(const std::byte* memory, int64_t bytes) {
    const int64_t page = sysconf(_SC_PAGESIZE);
    std::vector<unsigned char> pages(size_t(bytes / page));
    mincore(const_cast<std::byte*>(memory), size_t(bytes), pages.data());
    return std::count(pages.begin(), pages.end(), 1) * page;
}

TEST(WeightMemory, TakesWhatWeightsNeedAndNoMore) {
    WeightMemory memory;
    if (present(memory.make(0, megabyte), megabyte) > 0) GTEST_SKIP() << "the system cannot tell";
    const int64_t bytes[2] = {5 * megabyte, 71 * megabyte}, slabs[2] = {64, 72};
    for (int i : {0, 1}) std::memset(memory.make(i, bytes[i]), 1, size_t(bytes[i]));
    memory.trim();
    for (int i : {0, 1}) {
        EXPECT_EQ(present(memory.at(i), slabs[i] * megabyte), bytes[i]);
        EXPECT_EQ(int(memory.at(i)[bytes[i] - 1]), 1);
    }
    std::memset(memory.make(2, megabyte), 2, size_t(megabyte));  // another one may still come
    EXPECT_EQ(present(memory.at(0), slabs[0] * megabyte), 6 * megabyte);
}

}  // namespace
}  // namespace tandem
