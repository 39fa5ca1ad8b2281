// What a run's devices have of an adapter.
#include "kernels/vulkan/adapter.h"

#include <gtest/gtest.h>

namespace tandem::kernels::vulkan {
namespace {

// One that fails leaves the others what they are.
TEST(VulkanAdapter, is_listed_where_its_driver_fails) {
    const auto works = [] { return AdapterFacts{.adapter = {.name = "GPU", .free_bytes = 1280}}; };
    const auto fails = []() -> AdapterFacts { throw vk::UnknownError("vkGetSomething"); };
    EXPECT_EQ(listed("GPU", works).free_bytes, 1260);
    EXPECT_EQ(listed("GPU", works).missing, "");
    EXPECT_EQ(listed("Odd GPU", fails).name, "Odd GPU");
    EXPECT_EQ(listed("Odd GPU", fails).missing,
              "a driver that tells of it (vkGetSomething: ErrorUnknown)");
}

// Of an adapter's own a 64th is left out.
TEST(VulkanAdapter, memory_is_divided_among_who_has_it) {
    const VulkanOptions alone{.host_bytes = 700}, two{.sharers = 2, .host_bytes = 600},
        beside{.sharers = 2, .host_devices = 1, .host_bytes = 400};
    const VulkanAdapter gpu{.free_bytes = 1280}, software{.free_bytes = 1280, .software = true},
        integrated{.free_bytes = 1280, .integrated = true};
    auto free = [&](const VulkanAdapter& adapter) {
        return std::vector<int64_t>{free_for(adapter, alone), free_for(adapter, two),
                                    free_for(adapter, beside)};
    };
    using Bytes = std::vector<int64_t>;
    EXPECT_EQ(free(gpu), (Bytes{1260, 630, 630}));
    EXPECT_EQ(free(integrated), (Bytes{1260, 630, 420}));
    EXPECT_EQ(free(software), (Bytes{700, 600, 400}));
}

}  // namespace
}  // namespace tandem::kernels::vulkan
