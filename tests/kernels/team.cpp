// The threads of a CPU device, and what becomes of them when one has an error.
#include "kernels/cpu/team.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "collectives/watchdog.h"

namespace tandem::kernels::cpu {
namespace {

TEST(Team, WaitsEndWhereAMemberHasAnError) {
    test::Watchdog watchdog;
    for (int members : {1, 2, 3})
        for (int failing = 0; failing < members; ++failing) {
            Team team(std::vector<int>(size_t(members), 0), true);
            auto fails = [&](const Worker& worker) {
                if (worker.index == failing) throw std::runtime_error("out of paper");
                worker.barrier->wait();
                worker.barrier->wait();
            };
            for (bool apart : {false, true}) try {
                    apart ? team.run_apart(fails) : team.run(fails);
                    FAIL() << "the error is lost";
                } catch (const std::runtime_error& error) {
                    EXPECT_STREQ(error.what(), "out of paper");
                }
            // The next task finds all members in place.
            std::atomic<int> met = 0;
            team.run([&](const Worker& worker) {
                ++met;
                worker.barrier->wait();
                EXPECT_EQ(met.load(), members);
            });
        }
}

TEST(Team, DealsEveryPieceOnce) {
    test::Watchdog watchdog;
    for (int members : {1, 2, 3}) {
        Team team(std::vector<int>(size_t(members), 0), true);
        for (int64_t total : {0, 1, 2, 7, 64, 1001}) {
            std::vector<std::atomic<int>> dealt(size_t(total) + 1);
            team.run([&](const Worker& worker) {
                for (int round = 0; round < 3; ++round) {
                    worker.deal(total, [&](int64_t first, int64_t last) {
                        EXPECT_EQ(first % 2, 0);
                        for (int64_t i = first; i < last; ++i) ++dealt[size_t(i)];
                    });
                    worker.barrier->wait();
                }
            });
            for (int64_t i = 0; i < total; ++i) EXPECT_EQ(dealt[size_t(i)].load(), 3) << i;
        }
    }
}

}  // namespace
}  // namespace tandem::kernels::cpu
