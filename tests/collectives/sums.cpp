// Long values travel and are added in pieces, by several threads; that changes no bit.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/devices.h"
#include "parallel/communicator/box.h"
#include "random.h"

namespace tandem::test {
namespace {

using parallel::Wire;
using Floats = std::vector<float>;

const std::byte* bytes(const Floats& floats) {
    return reinterpret_cast<const std::byte*>(floats.data());
}

TEST(Sums, of_long_values_are_made_in_rank_order) {
    constexpr int64_t length = 5000, first = 3, end = 4999;
    Random random(1);
    const Floats addends[] = {random.floats(length), random.floats(length), random.floats(length)};
    Floats expected(length, 7), sum = expected;
    for (int64_t i = first; i < end; ++i)
        expected[size_t(i)] = addends[0][size_t(i)] + addends[1][size_t(i)] + addends[2][size_t(i)];
    const std::byte* list[] = {bytes(addends[0]), bytes(addends[1]), bytes(addends[2])};
    parallel::add_up(Wire::F32, list, sum.data(), first, end);
    EXPECT_EQ(sum, expected);
}

TEST(Sums, are_divided_without_gaps) {
    for (const char* name : {"reference", "cpu"})
        for (int64_t count : {0, 1, 1000}) {
            const auto device = std::move(kernels::make_devices({name})[0]);
            std::vector<int> visits(size_t(count), 0);
            device->divide(count, [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) ++visits[size_t(i)];
            });
            EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), count) << name;
        }
}

}  // namespace
}  // namespace tandem::test
