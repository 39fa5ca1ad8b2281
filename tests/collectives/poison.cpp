// After poison every wait throws, wherever it was; and memory that is used twice within a step is
// not written to while others read it.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "gguf/error.h"
#include "net.h"
#include "random.h"
#include "watchdog.h"

namespace tandem::parallel {
namespace {

using test::length;
using test::Net;
using test::Random;
using test::Watchdog;

const Exchange send{.kind = Exchange::Kind::Place, .sources = {0}, .receivers = {1}};
const Exchange back{.kind = Exchange::Kind::Place, .sources = {1}, .receivers = {0}};
const Exchange logits{.kind = Exchange::Kind::Place, .sources = {0}, .to_host = true};

// Two sends of one step from the same memory.
TEST(Reuse, waits_for_the_readers) {
    Watchdog watchdog;
    Net net({send, send}, 2);
    net.prepare(2);
    constexpr uint32_t rounds = 300;
    std::thread source([&] {
        Program program{.items = {net.meetings.at({0, 0}), net.meetings.at({0, 1})}};
        for (uint32_t round = 0; round < rounds; ++round) {
            net.communicator->begin(program, round);
            for (int number : {0, 1}) {
                if (number == 1) net.communicator->reuse(0, round);
                for (float& value : net.sending(0, round)) value = float(2 * round) + float(number);
                net.run(0, number, round);
            }
        }
    });
    Random random(1);
    for (uint32_t round = 0; round < rounds; ++round)
        for (int number : {0, 1}) {
            if (random.below(4) == 0)
                std::this_thread::sleep_for(std::chrono::microseconds(random.below(500)));
            net.run(1, number, round);
            auto* landed = reinterpret_cast<const float*>(net.communicator->landing(1));
            for (int64_t i = 0; i < length; ++i)
                ASSERT_EQ(landed[i], float(2 * round) + float(number)) << round << " " << i;
        }
    source.join();
}

// Runs `wait` in a thread, poisons, and expects that it ends by throwing Poisoned.
void expect_poisoned(Net& net, const std::function<void()>& wait) {
    std::atomic<bool> poisoned = false;
    std::thread waiter([&] {
        try {
            wait();
        } catch (const Poisoned&) {
            poisoned = true;
        }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    net.communicator->poison();
    waiter.join();
    EXPECT_TRUE(poisoned);
}

TEST(Poison, ends_a_wait_for_a_source) {
    Watchdog watchdog;
    Net net({send}, 2);
    net.prepare(2);
    expect_poisoned(net, [&] { net.run(1, 0, 0); });
    // And every later one.
    EXPECT_THROW(net.run(1, 0, 1), Poisoned);
    EXPECT_THROW(net.communicator->reuse(0, 0), Poisoned);
}

TEST(Poison, ends_a_wait_for_readers) {
    Watchdog watchdog;
    Net net({send}, 2);
    net.prepare(2);
    net.run(0, 0, 0);
    expect_poisoned(net, [&] { net.communicator->reuse(0, 0); });
}

TEST(Poison, ends_a_wait_for_a_slot) {
    Watchdog watchdog;
    Net net({send}, 2);
    net.prepare(2);
    Program program{.items = {net.meetings.at({0, 0})}};
    for (uint32_t round : {0, 1}) {
        net.communicator->begin(program, round);
        net.run(0, 0, round);
    }
    expect_poisoned(net, [&] { net.communicator->begin(program, 2); });
}

TEST(Poison, ends_a_fetch) {
    Watchdog watchdog;
    Net net({logits}, 1);
    expect_poisoned(net, [&] { net.communicator->fetch(0, 0, {.tokens = 1, .rows = 1}); });
    EXPECT_THROW(net.communicator->fetch(0, 1, {.tokens = 1, .rows = 1}), Poisoned);
}

// Two devices and the host in full swing; one of them gives up at some point.
TEST(Poison, in_the_middle_ends_everyone) {
    Watchdog watchdog;
    Exchange sum{.sources = {0, 1, 2}, .receivers = {0, 1, 2}};
    for (uint64_t seed = 0; seed < 60; ++seed) {
        Net net({send, sum, back, logits}, 3);
        net.prepare(3);
        uint32_t end = uint32_t(seed % 7);
        int quitter = int(seed % 3);
        std::atomic<int> ended = 0;
        auto work = [&](int device) {
            Program program;
            for (int number = 0; number < 4; ++number)
                program.items.emplace_back(net.meetings.at({device, number}));
            Random random(seed * 8 + uint64_t(device));
            try {
                for (uint32_t round = 0;; ++round) {
                    net.communicator->begin(program, round);
                    for (int number = 0; number < 4; ++number) {
                        if (random.below(16) == 0) std::this_thread::yield();
                        if (device == quitter && round == end && number == int(seed / 7 % 4))
                            net.communicator->poison();
                        net.run(device, number, round);
                    }
                }
            } catch (const Poisoned&) {
                ++ended;
            }
        };
        std::vector<std::thread> threads;
        for (int device : {0, 1, 2}) threads.emplace_back(work, device);
        threads.emplace_back([&] {
            try {
                for (uint32_t round = 0;; ++round)
                    net.communicator->fetch(3, round, {.tokens = 1, .rows = 1});
            } catch (const Poisoned&) {
                ++ended;
            }
        });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(ended, 4) << seed;
    }
}

TEST(Memory, that_is_not_there) {
    Net net({send}, 2);
    EXPECT_THROW(net.communicator->reserve(0, net.memory[0], int64_t(1) << 60, 0), Error);
}

}  // namespace
}  // namespace tandem::parallel
