// Placing values in memory: nothing that lives at the same time overlaps.
#include "parallel/memory.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "random.h"

namespace tandem::parallel {
namespace {

bool overlap(const Lifetime& a, const Lifetime& b) {
    bool in_time = a.first <= b.last && b.first <= a.last;
    bool in_space = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
    return in_time && in_space;
}

TEST(Memory, never_overlaps) {
    test::Random random(1);
    for (int round = 0; round < 500; ++round) {
        std::vector<Lifetime> values(size_t(random.between(1, 40)));
        int64_t base = random.below(3) * memory_alignment, sum = 0, most = 0;
        for (Lifetime& value : values) {
            value.first = int(random.below(30));
            value.last = value.first + int(random.below(8));
            value.bytes = random.below(1000);
            sum += aligned(value.bytes);
            most = std::max(most, aligned(value.bytes));
        }
        int64_t end = place(values, base);
        for (size_t i = 0; i < values.size(); ++i) {
            EXPECT_EQ(values[i].offset % memory_alignment, 0);
            EXPECT_GE(values[i].offset, base);
            EXPECT_LE(values[i].offset + values[i].bytes, end);
            for (size_t j = 0; j < i; ++j)
                EXPECT_FALSE(overlap(values[i], values[j])) << i << " and " << j;
        }
        EXPECT_LE(end, base + sum);
        EXPECT_GE(end, base + most);
    }
}

TEST(Memory, is_used_again) {
    std::vector<Lifetime> one_after_another{{.first = 0, .last = 1, .bytes = 100},
                                            {.first = 2, .last = 3, .bytes = 128},
                                            {.first = 4, .last = 4, .bytes = 1}};
    EXPECT_EQ(place(one_after_another), 128);
    std::vector<Lifetime> together{{.first = 0, .last = 2, .bytes = 100},
                                   {.first = 2, .last = 3, .bytes = 128},
                                   {.first = 1, .last = 4, .bytes = 1}};
    EXPECT_EQ(place(together, 64), 64 + 128 + 128 + 64);
    std::vector<Lifetime> none;
    EXPECT_EQ(place(none, 192), 192);
}

}  // namespace
}  // namespace tandem::parallel
