// What a driver reports, what an adapter lacks and what is too much for it: one clear line each.
#include <gtest/gtest.h>

#include "gguf/vectors.h"
#include "kernels/vulkan/adapter.h"
#include "kernels/vulkan/cache.h"

namespace tandem::kernels::vulkan {
namespace {

using test::error_of;

template <typename Fault>
std::string message_of(const Fault& fault) {
    return error_of([&] { guarded("vulkan1", "computing", [&] { throw fault; }); });
}

TEST(VulkanErrors, say_what_the_driver_reported) {
    EXPECT_EQ(message_of(vk::DeviceLostError("vkQueueSubmit")),
              "device vulkan1: computing: the device was lost (the driver reset it, as some do "
              "where a step takes seconds, or it was removed); run again, perhaps with smaller "
              "steps (-ub)");
    EXPECT_EQ(message_of(vk::OutOfDeviceMemoryError("vkAllocateMemory")),
              "device vulkan1: computing: out of device memory, perhaps because other programs use "
              "it; a smaller model, a shorter context or more devices need less");
    EXPECT_EQ(message_of(vk::OutOfHostMemoryError("vkAllocateMemory")),
              "device vulkan1: computing: out of the host's memory; a smaller model or a shorter "
              "context needs less");
    EXPECT_EQ(message_of(vk::UnknownError("vkQueueSubmit")),
              "device vulkan1: computing: the driver reports vkQueueSubmit: ErrorUnknown");
}

TEST(VulkanErrors, say_what_an_adapter_lacks) {
    VulkanAdapter adapter{.name = "Old GPU", .missing = "timelineSemaphore"};
    EXPECT_EQ(error_of([&] { require_usable(adapter, "Vulkan2"); }),
              "device Vulkan2 (Old GPU) lacks timelineSemaphore, which the kernels need");
    adapter.missing.clear();
    EXPECT_EQ(error_of([&] { require_usable(adapter, "Vulkan2"); }), "");
}

TEST(VulkanErrors, say_which_types_caches_have) {
    EXPECT_EQ(error_of([] { cache_number(gguf::DType::Q4_1); }),
              "Vulkan devices hold caches as f32, f16, bf16, q8_0 or q4_0, not as Q4_1");
}

TEST(VulkanErrors, say_what_is_too_large_for_one_piece) {
    if (vulkan_adapters().list.empty()) GTEST_SKIP() << vulkan_adapters().absence;
    const auto device = make_vulkan_device({.name = "vulkan0"});
    const std::string text =
        error_of([&] { device->make_state(0, gguf::DType::F32, 1 << 20, 1 << 12); });
    EXPECT_EQ(text.find("device vulkan0: 16384 MiB in one piece are more than the "), 0u) << text;
    EXPECT_NE(text.find(" MiB that its driver allows; divide the model among more devices, or "
                        "try a shorter context"),
              std::string::npos)
        << text;
    for (const std::string& of_steps :
         {error_of([&] { device->make_arena(int64_t(16) << 30); }),
          error_of([&] { device->exchange_memory(int64_t(16) << 30); })})
        EXPECT_TRUE(of_steps.ends_with(" MiB that its driver allows; use smaller steps (-ub)"))
            << of_steps;
}

TEST(VulkanErrors, say_which_rows_are_too_long) {
    if (vulkan_adapters().list.empty()) GTEST_SKIP() << vulkan_adapters().absence;
    const auto device = make_vulkan_device({.name = "vulkan0"});
    const WeightSource source{
        .dtype = gguf::DType::F32, .use = graph::Use::Matrix, .rows = 1, .columns = (4 << 20) + 1};
    std::atomic<int64_t> progress = 0;
    EXPECT_EQ(error_of([&] { device->load_weight(0, source, progress); }),
              "device vulkan0: a weight has rows of 4194305 elements, of which Vulkan devices load "
              "16 MiB in one piece; use the CPU (-dev cpu)");
}

}  // namespace
}  // namespace tandem::kernels::vulkan
