#include "cli/interrupts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "gguf/error.h"

namespace tandem::test {

using cli::Interrupts;

namespace {

bool comes_true(const std::function<bool()>& condition) {
    for (int i = 0; i < 1000 && !condition(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return condition();
}

// In the background of a script SIGINT is ignored.
class Interrupting : public ::testing::Test {
  protected:
    void SetUp() override { std::signal(SIGINT, SIG_DFL); }
};

}  // namespace

TEST_F(Interrupting, nothing_happens_without_one) {
    Interrupts interrupts;
    interrupts.act([] { FAIL(); });
    EXPECT_FALSE(interrupts.pending());
}

TEST_F(Interrupting, the_first_calls_the_action) {
    std::atomic<int> calls = 0;
    Interrupts interrupts;
    interrupts.act([&] { ++calls; });
    kill(getpid(), SIGINT);
    EXPECT_TRUE(comes_true([&] { return calls > 0; }));
    EXPECT_TRUE(interrupts.pending());
}

TEST_F(Interrupting, the_first_ends_what_asks_for_it) {
    const auto start = std::chrono::steady_clock::now();
    Interrupts interrupts;
    interrupts.check();
    interrupts.sleep(0.02);
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
    kill(getpid(), SIGINT);
    interrupts.sleep(60);
    EXPECT_THROW(interrupts.check(), Error);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST_F(Interrupting, an_action_that_comes_late_is_called_at_once) {
    int calls = 0;
    Interrupts interrupts;
    kill(getpid(), SIGINT);
    EXPECT_TRUE(comes_true([&] { return interrupts.pending(); }));
    interrupts.act([&] { ++calls; });
    EXPECT_EQ(calls, 1);
    interrupts.act({});
}

TEST_F(Interrupting, the_second_ends_the_process) {
    EXPECT_EXIT(
        {
            Interrupts interrupts;
            kill(getpid(), SIGINT);
            comes_true([&] { return interrupts.pending(); });
            kill(getpid(), SIGINT);
            std::this_thread::sleep_for(std::chrono::seconds(30));
        },
        testing::ExitedWithCode(128 + SIGINT), "");
}

TEST_F(Interrupting, the_first_ends_the_process_where_nothing_asks_for_it) {
    EXPECT_EXIT(
        {
            Interrupts interrupts;
            const cli::EndedByInterrupt ended(interrupts);
            kill(getpid(), SIGTERM);
            std::this_thread::sleep_for(std::chrono::seconds(30));
        },
        testing::ExitedWithCode(128 + SIGTERM), "^interrupted\n$");
}

TEST_F(Interrupting, what_is_ignored_is_none) {
    std::signal(SIGINT, SIG_IGN);
    {
        int calls = 0;
        Interrupts interrupts;
        interrupts.act([&] { ++calls; });
        kill(getpid(), SIGINT);
        interrupts.sleep(0.1);
        EXPECT_FALSE(interrupts.pending());
        kill(getpid(), SIGTERM);
        EXPECT_TRUE(comes_true([&] { return interrupts.pending(); }));
        interrupts.act({});
        EXPECT_EQ(calls, 1);
        EXPECT_EQ(interrupts.exit_code(), 128 + SIGTERM);
    }
    std::signal(SIGINT, SIG_DFL);
}

}  // namespace tandem::test
