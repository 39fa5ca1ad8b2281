// What the time of a test goes into.
#include <gtest/gtest.h>

#include "cli/bench/measurement.h"
#include "cli/bench/profile.h"
#include "kernels/vulkan.h"
#include "tools/tiny.h"

namespace tandem::cli {
namespace {

TEST(Profile, counts_what_a_test_does) {
    const test::Folder folder;
    const gguf::File file = test::make_tiny(folder, "Q8_0");
    EngineOptions options{.devices = {"cpu"}, .timed = true};
    options.model.context = options.plan.context = 32;
    options.plan.bucket = 8;
    Engine engine(file, options);
    Subject subject{engine.executor(), first_token(file.metadata())};
    const Case test{.step = 8, .prompt = 8, .generated = 2, .depth = 4};
    engine.executor().take_times();
    run_prompt(subject, test);
    const auto times = engine.executor().take_times();
    ASSERT_EQ(times.size(), 1u);
    const Phase phase{.name = "prompt", .tokens = 8, .depth = 4, .seconds = 1};
    const Profile profile = make_profile(times[0], engine.blueprint(), 0, phase);
    ProfileRow sum;
    for (const ProfileRow& row : profile.rows) {
        EXPECT_GT(row.calls, 0) << row.name;
        EXPECT_GE(row.seconds, 0) << row.name;
        sum.bytes += row.bytes;
        sum.multiply_adds += row.multiply_adds;
        sum.float_multiply_adds += row.float_multiply_adds;
    }
    // All together is what the limit of the whole test is made of.
    const auto work = work_of(*engine.blueprint().graph, engine.blueprint().plan, 1)[0];
    EXPECT_DOUBLE_EQ(sum.multiply_adds,
                     8 * (work.body.multiply_adds + (4 + 4) * work.body.cached_multiply_adds) +
                         work.head.multiply_adds);
    EXPECT_DOUBLE_EQ(sum.float_multiply_adds, 8 * (4 + 4) * work.body.cached_multiply_adds);
    EXPECT_DOUBLE_EQ(sum.bytes,
                     work.body.bytes + (4 + 8) * work.body.cached_bytes + work.head.bytes);
    // Nothing is told twice.
    EXPECT_TRUE(engine.executor().take_times()[0].launches.empty());
}

// A GPU's timestamps, each play's before the next overwrites them.
TEST(Profile, tells_times_of_vulkan_devices) {
    if (kernels::vulkan_adapters().list.empty()) GTEST_SKIP() << kernels::vulkan_adapters().absence;
    const test::Folder folder;
    const gguf::File file = test::make_tiny(folder, "Q8_0");
    EngineOptions options{.devices = {"vulkan0"}, .timed = true};
    options.model.context = options.plan.context = 32;
    options.plan.bucket = 8;
    Engine engine(file, options);
    Subject subject{engine.executor(), first_token(file.metadata())};
    run_generation(subject, {.generated = 1});  // a driver may compile what it runs first
    engine.executor().take_times();
    double before = 0;
    for (const int64_t tokens : {2, 16}) {
        run_generation(subject, {.generated = tokens});
        double sum = 0;
        const auto times = engine.executor().take_times();
        for (const auto& launch : times[0].launches) {
            EXPECT_GE(launch.time.working, 0) << launch.launch->kernel->name;
            sum += double(launch.time.working) * 1e-9;
        }
        EXPECT_GT(sum, before) << tokens;
        before = sum;
    }
}

TEST(Profile, is_a_table) {
    const Profile profile{.device = "cpu:0",
                          .rows = {{.name = "linear Q4_K",
                                    .calls = 48,
                                    .seconds = 0.5,
                                    .waiting = 0.25,
                                    .bytes = 1e9,
                                    .multiply_adds = 4e9},
                                   {.name = "glu", .calls = 16, .seconds = 0.125}},
                          .seconds = 1};
    EXPECT_EQ(to_string(profile, {.name = "prompt", .tokens = 8},
                        {.bytes_per_second = 4e9, .multiply_adds_per_second = 16e9}),
              R"(
prompt of 8 on cpu:0

limits: 4.0 GB/s, 16.0 GMAC/s

| operation                    |   calls |         ms |   share |  barrier |    GB/s |  limit |   GMAC/s |  limit |
| ---------------------------- | ------: | ---------: | ------: | -------: | ------: | -----: | -------: | -----: |
| linear Q4_K                  |      48 |     500.00 |  50.0 % |   250.00 |    2.00 |   50 % |     8.00 |   50 % |
| glu                          |      16 |     125.00 |  12.5 % |     0.00 |         |        |          |        |
| barriers                     |         |     250.00 |  25.0 % |          |         |        |          |        |
| between runs of launches     |         |     125.00 |  12.5 % |          |         |        |          |        |
| all                          |         |    1000.00 | 100.0 % |          |         |        |          |        |
)");
}

}  // namespace
}  // namespace tandem::cli
