// Measuring devices, as far as numbers that differ from run to run can be tested.
#include <gtest/gtest.h>

#include <fstream>

#include "cli/engine.h"
#include "cli/measure/cached.h"
#include "cli/measure/probe.h"
#include "cli/measure/speeds.h"
#include "cli/synth/model.h"
#include "gguf/folder.h"
#include "gguf/writer.h"

namespace tandem::cli {
namespace {

TEST(Measure, a_table_is_complete) {
    std::vector<std::string> said;
    const parallel::DeviceTable table = measure_table(
        {"reference", "reference"}, {}, [&](const std::string& text) { said.push_back(text); });
    ASSERT_EQ(table.size(), 2u);
    for (const parallel::DeviceRow& row : table.devices) {
        EXPECT_EQ(row.name, "reference");
        EXPECT_EQ(row.rounding, "reference");
        EXPECT_GT(row.free_bytes, 0);
        EXPECT_GT(row.bytes_per_second, 1e6);
        EXPECT_GT(row.multiply_adds_per_second, 1e6);
    }
    EXPECT_GT(table.links[0][1].seconds, 1e-8);
    EXPECT_LT(table.links[0][1].seconds, 1);
    EXPECT_GT(table.links[1][0].bytes_per_second, 1e6);
    EXPECT_EQ(said, (std::vector<std::string>{"how fast weights are read and multiplied",
                                              "exchanges between reference and reference"}));
}

TEST(Measure, limits_add_up_over_the_devices) {
    const kernels::Limits limits = measure_limits({"reference", "reference"}, {});
    EXPECT_GT(limits.bytes_per_second, 1e6);
    EXPECT_GT(limits.multiply_adds_per_second, 1e6);
}

TEST(Measure, a_cpu_has_a_rate_for_floats) {
    const kernels::Limits limits = measure_limits({"cpu"}, {.threads = 1});
    EXPECT_GT(limits.float_multiply_adds_per_second, 1e6);
    EXPECT_GT(limits.multiply_adds_per_second, 1e6);
}

TEST(Measure, what_was_measured_is_kept) {
    const test::Folder folder;
    const MeasuredDevices devices{.names = {"reference", "reference"}, .folder = folder / "cache"};
    int said = 0;
    const Say say = [&](const std::string&) { ++said; };
    const kernels::Limits first = limits_of(devices, false, say);
    const kernels::Limits again = limits_of(devices, false, say);
    EXPECT_EQ(said, 1);
    EXPECT_DOUBLE_EQ(again.bytes_per_second, first.bytes_per_second);
    EXPECT_DOUBLE_EQ(again.multiply_adds_per_second, first.multiply_adds_per_second);
    limits_of(devices, true, say);
    EXPECT_EQ(said, 2);
    // Other devices are measured on their own, a damaged file is made anew.
    limits_of({.names = {"reference"}, .folder = devices.folder}, false, say);
    EXPECT_EQ(said, 3);
    // The highest ones last.
    double highest = 0;
    for (int i = 0; i < 3; ++i) {
        const HighestLimits next = highest_limits_of(devices);
        EXPECT_GE(next.highest.bytes_per_second, highest);
        EXPECT_GE(next.highest.bytes_per_second, next.now.bytes_per_second);
        EXPECT_GT(next.now.bytes_per_second, 0);
        highest = next.highest.bytes_per_second;
    }
    EXPECT_EQ(limits_of(devices, false, say).bytes_per_second, highest);
    for (const auto& file : std::filesystem::directory_iterator(devices.folder))
        std::ofstream(file.path()) << "{";
    limits_of(devices, false, say);
    EXPECT_EQ(said, 4);
    for (const auto& file : std::filesystem::directory_iterator(devices.folder)) {
        std::filesystem::remove(file.path());
        std::filesystem::create_directory(file.path());
    }
    limits_of(devices, false, say);
    EXPECT_EQ(said, 5);
}

TEST(Measure, a_folder_that_cannot_be_written_is_no_error) {
    const test::Folder folder;
    std::ofstream(folder / "file") << "x";
    EXPECT_GT(
        limits_of({.names = {"reference"}, .folder = folder / "file"}, false).bytes_per_second, 0);
}

TEST(Measure, tables_are_kept_too) {
    const test::Folder folder;
    int said = 0;
    const Say say = [&](const std::string&) { ++said; };
    const MeasuredDevices devices{.names = {"reference"}, .folder = folder / "cache"};
    const parallel::DeviceTable first = speeds_of(devices, false, say);
    const parallel::DeviceTable again = speeds_of(devices, false, say);
    EXPECT_EQ(said, 1);
    EXPECT_DOUBLE_EQ(again.devices[0].bytes_per_second, first.devices[0].bytes_per_second);
}

TEST(Measure, split_mode_graph_measures_once) {
    const test::Folder folder;
    const SyntheticModel model = design("qwen3-0.6b:Q4_0", 1, 0);
    gguf::Writer(folder / "x.gguf", model.metadata, model.tensors).finish(true);
    const gguf::File file = gguf::File::open(folder / "x.gguf", gguf::Content::Directory);
    EngineOptions options;
    options.devices = {"reference", "reference"};
    options.plan.mode = "graph";
    options.cache = folder / "cache";
    testing::internal::CaptureStderr();
    const auto first = make_blueprint(file, options);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("measuring, for split mode graph: "),
              std::string::npos);
    EXPECT_GT(first->table.devices[1].bytes_per_second, 1e6);
    EXPECT_NE(first->table.devices[1].device, nullptr);
    testing::internal::CaptureStderr();
    const auto second = make_blueprint(file, options);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_DOUBLE_EQ(second->table.devices[1].bytes_per_second,
                     first->table.devices[1].bytes_per_second);
}

TEST(Measure, a_chain_knows_its_size) {
    const Chain chain{.layers = 2, .embd = 64, .ffn = 32, .dtype = gguf::DType::Q4_0};
    EXPECT_EQ(chain.stored_bytes(), 2 * (32 * 36 + 64 * 18));
    EXPECT_EQ(chain.multiply_adds(), 2 * 2 * 64 * 32);
}

}  // namespace
}  // namespace tandem::cli
