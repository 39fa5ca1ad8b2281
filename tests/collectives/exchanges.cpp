// Every kind of exchange over one to eight threads: the sum in rank order, or the ranges side by
// side, bit for bit, in every round.
#include <gtest/gtest.h>

#include <numeric>

#include "gguf/error.h"
#include "trial.h"

namespace tandem::test {
namespace {

using parallel::Exchange;
using parallel::Group;
using parallel::Wire;
constexpr auto sum = Exchange::Kind::Sum, place = Exchange::Kind::Place;
const Wire wires[] = {Wire::F32, Wire::F16, Wire::BF16};

Group first(int devices) {
    Group group(static_cast<size_t>(devices));
    std::iota(group.begin(), group.end(), 0);
    return group;
}

TEST(Exchanges, all_reduce) {
    for (int devices = 1; devices <= 8; ++devices)
        for (Wire wire : wires)
            expect_exchanged({.kind = sum,
                              .sources = first(devices),
                              .receivers = first(devices),
                              .wire = wire});
}

TEST(Exchanges, reduce) {
    for (Wire wire : wires) {
        expect_exchanged({.kind = sum, .sources = {0, 1, 2}, .receivers = {1}, .wire = wire});
        expect_exchanged({.kind = sum, .sources = {0, 1}, .receivers = {2}, .wire = wire});
        // Some have nothing to add, some do not want the sum.
        expect_exchanged({.kind = sum, .sources = {0, 2, 5}, .receivers = {1, 2, 3}, .wire = wire});
    }
}

TEST(Exchanges, all_gather) {
    expect_exchanged(
        {.kind = place, .sources = {0, 1, 2}, .receivers = {0, 1, 2}, .bounds = {0, 1, 7, 10}});
    expect_exchanged({.kind = place,
                      .sources = {0, 1, 2},
                      .receivers = {0, 1, 2, 3},
                      .bounds = {0, 1, 2, 3},
                      .along_middle = true});
    // Eight devices, most with one element.
    expect_exchanged({.kind = place,
                      .sources = first(8),
                      .receivers = first(8),
                      .bounds = {0, 1, 2, 3, 4, 5, 6, 9, 10}});
}

TEST(Exchanges, gather_with_empty_ranges) {
    expect_exchanged(
        {.kind = place, .sources = {0, 1, 2, 3}, .receivers = {4}, .bounds = {0, 0, 6, 6, 10}});
    expect_exchanged({.kind = place,
                      .sources = {1, 2},
                      .receivers = {0},
                      .bounds = {0, 3, 3},
                      .along_middle = true});
}

TEST(Exchanges, send_and_broadcast) {
    expect_exchanged({.kind = place, .sources = {0}, .receivers = {1}});
    expect_exchanged({.kind = place, .sources = {2}, .receivers = {0, 1, 3, 4}});
    expect_exchanged({.kind = sum, .sources = {1}, .receivers = {0, 1, 2}});
}

TEST(Exchanges, fetch) {
    expect_exchanged({.kind = place, .sources = {1}, .to_host = true});
    expect_exchanged({.kind = place,
                      .sources = {0, 1, 2},
                      .to_host = true,
                      .bounds = {0, 1, 6, 10},
                      .wire = Wire::F16});
}

// The wire's type is for addends: ranges and choices travel as they are.
TEST(Exchanges, ids_are_never_rounded) {
    for (Wire wire : wires) {
        expect_exchanged(
            {.kind = place, .sources = {0}, .receivers = {1, 2}, .ids = true, .wire = wire});
        expect_exchanged({.kind = place,
                          .sources = {0, 1},
                          .receivers = {0, 1},
                          .bounds = {0, 2, 3},
                          .along_middle = true,
                          .ids = true,
                          .wire = wire});
    }
}

TEST(Exchanges, several_values_in_one_message) {
    for (Wire wire : wires) {
        expect_exchanged({.kind = sum,
                          .sources = {0, 1, 2},
                          .receivers = {0, 1, 2},
                          .transfers = 3,
                          .wire = wire});
        expect_exchanged({.kind = place,
                          .sources = {0, 1},
                          .receivers = {0, 1},
                          .bounds = {0, 1, 3},
                          .along_middle = true,
                          .transfers = 2,
                          .wire = wire});
    }
}

// Many rounds, everyone late now and then: a device may be two rounds ahead of those that read from
// it, and no further.
TEST(Exchanges, slow_and_fast) {
    for (bool spin : {false, true}) {
        for (uint64_t seed = 1; seed <= 3; ++seed) {
            Trial trial{.kind = sum,
                        .sources = first(4),
                        .receivers = first(4),
                        .sleeps = true,
                        .spin = spin,
                        .rounds = 60,
                        .seed = seed};
            expect_exchanged(trial);
            trial.wire = Wire::F16;
            expect_exchanged(trial);
        }
        expect_exchanged({.kind = place,
                          .sources = {0},
                          .receivers = {1},
                          .sleeps = true,
                          .spin = spin,
                          .rounds = 200});
        expect_exchanged({.kind = place,
                          .sources = {0, 1, 2},
                          .receivers = {2, 3},
                          .bounds = {0, 3, 4, 10},
                          .sleeps = true,
                          .spin = spin,
                          .rounds = 100});
        expect_exchanged({.kind = place,
                          .sources = {0, 1},
                          .to_host = true,
                          .bounds = {0, 3, 10},
                          .sleeps = true,
                          .spin = spin,
                          .rounds = 100});
    }
}

TEST(Exchanges, wires_by_name) {
    EXPECT_EQ(parallel::wire_from_name("f32"), Wire::F32);
    EXPECT_EQ(parallel::wire_from_name("f16"), Wire::F16);
    EXPECT_EQ(parallel::wire_from_name("bf16"), Wire::BF16);
    EXPECT_THROW(parallel::wire_from_name("f8"), Error);
}

}  // namespace
}  // namespace tandem::test
