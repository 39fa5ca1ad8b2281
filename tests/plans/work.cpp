// The work of attention for one token, counted by hand.
#include "parallel/work.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models.h"

namespace tandem::test {
namespace {

using namespace parallel;

// Of body and head on every device.
std::vector<Work> works(const std::string& fixture, size_t devices,
                        const model::Options& options = {}) {
    std::vector<Work> all;
    with_model(fixture, [&](const gguf::File& file) {
        const Planned planned =
            plan_on(model::build(file, options), equal_devices(devices), {.mode = "tensor"});
        for (const DeviceWork& device : work_of(*planned.graph, planned.plan, devices)) {
            all.push_back(device.body);
            all.back() += device.head;
        }
    });
    return all;
}

double sum(const std::vector<Work>& works, double Work::*number) {
    double sum = 0;
    for (const Work& work : works) sum += work.*number;
    return sum;
}

// 4 blocks of 8 heads: each meets a latent of 64, which is the value, too, and a rotary key of 16.
TEST(Work, of_latent_attention) {
    constexpr double of_head = 64 + 16 + 64;  // in one block
    for (const size_t devices : {1, 2, 3, 8}) {
        const std::vector<Work> all = works("deepseek2-lite", devices);
        EXPECT_EQ(sum(all, &Work::cached_multiply_adds), 4 * 8 * of_head) << devices;
        for (const Work& work : all) {
            EXPECT_EQ(std::fmod(work.cached_multiply_adds, of_head), 0) << devices;
            EXPECT_EQ(work.cached_bytes, 4 * (64 + 16) * 2) << "all have the one key head in f16";
        }
    }
}

// 4 blocks of 8 heads with keys and values of 32, two heads for each of 4 key heads. Two devices
// that share a key head both read it, and each has queries of its own.
TEST(Work, of_heads_that_devices_share) {
    constexpr double of_head = 4 * (32 + 32);
    for (const size_t devices : {1, 2, 3, 4, 5, 8}) {
        const std::vector<Work> all = works("llama-yarn-bf16", devices);
        EXPECT_EQ(sum(all, &Work::cached_multiply_adds), 8 * of_head) << devices;
        EXPECT_EQ(sum(all, &Work::cached_float_multiply_adds), 8 * of_head) << devices;
    }
    for (const Work& work : works("llama-yarn-bf16", 8)) {
        EXPECT_EQ(work.cached_multiply_adds, of_head);
        EXPECT_EQ(work.cached_bytes, 4 * (32 + 32) * 2);
    }
    // Devices without a head have nothing to do with the cache.
    const std::vector<Work> nine = works("llama-yarn-bf16", 9);
    EXPECT_EQ(sum(nine, &Work::cached_multiply_adds), 8 * of_head);
    EXPECT_EQ(sum(nine, &Work::cached_bytes), 8 * 4 * (32 + 32) * 2);
}

// Of 4 blocks, 2 look back on 16 tokens and 2 on all: 8 heads of 32. However many tokens a step has
// and a ring holds beside them, a token meets those in its window.
TEST(Work, of_windows) {
    constexpr double of_cell = 2 * 8 * (32 + 32), bytes_of_cell = 2 * 4 * (32 + 32) * 2;
    for (const size_t devices : {1, 3, 8}) {
        const auto whole = works("gpt-oss-mxfp4", devices, {.context = 512, .step = 1});
        EXPECT_EQ(sum(whole, &Work::cached_multiply_adds), of_cell) << devices;
        for (const int64_t step : {64, 512}) {
            const auto all = works("gpt-oss-mxfp4", devices, {.context = 512, .step = step});
            for (auto number : {&Work::bytes, &Work::multiply_adds, &Work::float_multiply_adds})
                EXPECT_EQ(sum(all, number), sum(whole, number)) << devices << ", " << step;
        }
        // A context of 6 tokens is all that a window can see: 10 fewer.
        const auto early = works("gpt-oss-mxfp4", devices, {.context = 6, .step = 1});
        for (auto number : {&Work::multiply_adds, &Work::float_multiply_adds})
            EXPECT_EQ(sum(whole, number) - sum(early, number), 10 * of_cell) << devices;
        if (devices > 1) continue;  // those that share a key head both read it
        EXPECT_EQ(sum(whole, &Work::bytes) - sum(early, &Work::bytes), 10 * bytes_of_cell);
    }
}

struct Counted {
    const char* model;
    double full, windowed;  // multiply-adds with one cell of all blocks: blocks * heads * elements
};

// However the heads are divided, together they do what one device would.
TEST(Work, of_all_devices_is_that_of_one) {
    constexpr Counted models[] = {
        {"deepseek-v3-q4_k_m", 61 * 128 * (512 + 64 + 512), 0},
        {"kimi-linear-48b-q4_k_m", 7 * 32 * (512 + 64 + 512), 0},
        {"gpt-oss-20b-mxfp4", 12 * 64 * (64 + 64), 12 * 64 * (64 + 64)},
        {"gpt-oss-120b-mxfp4", 18 * 64 * (64 + 64), 18 * 64 * (64 + 64)},
        {"gemma3", 2 * 8 * (32 + 32), 4 * 8 * (32 + 32)},
        {"gemma4-dense", 2 * 8 * (64 + 64), 4 * 8 * (32 + 32)},
        {"gemma4-26b-q4_k_m", 5 * 16 * (512 + 512), 25 * 16 * (256 + 256)},
        {"qwen3-next-80b-q4_k_m", 12 * 16 * (256 + 256), 0},
        {"qwen3-235b-a22b-q4_k_m", 94 * 64 * (128 + 128), 0},
        {"glm4", 4 * 8 * (32 + 32), 0},
        {"qwen2", 4 * 4 * (32 + 32), 0},
    };
    for (const Counted& counted : models)
        for (const size_t devices : {1, 8}) {
            SCOPED_TRACE(counted.model + std::string(" on ") + std::to_string(devices));
            const auto all = works(counted.model, devices, {.context = 16});
            EXPECT_EQ(sum(all, &Work::cached_multiply_adds), counted.full);
            const auto fewer = works(counted.model, devices, {.context = 15});
            EXPECT_NEAR(sum(all, &Work::multiply_adds) - sum(fewer, &Work::multiply_adds),
                        counted.windowed, 1e-3);
        }
}

}  // namespace
}  // namespace tandem::test
