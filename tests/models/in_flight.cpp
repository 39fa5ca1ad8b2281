// Executors that go while devices still run what they were given, and devices that fail.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

#include "cli/engine.h"
#include "data.h"
#include "gguf/error.h"
#include "gguf/vectors.h"
#include "kernels/reference/device.h"
#include "models/executor_on.h"
#include "models/golden.h"

namespace tandem::test {
namespace {

using namespace parallel;
using kernels::Recording;

struct Flight {  // between a play and the wait for it
    Recording* recording;
    uint64_t signal;
};

struct LateRecording final : Recording {
    std::unique_ptr<Recording> plain;
    const std::deque<Flight>* flights = nullptr;
    ~LateRecording() override {
        for (const Flight& flight : *flights) EXPECT_NE(flight.recording, this) << flight.signal;
    }
};

// Works like a GPU: play returns at once, and what was played runs until it is waited for.
class LateDevice final : public kernels::ReferenceDevice {
  public:
    LateDevice() : ReferenceDevice("late", int64_t(1) << 40, true) {}

    std::unique_ptr<Recording> record(std::span<const kernels::Launch> launches,
                                      const kernels::Bindings& bindings) override {
        auto recording = std::make_unique<LateRecording>();
        recording->plain = ReferenceDevice::record(launches, bindings);
        recording->flights = &flights_;
        return recording;
    }
    uint64_t play(Recording& recording) override {
        if (refuses) throw Error("late: out of memory");
        flights_.push_back({&recording, ++signal_});
        ++played;
        return signal_;
    }
    void wait(uint64_t value) override {
        for (; !flights_.empty() && flights_.front().signal <= value; flights_.pop_front())
            if (!lost)
                ReferenceDevice::play(
                    *static_cast<LateRecording&>(*flights_.front().recording).plain);
        if (lost) throw Error("late: the device was lost");
    }

    std::atomic<int> played = 0;
    std::atomic<bool> lost = false, refuses = false;

  private:
    std::deque<Flight> flights_;
    uint64_t signal_ = 0;
};

class InFlight : public ::testing::Test {
  protected:
    // The model on so many late devices, all of which have a part of every layer.
    void load_on(size_t devices) {
        options_.plan.mode = "tensor";
        options_.devices.assign(devices, "reference");
        options_.model.context = options_.plan.bucket = int64_t(golden_.tokens.size());
        blueprint_ = cli::make_blueprint(file_, options_);
        for (size_t i = 0; i < devices; ++i) {
            auto device = std::make_unique<LateDevice>();
            late_.push_back(device.get());
            devices_.push_back(std::move(device));
        }
        executor_ = executor_on(devices_, file_, *blueprint_, options_);
    }

    Ticket submit() {
        graph::StepInputs inputs;
        inputs.append(0, 0, golden_.tokens);
        inputs.rows = {0};
        return executor_->submit(std::move(inputs));
    }

    // Nobody takes logits, so that the head of the third step waits for room, its body played.
    void play_a_body() {
        load_on(1);
        for (int step = 0; step < 3; ++step) submit();
        constexpr int bodies_and_heads = 5;
        while (late_[0]->played < bodies_and_heads)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

    const Golden golden_ = read_golden(data("fixtures"), "llama-rope-factors");
    const gguf::File file_ = gguf::File::open(golden_.model);
    cli::EngineOptions options_;
    std::unique_ptr<cli::Blueprint> blueprint_;
    Devices devices_;
    std::vector<LateDevice*> late_;  // the same
    std::unique_ptr<Executor> executor_;
};

TEST_F(InFlight, recordings_outlive_what_runs) {
    play_a_body();
    executor_.reset();
}

TEST_F(InFlight, recordings_outlive_what_was_interrupted) {
    play_a_body();
    executor_->cancel();
    executor_.reset();
}

TEST_F(InFlight, a_lost_device_is_not_waited_for) {
    play_a_body();
    late_[0]->lost = true;
    executor_.reset();
}

// Whoever takes logits may give up: what comes next must not be taken for what it missed.
TEST_F(InFlight, a_sink_that_throws_ends_all_steps) {
    play_a_body();
    const auto full = [](int64_t, std::span<const float>) { throw Error("the disk is full"); };
    for (int step : {0, 1}) {
        try {
            executor_->wait(Ticket(step), step == 0 ? full : Executor::Sink());
            FAIL() << step;
        } catch (const Error& error) {
            EXPECT_STREQ(error.what(), "the disk is full") << step;
        }
    }
}

// Whoever waits hears of it, and nobody waits for what the others will not do.
TEST_F(InFlight, a_device_that_fails_ends_the_others) {
    struct Fault {
        std::atomic<bool> LateDevice::*kind;
        const char* error;
    };
    for (const auto& [kind, error] : {Fault{&LateDevice::lost, "late: the device was lost"},
                                      Fault{&LateDevice::refuses, "late: out of memory"}}) {
        load_on(3);
        executor_->wait(submit());
        late_[1]->*kind = true;
        const Ticket ticket = submit();
        EXPECT_EQ(error_of([&] { executor_->wait(ticket); }), error);
        EXPECT_EQ(error_of([&] { executor_->wait(ticket); }), error) << "again";
        EXPECT_EQ(error_of([&] { submit(); }), error);
        executor_.reset();
        late_.clear();
        devices_.clear();
    }
}

}  // namespace
}  // namespace tandem::test
