// Shares to bounds: what holds for every input, and the examples of the header.
#include "parallel/apportion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "random.h"

namespace tandem::parallel {
namespace {

using graph::AxisDefinition;
using test::Random;
using Bounds = std::vector<int64_t>;

// Only for cuts that are used within one expression's test.
Cut cut_of(const AxisDefinition& axis, int64_t grain = 1) {
    return {.axis = &axis, .grain = grain};
}

Bounds once(const Cut& cut, const std::vector<double>& shares) {
    std::vector<double> carry(shares.size(), 0.0);
    return apportion(cut, shares, carry);
}

std::vector<double> random_shares(Random& random, size_t devices) {
    std::vector<double> shares(devices, 0.0);
    shares[size_t(random.below(int64_t(devices)))] = random.uniform() + 0.01;
    for (double& share : shares)
        if (random.below(3) > 0) share += random.uniform();
    double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (double& share : shares) share /= sum;
    return shares;
}

bool whole_or_within(const Cut& cut, int64_t begin, int64_t end) {
    int64_t unit = cut.inner->extent;
    return begin == end || (begin % unit == 0 && end % unit == 0) ||
           begin / unit == (end - 1) / unit;
}

void expect_legal(const Cut& cut, const std::vector<double>& shares, const Bounds& bounds) {
    ASSERT_EQ(bounds.size(), shares.size() + 1);
    EXPECT_EQ(bounds.front(), 0);
    EXPECT_EQ(bounds.back(), cut.extent());
    for (size_t i = 0; i < shares.size(); ++i) {
        EXPECT_LE(bounds[i], bounds[i + 1]);
        EXPECT_TRUE(bounds[i] % cut.grain == 0 || bounds[i] == cut.extent()) << bounds[i];
        if (shares[i] == 0) {
            EXPECT_EQ(bounds[i], bounds[i + 1]);
        }
        if (cut.inner) {
            EXPECT_TRUE(whole_or_within(cut, bounds[i], bounds[i + 1]));
        }
    }
}

TEST(Apportion, examples) {
    AxisDefinition ffn{"ffn", 64};
    EXPECT_EQ(once(cut_of(ffn), {0.5, 0.5}), (Bounds{0, 32, 64}));
    EXPECT_EQ(once(cut_of(ffn), {0.75, 0.25}), (Bounds{0, 48, 64}));
    EXPECT_EQ(once(cut_of(ffn), {0.5, 0, 0.5}), (Bounds{0, 32, 32, 64}));
    EXPECT_EQ(once(cut_of(ffn), {0, 1, 0}), (Bounds{0, 0, 64, 64}));
    EXPECT_EQ(once(cut_of(ffn, 32), {0.7, 0.3}), (Bounds{0, 32, 64}));
    EXPECT_EQ(once(cut_of(ffn, 64), {0.7, 0.3}), (Bounds{0, 64, 64}));
    EXPECT_EQ(once(cut_of(ffn, 16), {0.25, 0.25, 0.25, 0.25}), (Bounds{0, 16, 32, 48, 64}));
    AxisDefinition odd{"ffn", 7};
    EXPECT_EQ(once(cut_of(odd), {1.0 / 3, 1.0 / 3, 1.0 / 3}), (Bounds{0, 3, 5, 7}));
}

TEST(Apportion, more_devices_than_heads) {
    AxisDefinition kv_heads{"kv_heads", 2}, q_per_kv{"q_per_kv", 4};
    Cut cut{.axis = &kv_heads, .inner = &q_per_kv};
    EXPECT_EQ(once(cut, std::vector<double>(8, 0.125)), (Bounds{0, 1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(once(cut, std::vector<double>(4, 0.25)), (Bounds{0, 2, 4, 6, 8}));
    EXPECT_EQ(once(cut, {0.5, 0.5}), (Bounds{0, 4, 8}));
    // Three fifths would be one head and a bit of the other: not legal.
    EXPECT_EQ(once(cut, {0.6, 0.4}), (Bounds{0, 4, 8}));
    Bounds three = once(cut, std::vector<double>(3, 1.0 / 3));
    EXPECT_TRUE(three == (Bounds{0, 2, 4, 8}) || three == (Bounds{0, 4, 6, 8}));
}

// An axis of one unit has one owner, and every device its turn.
TEST(Apportion, one_unit_rotates) {
    AxisDefinition ffn{"ffn", 256};
    Cut cut = cut_of(ffn, 256);
    for (const std::vector<double>& shares :
         {std::vector<double>{0.5, 0.5}, {0.75, 0.25}, {0.25, 0.25, 0.5}, {0.5, 0, 0.5}}) {
        std::vector<double> carry(shares.size(), 0.0), owned(shares.size(), 0.0);
        for (int layer = 0; layer < 8; ++layer) {
            Bounds bounds = apportion(cut, shares, carry);
            for (size_t i = 0; i < shares.size(); ++i)
                owned[i] += double(bounds[i + 1] - bounds[i]) / 256;
        }
        for (size_t i = 0; i < shares.size(); ++i) EXPECT_DOUBLE_EQ(owned[i], 8 * shares[i]) << i;
    }
}

TEST(Apportion, holds_for_any_input) {
    Random random(1);
    for (int round = 0; round < 3000; ++round) {
        size_t devices = size_t(random.between(1, 8));
        int64_t grain = random.between(1, 5), units = random.between(1, 40);
        bool alike = random.below(2) == 0;  // layers may differ in width
        std::vector<double> shares = random_shares(random, devices), carry(devices, 0.0);
        double largest_unit = 0;
        std::vector<double> has(devices, 0.0);
        int layers = int(random.between(1, 40));
        for (int layer = 0; layer < layers; ++layer) {
            AxisDefinition axis{"ffn", grain * (alike ? units : random.between(1, units))};
            largest_unit = std::max(largest_unit, double(grain) / double(axis.extent));
            Bounds bounds = apportion(cut_of(axis, grain), shares, carry);
            expect_legal(cut_of(axis, grain), shares, bounds);
            double all = double(axis.extent / grain);
            for (size_t i = 0; i < devices; ++i)  // nobody has more than its share rounded up
                EXPECT_LE(double(bounds[i + 1] - bounds[i]) / double(grain),
                          std::ceil(shares[i] * all + 1e-9));
            for (size_t i = 0; i < devices; ++i)
                has[i] += double(bounds[i + 1] - bounds[i]) / double(axis.extent);
        }
        // Whatever the number of layers, the ratio of all together is met to a unit.
        for (size_t i = 0; i < devices; ++i)
            EXPECT_NEAR(has[i], layers * shares[i], largest_unit + 1e-9)
                << "device " << i << " of " << devices << ", up to " << units << " units";
        if (::testing::Test::HasFailure()) return;
    }
}

// The slowest sets the pace: with equal shares nobody has two units more than another.
TEST(Apportion, equal_shares_stay_equal) {
    for (int64_t units = 1; units <= 20; ++units)
        for (size_t devices = 1; devices <= 8; ++devices) {
            AxisDefinition axis{"kv_heads", 3 * units};
            std::vector<double> shares(devices, 1.0 / double(devices)), carry(devices, 0.0);
            for (int layer = 0; layer < 24; ++layer) {
                Bounds bounds = apportion(cut_of(axis, 3), shares, carry);
                int64_t most = 0;
                for (size_t i = 0; i < devices; ++i)
                    most = std::max(most, bounds[i + 1] - bounds[i]);
                EXPECT_EQ(most, 3 * ((units + int64_t(devices) - 1) / int64_t(devices)))
                    << units << " units on " << devices << ", layer " << layer;
            }
        }
}

TEST(Apportion, holds_within_units) {
    Random random(2);
    for (int round = 0; round < 2000; ++round) {
        size_t devices = size_t(random.between(1, 6));
        AxisDefinition heads{"kv_heads", random.between(1, 4)};
        AxisDefinition queries{"q_per_kv", random.between(2, 6)};
        Cut cut{.axis = &heads, .inner = &queries};
        std::vector<double> shares = random_shares(random, devices), carry(devices, 0.0);
        std::vector<double> has(devices, 0.0);
        int layers = int(random.between(1, 30));
        for (int layer = 0; layer < layers; ++layer) {
            Bounds bounds = apportion(cut, shares, carry);
            expect_legal(cut, shares, bounds);
            for (size_t i = 0; i < devices; ++i)
                has[i] += double(bounds[i + 1] - bounds[i]) / double(cut.extent());
        }
        for (size_t i = 0; i < devices; ++i)
            EXPECT_NEAR(has[i], layers * shares[i], 1.0 / double(heads.extent) + 1e-9)
                << "device " << i << " of " << devices << ", " << heads.extent << " x "
                << queries.extent;
        if (::testing::Test::HasFailure()) return;
    }
}

// Within units, no legal bounds are nearer to the wishes: all of them, one after another.
TEST(Apportion, finds_the_nearest_legal_bounds) {
    Random random(3);
    auto miss = [](const Cut& cut, const std::vector<double>& shares, const Bounds& bounds) {
        double sum = 0;
        for (size_t i = 0; i < shares.size(); ++i) {
            double wish = shares[i] * double(cut.extent());
            double d = double(bounds[i + 1] - bounds[i]) - wish;
            sum += d * d;
        }
        return sum;
    };
    for (int round = 0; round < 300; ++round) {
        AxisDefinition heads{"kv_heads", random.between(1, 3)};
        AxisDefinition queries{"q_per_kv", random.between(2, 4)};
        Cut cut{.axis = &heads, .inner = &queries};
        std::vector<double> shares = random_shares(random, 3);
        double least = std::numeric_limits<double>::infinity();
        int64_t end = cut.extent();
        for (int64_t a = 0; a <= end; ++a)
            for (int64_t b = a; b <= end; ++b) {
                if (!whole_or_within(cut, 0, a) || !whole_or_within(cut, a, b) ||
                    !whole_or_within(cut, b, end))
                    continue;
                if ((shares[0] == 0 && a > 0) || (shares[1] == 0 && b > a) ||
                    (shares[2] == 0 && end > b))
                    continue;
                least = std::min(least, miss(cut, shares, {0, a, b, end}));
            }
        EXPECT_NEAR(miss(cut, shares, once(cut, shares)), least, 1e-9);
    }
}

}  // namespace
}  // namespace tandem::parallel
