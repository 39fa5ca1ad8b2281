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

}  // namespace
}  // namespace tandem::kernels::cpu
