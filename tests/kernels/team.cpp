// The threads of a CPU device, and what becomes of them when one has an error.
#include "kernels/cpu/team.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "collectives/watchdog.h"
#include "kernels/host.h"

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

TEST(Team, MembersAreBoundToACoreEachOrToAll) {
    const std::vector<int> cores = usable_cores();
    for (bool shared : {false, true})
        for (int members : {int(cores.size()), 1}) {
            Team team(cores, shared, members);
            EXPECT_EQ(team.size(), members);
            team.run_apart([&](const Worker& worker) {
                const std::vector<int> one = {cores[size_t(worker.index)]};
                const bool each_its_own = members == int(cores.size()) && !shared;
                EXPECT_EQ(usable_cores(), each_its_own ? one : cores);
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
                auto count = [&](const Worker&, Range part) {
                    EXPECT_EQ(part.first % 2, 0);
                    for (int64_t i = part.first; i < part.last; ++i) ++dealt[size_t(i)];
                };
                for (Parts parts : {Parts::Short, Parts::Long, Parts::Short}) {
                    worker.deal(total, 2, count, parts);
                    worker.barrier->wait();
                }
            });
            for (int64_t i = 0; i < total; ++i) EXPECT_EQ(dealt[size_t(i)].load(), 3) << i;
        }
    }
}

TEST(Team, GuestsTakePartsOfWhatIsDealt) {
    test::Watchdog watchdog;
    for (int members : {1, 2}) {
        Team team(std::vector<int>(size_t(members), 0), true);
        Team guests(std::vector<int>(2, 0), true);
        std::atomic<bool> over = false;
        std::thread helping([&] { guests.help(team, [&] { return over.load(); }); });
        constexpr int64_t total = 400;
        constexpr int rounds = 20;
        std::vector<std::atomic<int>> dealt(total);
        std::atomic<int64_t> by_guests = 0;
        std::atomic<bool> first_round = true;
        team.run([&](const Worker& worker) {
            for (int round = 0; round < rounds; ++round) {
                bool dealing = true;  // of this member; a guest works while the first one deals
                worker.deal(total, 2, [&](const Worker& member, Range part) {
                    const bool guest = member.own != worker.own;
                    if (guest && worker.index == 0) {
                        EXPECT_TRUE(dealing);
                        member.scratch(1000)[999] = 1;  // its own
                        by_guests += part.count();
                    }
                    // Once guests have come, parts are left for them.
                    if (round > 0) {
                        EXPECT_LE(part.count(), total / (2 * (members + 1)));
                    }
                    // The members leave a part of the first round to guests.
                    while (!guest && first_round && by_guests == 0) std::this_thread::yield();
                    for (int64_t i = part.first; i < part.last; ++i) ++dealt[size_t(i)];
                });
                dealing = false;
                worker.barrier->wait();
                if (worker.index == 0) first_round = false;
            }
        });
        over = true;
        helping.join();
        EXPECT_GT(by_guests.load(), 0);
        for (const std::atomic<int>& times : dealt) EXPECT_EQ(times.load(), rounds);
    }
}

TEST(Team, AnErrorOfAGuestIsThrownOnBothSides) {
    test::Watchdog watchdog;
    Team team({0}, true), guests({0}, true);
    std::atomic<bool> thrown = false;
    std::thread helping([&] {
        try {
            guests.help(team, [] { return false; });
            ADD_FAILURE() << "the error is lost";
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "out of paper");
        }
        thrown = true;
    });
    auto deals = [&](const Worker& worker) {
        worker.deal(100, 2, [&](const Worker& member, Range) {
            if (member.own != worker.own) throw std::runtime_error("out of paper");
            while (!thrown) std::this_thread::yield();
        });
        worker.barrier->wait();
    };
    // A part is missing: that is an error here, too.
    try {
        team.run(deals);
        ADD_FAILURE() << "the error is lost";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "out of paper");
    }
    helping.join();
    EXPECT_NO_THROW(team.run(deals));
}

// Where its host fails, too, the error of a guest is not thrown by the next work.
TEST(Team, AnErrorOfAGuestEndsWithTheWork) {
    test::Watchdog watchdog;
    Team team({0}, true), guests({0}, true);
    std::atomic<bool> thrown = false;
    std::thread helping([&] {
        EXPECT_THROW(guests.help(team, [] { return false; }), std::runtime_error);
        thrown = true;
    });
    EXPECT_THROW(team.run([&](const Worker& worker) {
        worker.deal(100, 2, [&](const Worker& member, Range) {
            if (member.own == worker.own)
                while (!thrown) std::this_thread::yield();
            throw std::runtime_error("out of paper");
        });
    }),
                 std::runtime_error);
    helping.join();
    EXPECT_NO_THROW(team.run([&](const Worker& worker) {
        worker.deal(100, 2, [](const Worker&, Range) {});
        worker.barrier->wait();
    }));
}

}  // namespace
}  // namespace tandem::kernels::cpu
