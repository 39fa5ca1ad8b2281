// A step that ends early has no result: nothing that a device left half done is taken for one.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "cli/engine.h"
#include "data.h"
#include "gguf/error.h"
#include "models/golden.h"
#include "parallel/communicator/host.h"
#include "parallel/load.h"

namespace tandem::test {
namespace {

using namespace parallel;

// Whoever ends a run is held up as soon as it has begun to.
class SlowToPoison final : public Communicator {
  public:
    explicit SlowToPoison(const cli::Blueprint& blueprint)
        : host_(blueprint.placed, blueprint.devices.size(), Wire::F32, false) {}

    void reserve(int number, kernels::Device& device, int64_t sending, int64_t landing) override {
        host_.reserve(number, device, sending, landing);
    }
    std::byte* sending(int device, int slot) override { return host_.sending(device, slot); }
    std::byte* landing(int device) override { return host_.landing(device); }
    void begin(const Program& program, uint32_t sequence) override {
        host_.begin(program, sequence);
    }
    void reuse(int exchange, uint32_t sequence) override { host_.reuse(exchange, sequence); }
    std::chrono::nanoseconds run(int device, const Meeting& meeting, uint32_t sequence,
                                 Counts counts) override {
        return host_.run(device, meeting, sequence, counts);
    }
    std::span<const float> fetch(int exchange, uint32_t sequence, Counts counts) override {
        return host_.fetch(exchange, sequence, counts);
    }
    void poison() override {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        host_.poison();
    }

  private:
    HostCommunicator host_;
};

class Interrupted : public ::testing::Test {
  protected:
    Interrupted() {
        options_.devices = {"reference", "reference"};
        options_.plan.mode = "tensor";
        options_.model.context = options_.plan.bucket = int64_t(golden_.tokens.size());
        blueprint_ = cli::make_blueprint(file_, options_);
        std::atomic<int64_t> progress = 0;
        const std::atomic<bool> cancelled = false;
        load(file_, *blueprint_->graph, blueprint_->plan, blueprint_->devices, progress, cancelled);
    }
    std::unique_ptr<Executor> executor() const {
        return std::make_unique<Executor>(
            blueprint_->placed, blueprint_->devices, blueprint_->programs,
            std::make_unique<SlowToPoison>(*blueprint_), options_.plan.bucket);
    }
    // The logits of some steps of one prompt each, up to the last that came.
    std::vector<float> logits(Executor& executor) const {
        std::vector<float> all;
        try {
            for (int step = 0; step < 4; ++step) {
                graph::StepInputs inputs;
                inputs.append(0, 0, golden_.tokens);
                for (size_t i = 0; i < golden_.tokens.size(); ++i)
                    inputs.rows.push_back(int32_t(i));
                executor.wait(executor.submit(std::move(inputs)),
                              [&](int64_t, std::span<const float> rows) {
                                  all.insert(all.end(), rows.begin(), rows.end());
                              });
            }
        } catch (const Error& error) {
            EXPECT_STREQ(error.what(), "interrupted");
        }
        return all;
    }

    const Golden golden_ = read_golden(data("fixtures"), "llama-rope-factors");
    const gguf::File file_ = gguf::File::open(golden_.model);
    cli::EngineOptions options_;
    std::unique_ptr<cli::Blueprint> blueprint_;
};

TEST_F(Interrupted, steps_have_no_result) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const std::vector<float> all = logits(*executor());
    const auto time = Clock::now() - start;
    ASSERT_FALSE(all.empty());
    int early = 0;
    for (int part = 1; part < 8; ++part) {
        const auto interrupted = executor();
        std::thread interrupting([&] {
            std::this_thread::sleep_for(time * part / 8);
            interrupted->cancel();
        });
        const std::vector<float> some = logits(*interrupted);
        interrupting.join();
        ASSERT_LE(some.size(), all.size());
        EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin())) << part;
        early += some.size() < all.size();
    }
    EXPECT_GT(early, 0);
}

}  // namespace
}  // namespace tandem::test
