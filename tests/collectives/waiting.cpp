// How long a device waited is told apart from what its exchange took.
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "net.h"
#include "watchdog.h"

namespace tandem::parallel {
namespace {

using std::chrono::milliseconds;
using test::Net;
using test::Watchdog;

// Runs device 1 first and device 0 later: how long each says that it waited.
std::array<std::chrono::nanoseconds, 2> waits(const Exchange& exchange) {
    Watchdog watchdog;
    Net net({exchange}, 2);
    net.prepare(2);
    std::array<std::chrono::nanoseconds, 2> waited{};
    std::atomic<bool> comes = false;
    std::thread first([&] {
        comes = true;
        waited[1] = net.run(1, 0, 0);
    });
    while (!comes) std::this_thread::yield();
    std::this_thread::sleep_for(milliseconds(100));
    waited[0] = net.run(0, 0, 0);
    first.join();
    return waited;
}

TEST(Waiting, is_for_who_comes_later) {
    for (const Exchange& exchange :
         {Exchange{.sources = {0, 1}, .receivers = {0, 1}},
          Exchange{.kind = Exchange::Kind::Place, .sources = {0}, .receivers = {1}}}) {
        const auto [later, earlier] = waits(exchange);
        EXPECT_EQ(later.count(), 0);
        EXPECT_GT(earlier, milliseconds(20));
        EXPECT_LT(earlier, milliseconds(5000));
    }
}

TEST(Waiting, is_not_for_who_takes_nothing) {
    const auto [later, earlier] =
        waits({.kind = Exchange::Kind::Place, .sources = {1}, .receivers = {0}});
    EXPECT_EQ(later.count(), 0);
    EXPECT_EQ(earlier.count(), 0);
}

}  // namespace
}  // namespace tandem::parallel
