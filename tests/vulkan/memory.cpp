// Blocks of device memory: where they lie, and what the allocations behind them hold beyond them.
#include "kernels/vulkan/memory.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <vector>

#include "kernels/vulkan/adapter.h"

namespace tandem::kernels::vulkan {
namespace {

constexpr int64_t kib = 1024, mib = 1024 * kib;

// Where the best is full, the next one is tried.
TEST(MemoryTypes, serve_in_order_of_preference) {
    using Flag = vk::MemoryPropertyFlagBits;
    const vk::MemoryPropertyFlags host = Flag::eHostVisible | Flag::eHostCoherent;
    vk::PhysicalDeviceMemoryProperties gpu{.memoryTypeCount = 5};
    gpu.memoryTypes[1].propertyFlags = Flag::eDeviceLocal;
    gpu.memoryTypes[2].propertyFlags = host;
    gpu.memoryTypes[3].propertyFlags = host | Flag::eHostCached;
    gpu.memoryTypes[4].propertyFlags = host | Flag::eDeviceLocal;
    using Types = std::vector<uint32_t>;
    EXPECT_EQ(types_for(gpu, Reach::Device, ~0u), (Types{1, 4}));
    EXPECT_EQ(types_for(gpu, Reach::Shared, ~0u), (Types{3, 2, 4}));
    EXPECT_EQ(types_for(gpu, Reach::Written, ~0u), (Types{4, 2, 3}));
    EXPECT_EQ(types_for(gpu, Reach::Written, 0b01111), (Types{2, 3}));
    EXPECT_EQ(types_for(gpu, Reach::Written, 0b00011), Types{});
}

class VulkanMemory : public ::testing::Test {
  protected:
    void SetUp() override {
        if (vulkan_adapters().list.empty()) GTEST_SKIP() << vulkan_adapters().absence;
        drivers_.emplace(open_drivers());
        adapter_.emplace(adapters_of(drivers_->instance).front());
        device_.emplace(make_device(*adapter_, facts_of(*adapter_)));
        memory_.emplace(*adapter_, *device_, "vulkan0");
    }
    // Bytes that were allocated beyond those that were asked for.
    int64_t waste(const std::vector<int64_t>& sizes, Reach reach) {
        int64_t held = memory_->allocated();
        for (int64_t size : sizes) {
            EXPECT_GE(memory_->take(size, reach).bytes, size);
            held += size;
        }
        return memory_->allocated() - held;
    }

    std::optional<Drivers> drivers_;
    std::optional<vk::raii::PhysicalDevice> adapter_;
    std::optional<vk::raii::Device> device_;
    std::optional<Memory> memory_;
};

// Weights of usual models; no two of those of 33 MiB fit 64 MiB.
TEST_F(VulkanMemory, large_blocks_leave_no_holes) {
    for (int64_t size : {9 * mib, 22 * mib + 3, 33 * mib, 37 * mib + 777, 63 * mib, 65 * mib}) {
        const std::vector<int64_t> sizes(4, size);
        EXPECT_LE(waste(sizes, Reach::Device), 4 * size / 100) << size;
    }
}

TEST_F(VulkanMemory, blocks_of_all_sizes_leave_small_holes) {
    std::vector<int64_t> sizes;
    int64_t sum = 0;
    for (int layer = 0; layer < 8; ++layer)
        for (int64_t size : {7 * mib, kib, mib, 7 * mib, 3 * kib, 12 * mib + 17, 37 * mib}) {
            sizes.push_back(size);
            sum += size;
        }
    // Of the allocations that small blocks share, the last is not full.
    EXPECT_LE(waste(sizes, Reach::Device), sum / 20 + 64 * mib);
}

TEST_F(VulkanMemory, small_blocks_share_allocations) {
    std::set<VkBuffer> buffers;
    for (int i = 0; i < 1000; ++i)
        buffers.insert(VkBuffer(memory_->take(10 * kib, Reach::Device).buffer));
    EXPECT_EQ(buffers.size(), 1u);
}

TEST_F(VulkanMemory, blocks_are_aligned_and_apart) {
    for (auto [reach, alignment] : {std::pair<Reach, uint64_t>{Reach::Device, 256},
                                    {Reach::Written, 256},
                                    {Reach::Shared, 4096}}) {
        std::set<std::pair<uint64_t, uint64_t>> ranges;
        for (int64_t size : {int64_t(0), int64_t(1), int64_t(257), 300 * kib + 1, 9 * mib + 5}) {
            const Block block = memory_->take(size, reach);
            EXPECT_EQ(block.address % alignment, 0u) << size;
            if (reach != Reach::Device) {
                EXPECT_EQ(reinterpret_cast<uintptr_t>(block.mapped) % alignment, 0u) << size;
            }
            ranges.insert({block.address, block.address + uint64_t(block.bytes)});
        }
        for (auto next = std::next(ranges.begin()); next != ranges.end(); ++next)
            EXPECT_LE(std::prev(next)->second, next->first);
    }
}

}  // namespace
}  // namespace tandem::kernels::vulkan
