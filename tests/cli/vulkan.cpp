// Vulkan devices as users see them: listed, named, measured, and missed.
#include <gtest/gtest.h>

#include <regex>

#include "cli/environment.h"
#include "cli/process.h"
#include "cli/tiny_model.h"
#include "data.h"
#include "kernels/vulkan.h"

namespace tandem::test {

namespace {

using Words = std::vector<std::string>;

// A machine without drivers.
struct NoDriver {
    Variable known{"VK_ICD_FILENAMES", "/nonexistent"}, newer{"VK_DRIVER_FILES", "/nonexistent"};
};

class VulkanCli : public testing::Test {
  protected:
    void SetUp() override {
        adapters = kernels::vulkan_adapters();
        if (adapters.list.empty() || !adapters.list[0].missing.empty())
            GTEST_SKIP() << "needs a Vulkan device: " << adapters.absence;
    }
    kernels::VulkanAdapters adapters;
};

Result run(const Words& more) {
    Words words{"run", "-m", tiny_model().string(), "-p", "abc", "-n", "4", "--temp", "0"};
    words.insert(words.end(), more.begin(), more.end());
    return tandem(words);
}

// The devices that a plan speaks of, but for the memory that happens to be free.
std::string planned(const Words& more) {
    Words words{"plan", "-m", tiny_model().string()};
    words.insert(words.end(), more.begin(), more.end());
    static const std::regex free(" of [0-9.]+ .iB free");
    return std::regex_replace(tandem(words).out, free, "");
}

TEST_F(VulkanCli, devices_are_listed) {
    const Result result = tandem({"devices"});
    EXPECT_EQ(result.code, 0) << result.error;
    for (size_t i = 0; i < adapters.list.size(); ++i) {
        const kernels::VulkanAdapter& adapter = adapters.list[i];
        const std::string head = "  vulkan" + std::to_string(i) + ": vulkan, " + adapter.name;
        const size_t at = result.out.find(head);
        ASSERT_NE(at, std::string::npos) << result.out;
        const std::string line = result.out.substr(at, result.out.find('\n', at) - at);
        EXPECT_EQ(line.find("software on the CPU") != std::string::npos, adapter.software) << line;
        if (adapter.missing.empty())
            EXPECT_TRUE(std::regex_search(line, std::regex(R"(subgroups of \d+.* )"
                                                           R"(\(\d+ MiB, \d+ MiB free\)$)")))
                << line;
        else
            EXPECT_NE(line.find(", cannot be used: it lacks " + adapter.missing),
                      std::string::npos);
    }
    EXPECT_NE(result.out.find("\n  cpu: cpu, "), std::string::npos);
}

TEST_F(VulkanCli, names_are_taken_in_any_case) {
    const std::string expected = run({"-dev", "reference"}).out;
    for (const char* names : {"vulkan0", "Vulkan0", "VULKAN0,cpu"}) {
        const Result result = run({"-dev", names, "-sm", "tensor"});
        EXPECT_EQ(result.code, 0) << result.error;
        EXPECT_EQ(result.out, expected) << names;
    }
    EXPECT_NE(planned({"-dev", "Vulkan0"}).find("Vulkan0"), std::string::npos);
}

TEST_F(VulkanCli, devices_that_do_not_exist) {
    const Result result = run({"-dev", "cpu,vulkan4000"});
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.error.find("error: device vulkan4000 does not exist: there "), 0u);
    EXPECT_NE(result.error.find("vulkan0 (" + adapters.list[0].name + ")"), std::string::npos)
        << result.error;
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
}

TEST_F(VulkanCli, models_that_do_not_fit) {
    Words words{"-dev", "vulkan0", "-c", "2000000000", "-ctk", "f32", "-ctv", "f32"};
    const Words little = with_little_memory({"vulkan0"});
    words.insert(words.end(), little.begin(), little.end());
    const Result result = run(words);
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(std::regex_search(
        result.error,
        std::regex(R"(^error: device vulkan0 needs \S+ [GT]iB \(weights .*, cache .*\) and has )"
                   R"(1 GiB free, \S+ [GT]iB too few: try .*\n$)")))
        << result.error;
}

TEST_F(VulkanCli, devices_are_measured_with_others) {
    const std::string table = write_file("vulkan.json", "").string();
    const Result result = tandem({"devices", "-dev", "Vulkan0,cpu", "--measure", "-o", table});
    EXPECT_EQ(result.code, 0) << result.error;
    EXPECT_TRUE(std::regex_search(
        result.out, std::regex(R"(Measured:\n  Vulkan0: \S+ .B/s of weights, \S+ . multiply-adds/s)"
                               R"(\n  cpu: .*\n  Vulkan0 - cpu: \S+ us for an exchange, )")))
        << result.out;
    EXPECT_EQ(run({"-dev", "vulkan0,reference", "--device-table", table}).code, 1);
    const Result planned = run({"-dev", "vulkan0,cpu", "--device-table", table, "-sm", "graph"});
    EXPECT_EQ(planned.code, 0) << planned.error;
}

TEST(Vulkan, no_gpu_is_used_where_the_user_says_so) {
    EXPECT_EQ(planned({"-ngl", "0"}), planned({"-dev", "cpu"}));
    EXPECT_EQ(planned({"-ngl", "0", "-dev", "reference"}), planned({"-dev", "reference"}));
}

TEST(Vulkan, a_machine_without_drivers) {
    if (!kernels::vulkan_adapters().absence.empty()) GTEST_SKIP() << "this one may be of that kind";
    const NoDriver none;
    const std::string why = "no Vulkan driver is installed; it comes with a GPU's driver";
    EXPECT_NE(tandem({"devices"}).out.find("  no Vulkan devices: " + why + "\n"),
              std::string::npos);
    EXPECT_EQ(run({}).code, 0);
    EXPECT_NE(planned({}).find("cpu"), std::string::npos);
    const Result named = run({"-dev", "vulkan0"});
    EXPECT_EQ(named.code, 1);
    EXPECT_EQ(named.error, "error: device vulkan0 does not exist: " + why + "\n");
}

TEST(Vulkan, a_machine_without_the_loader) {
    if (!kernels::vulkan_adapters().absence.empty()) GTEST_SKIP() << "this one may be of that kind";
    // Files that are no libraries, found before the real ones.
    write_file("libvulkan.so", "");
    const Variable folder("LD_LIBRARY_PATH",
                          write_file("libvulkan.so.1", "").parent_path().string());
    const std::string why = "no Vulkan loader (libvulkan.so.1) is installed";
    EXPECT_NE(tandem({"devices"}).out.find("  no Vulkan devices: " + why), std::string::npos);
    EXPECT_EQ(run({}).code, 0);
    const Result named = run({"-dev", "vulkan0"});
    EXPECT_EQ(named.code, 1);
    EXPECT_EQ(named.error.find("error: device vulkan0 does not exist: " + why), 0u);
    EXPECT_EQ(std::count(named.error.begin(), named.error.end(), '\n'), 1) << named.error;
}

}  // namespace

}  // namespace tandem::test
