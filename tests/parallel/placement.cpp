// Ranges of partitions, those within a unit included.
#include "parallel/placement.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

namespace tandem::parallel {
namespace {

const graph::AxisDefinition kv_heads{"blk.0.kv_heads", 3}, q_per_kv{"blk.0.q_per_kv", 4};
const graph::AxisDefinition embd{"embd", 64};

TEST(Partition, ranges_of_one_axis) {
    Partition partition{.axis = &kv_heads, .group = {1, 4, 6}, .bounds = {0, 2, 2, 3}};
    EXPECT_EQ(partition.range(0, &kv_heads), (Range{0, 2}));
    EXPECT_EQ(partition.range(1, &kv_heads).size(), 0);
    EXPECT_EQ(partition.range(2, &kv_heads), (Range{2, 3}));
    EXPECT_EQ(partition.range(1, &embd), (Range{0, 64}));
    EXPECT_EQ(partition.range(1, &q_per_kv), (Range{0, 4}));
    EXPECT_TRUE(partition.divides(&kv_heads));
    EXPECT_FALSE(partition.divides(&q_per_kv));
    EXPECT_FALSE(partition.divides(nullptr));
    EXPECT_TRUE(partition.empty(1));
    EXPECT_EQ(partition.member(4), 1u);
    EXPECT_THROW(partition.member(0), std::logic_error);
    EXPECT_EQ(partition.owners(), (Group{1, 6}));
    EXPECT_EQ(to_string(partition), "kv_heads 3 = 2 + 0 + 1");
}

// A unit's inside, the rest of it, a whole one, nothing, the last.
TEST(Partition, ranges_within_a_unit) {
    Partition partition{.axis = &kv_heads,
                        .inner = &q_per_kv,
                        .group = {0, 1, 2, 3, 4},
                        .bounds = {0, 1, 4, 8, 8, 12}};
    EXPECT_EQ(partition.range(0, &kv_heads), (Range{0, 1}));
    EXPECT_EQ(partition.range(0, &q_per_kv), (Range{0, 1}));
    EXPECT_EQ(partition.range(1, &kv_heads), (Range{0, 1}));
    EXPECT_EQ(partition.range(1, &q_per_kv), (Range{1, 4}));
    EXPECT_EQ(partition.range(2, &kv_heads), (Range{1, 2}));
    EXPECT_EQ(partition.range(2, &q_per_kv), (Range{0, 4}));
    EXPECT_EQ(partition.range(3, &kv_heads).size(), 0);
    EXPECT_EQ(partition.range(3, &q_per_kv).size(), 0);
    EXPECT_EQ(partition.range(4, &kv_heads), (Range{2, 3}));
    EXPECT_EQ(partition.range(4, &embd), (Range{0, 64}));
    EXPECT_TRUE(partition.divides(&q_per_kv));
    EXPECT_EQ(partition.owners(), (Group{0, 1, 2, 4}));
    EXPECT_EQ(to_string(partition), "kv_heads x q_per_kv 12 = 1 + 3 + 4 + 0 + 4");
}

// Whatever the legal bounds, every (head, query) pair has one owner.
TEST(Partition, every_pair_has_one_owner) {
    size_t tried = 0;
    for (int64_t a = 0; a <= 12; ++a)
        for (int64_t b = a; b <= 12; ++b) {
            auto legal = [](int64_t begin, int64_t end) {
                return begin == end || (begin % 4 == 0 && end % 4 == 0) ||
                       begin / 4 == (end - 1) / 4;
            };
            if (!legal(0, a) || !legal(a, b) || !legal(b, 12)) continue;
            Partition partition{
                .axis = &kv_heads, .inner = &q_per_kv, .group = {0, 1, 2}, .bounds = {0, a, b, 12}};
            std::map<std::pair<int64_t, int64_t>, int> owners;
            for (size_t member = 0; member < 3; ++member) {
                Range heads = partition.range(member, &kv_heads);
                Range queries = partition.range(member, &q_per_kv);
                for (int64_t h = heads.begin; h < heads.end; ++h)
                    for (int64_t q = queries.begin; q < queries.end; ++q) ++owners[{h, q}];
            }
            EXPECT_EQ(owners.size(), 12u) << a << " " << b;
            for (const auto& [pair, times] : owners) EXPECT_EQ(times, 1) << a << " " << b;
            ++tried;
        }
    EXPECT_EQ(tried, 16u);
}

TEST(Group, sets_of_devices) {
    EXPECT_TRUE(contains(Group{0, 2}, 2));
    EXPECT_FALSE(contains(Group{0, 2}, 1));
    EXPECT_TRUE(includes({0, 1, 2}, {0, 2}));
    EXPECT_FALSE(includes({0, 2}, {0, 1}));
    EXPECT_EQ(unite({0, 3}, {1, 3}), (Group{0, 1, 3}));
    EXPECT_EQ(to_string(Group{0, 2}), "{0,2}");
}

TEST(Placement, text) {
    Partition partition{.axis = &kv_heads, .group = {0, 1}, .bounds = {0, 2, 3}};
    EXPECT_EQ(to_string(Placement::replicated({0, 1})), "R{0,1}");
    EXPECT_EQ(to_string(Placement::partial({2})), "P{2}");
    EXPECT_EQ(to_string(Placement::split(&partition)), "S(blk.0.kv_heads)");
    EXPECT_EQ(Placement::split(&partition).group, (Group{0, 1}));
}

}  // namespace
}  // namespace tandem::parallel
