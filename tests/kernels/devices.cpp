// Which devices a run gets, by their names or without.
#include "kernels/devices.h"

#include <gtest/gtest.h>

#include "gguf/vectors.h"
#include "kernels/host.h"
#include "kernels/nodes.h"
#include "kernels/vulkan.h"

namespace tandem::kernels {
namespace {

using test::error_of;
using Names = std::vector<std::string>;

TEST(UsualDevices, are_the_gpus_or_the_cpu) {
    const VulkanAdapter software{.name = "software", .software = true}, gpu{.name = "gpu"},
        beside{.name = "beside", .integrated = true}, old{.name = "old", .missing = "Vulkan 1.2"},
        again{.name = "gpu", .twin = true};
    auto usual = [](const std::vector<VulkanAdapter>& adapters) {
        return usual_devices(adapters, {});
    };
    EXPECT_EQ(usual({}), (Names{"cpu"}));
    EXPECT_EQ(usual({software, old}), (Names{"cpu"}));
    EXPECT_EQ(usual({software, gpu, gpu, again}), (Names{"vulkan1", "vulkan2"}));
    EXPECT_EQ(usual({beside, software, gpu}), (Names{"vulkan2"}));
    EXPECT_EQ(usual({old, beside}), (Names{"vulkan1"}));
    const MemoryNode nodes[] = {{.number = 0}, {.number = 1}};
    EXPECT_EQ(usual_devices({}, nodes), (Names{"cpu:node0", "cpu:node1"}));
    EXPECT_EQ(usual_devices({{gpu}}, nodes), Names{"vulkan0"});
}

TEST(Devices, are_named_in_any_case) {
    const auto devices = make_devices({"CPU", "Reference"});
    EXPECT_EQ(devices[0]->description().kind, "cpu");
    EXPECT_EQ(devices[0]->description().name, "CPU");
    EXPECT_EQ(devices[1]->description().kind, "reference");
}

TEST(Devices, say_whose_memory_they_have) {
    const std::string core = "cpu:" + std::to_string(usable_cores().front());
    for (const auto& device : make_devices({"cpu", core, "reference"}))
        EXPECT_EQ(device->description().memory, host_memory) << device->description().name;
    for (const MemoryNode& node : memory_nodes(usable_cores()))
        EXPECT_EQ(make_devices({"cpu:node" + std::to_string(node.number)})[0]->description().memory,
                  memory_of_node(node.number));
    const VulkanAdapters all = vulkan_adapters();
    for (size_t i = 0; i < all.list.size(); ++i) {
        if (!all.list[i].missing.empty()) continue;
        const std::string name = "vulkan" + std::to_string(i);
        for (const auto& device : make_devices({name, name}))
            EXPECT_EQ(device->description().memory,
                      all.list[i].software ? host_memory : memory_of_adapter(int(i)));
    }
}

TEST(Devices, that_do_not_exist_are_named) {
    for (const char* name : {"gpu7", "vulkan", "vulkan-1", "vulkan1x", "vulkanx", "vulcan0", ""})
        EXPECT_EQ(error_of([&] { make_devices({name}); }),
                  "device \"" + std::string(name) +
                      "\" does not exist; there are cpu, cpu:N, cpu:N-M, cpu:nodeN, vulkanN and "
                      "reference");
    const std::string node = error_of([] { make_devices({"cpu:node4000"}); });
    EXPECT_EQ(node.find("device \"cpu:node4000\" does not exist; "), 0u) << node;
    const std::string unknown = error_of([] { make_devices({"cpu", "vulkan4000"}); });
    EXPECT_EQ(unknown.find("device vulkan4000 does not exist: "), 0u) << unknown;
}

TEST(Devices, divide_the_time_that_they_may_take) {
    EXPECT_EQ(usual_threads(16, 16, {}), 16);
    EXPECT_EQ(usual_threads(16, 16, 64), 16);
    EXPECT_EQ(usual_threads(16, 16, 3), 3);
    EXPECT_EQ(usual_threads(16, 32, 8), 4);
    EXPECT_EQ(usual_threads(4, 20, 10), 2);
    EXPECT_EQ(usual_threads(1, 20, 10), 1);
}

TEST(Devices, have_threads_within_their_quota) {
    const auto cores = int64_t(usable_cores().size());
    auto threads_of = [](const Names& names, const DeviceOptions& how) {
        std::vector<int> threads;
        for (const auto& device : make_devices(names, how))
            threads.push_back(device->description().threads);
        return threads;
    };
    using Threads = std::vector<int>;
    EXPECT_EQ(threads_of({"cpu"}, {.quota = 1}), Threads{1});
    EXPECT_EQ(threads_of({"cpu"}, {.quota = cores}), Threads{int(cores)});
    const auto half = std::max(1, int(cores) / 2);
    EXPECT_EQ(threads_of({"cpu", "reference", "cpu"}, {.quota = cores}), (Threads{half, 1, half}));
    // Asked for.
    EXPECT_EQ(threads_of({"cpu"}, {.threads = int(cores), .quota = 1}), Threads{int(cores)});
    const auto device = make_devices({"cpu"}, {.quota = 1});
    const std::string on = cores == 1 ? "core " : "cores ";
    EXPECT_TRUE(device[0]->description().features.ends_with(", 1 thread on " + on +
                                                            cores_text(usable_cores())))
        << device[0]->description().features;
}

TEST(Devices, leave_some_memory_to_others) {
    auto free_of = [](const Names& names, int64_t free) {
        std::vector<int64_t> all;
        for (const auto& device : make_devices(names, {.threads = 1, .free = free}))
            all.push_back(device->description().free_bytes);
        return all;
    };
    using Bytes = std::vector<int64_t>;
    constexpr int64_t mega = int64_t(1) << 20;
    EXPECT_EQ(free_of({"cpu"}, 64 * mega), Bytes{63 * mega});
    EXPECT_EQ(free_of({"cpu", "reference", "cpu"}, 128 * mega),
              (Bytes{42 * mega, 42 * mega, 42 * mega}));
    EXPECT_EQ(free_of({"reference"}, 4096 * 1024 * mega), Bytes{4095 * 1024 * mega});
    EXPECT_EQ(free_of({"cpu"}, 0), Bytes{0});
}

TEST(Devices, divide_the_memory_that_they_live_in) {
    const VulkanAdapters adapters = vulkan_adapters();
    if (adapters.list.empty()) GTEST_SKIP() << adapters.absence;
    auto free_of = [](const Names& names) {
        std::vector<double> free;
        for (const auto& device : make_devices(names))
            free.push_back(double(device->description().free_bytes));
        return free;
    };
    const double host = free_of({"cpu"})[0];
    const std::vector<double> three = free_of({"Vulkan0", "cpu", "VULKAN0"});
    ASSERT_EQ(three.size(), 3u);
    const bool software = adapters.list[0].software;
    EXPECT_NEAR(three[1] / host, software || adapters.list[0].integrated ? 1 / 3. : 1, 0.1);
    // The first handle of a GPU takes some of its memory before the next one asks what is free.
    EXPECT_NEAR(three[2] / three[0], 1, software ? 0 : 0.02);
    if (software) {
        EXPECT_DOUBLE_EQ(three[0], three[1]);
    }
}

}  // namespace
}  // namespace tandem::kernels
