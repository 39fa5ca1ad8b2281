// A device that waits for another helps it, where there is something to help with.
#include <gtest/gtest.h>

#include <thread>

#include "net.h"
#include "watchdog.h"

namespace tandem::parallel {
namespace {

using test::length;
using test::Net;
using test::Watchdog;

const Exchange sum{.sources = {0, 1}, .receivers = {0, 1}};

// Runs device 1 of a sum of two first, then device 0 once `ready`.
void run(Net& net, int64_t tokens, const std::function<bool()>& ready) {
    for (int device : {0, 1})
        for (float& value : net.sending(device, 0)) value = float(device + 1);
    std::thread waiter([&] { net.run(1, 0, 0, tokens); });
    while (!ready()) std::this_thread::yield();
    net.run(0, 0, 0, tokens);
    waiter.join();
    for (int device : {0, 1}) {
        auto* landed = reinterpret_cast<const float*>(net.communicator->landing(device));
        for (int64_t i = 0; i < length; ++i) ASSERT_EQ(landed[i], 3) << device << " " << i;
    }
}

TEST(Help, comes_from_who_waits_for_a_prompt) {
    Watchdog watchdog;
    Net net({sum}, 2);
    net.prepare(2);
    std::atomic<int> helping = 0;
    net.memory[1].helps = [&](kernels::Device& other, const std::function<bool()>& done) {
        EXPECT_EQ(&other, &net.memory[0]);
        ++helping;
        while (!done()) std::this_thread::yield();
    };
    net.memory[0].helps = [&](kernels::Device&, const std::function<bool()>&) {
        ADD_FAILURE() << "nobody is late";
    };
    run(net, 64, [&] { return helping == 1; });
    EXPECT_EQ(helping, 1);
}

TEST(Help, is_not_worth_it_for_few_tokens) {
    Watchdog watchdog;
    Net net({sum}, 2);
    net.prepare(2);
    for (auto& memory : net.memory)
        memory.helps = [&](kernels::Device&, const std::function<bool()>&) {
            ADD_FAILURE() << "few tokens are reading, not arithmetic";
        };
    run(net, 4, [] { return true; });
}

TEST(Help, ends_with_poison) {
    Watchdog watchdog;
    Net net({sum}, 2);
    net.prepare(2);
    std::atomic<bool> helping = false, poisoned = false;
    net.memory[1].helps = [&](kernels::Device&, const std::function<bool()>& done) {
        helping = true;
        while (!done()) std::this_thread::yield();
    };
    std::thread waiter([&] {
        try {
            net.run(1, 0, 0, 64);
        } catch (const Poisoned&) {
            poisoned = true;
        }
    });
    while (!helping) std::this_thread::yield();
    net.communicator->poison();
    waiter.join();
    EXPECT_TRUE(poisoned);
}

}  // namespace
}  // namespace tandem::parallel
