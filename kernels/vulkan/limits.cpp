// What the hardware allows: streaming reads of its memory, and multiply-adds in f32.
#include <chrono>

#include "kernels/vulkan/device.h"

namespace tandem::kernels::vulkan {

namespace {

struct LimitParameters {
    Address from, to;
    uint32_t vectors, rounds;
};

constexpr int repetitions = 5;

}  // namespace

Limits VulkanDevice::measure_limits() {
    return guarded(description_.name, "measuring", [&] {
        // More than caches hold on a GPU; what one chunk of memory holds on the CPU.
        const int64_t bytes = std::min(
            facts_.adapter.software ? int64_t(64) << 20 : int64_t(1) << 30, memory_.largest());
        const uint32_t group = 128, groups = facts_.adapter.software ? 64 : 4096;
        const uint32_t rounds = facts_.adapter.software ? 200 : 4096;
        const Block block = memory_.take(bytes, Reach::Device);
        upload_.clear(block);
        upload_.finish();
        const LimitParameters parameters{block.address, block.address, uint32_t(bytes / 16),
                                         rounds};
        auto seconds_of = [&](bool reads) {
            vk::raii::CommandBuffers buffers(device_,
                                             {.commandPool = *commands_, .commandBufferCount = 1});
            const vk::raii::CommandBuffer& commands = buffers[0];
            commands.begin(vk::CommandBufferBeginInfo{});
            commands.bindPipeline(vk::PipelineBindPoint::eCompute,
                                  pipelines_.get("limit", {group, reads}));
            commands.pushConstants<LimitParameters>(
                pipelines_.layout(), vk::ShaderStageFlagBits::eCompute, 0, parameters);
            commands.dispatch(groups, 1, 1);
            commands.end();
            const vk::CommandBuffer recorded = *commands;
            const auto start = std::chrono::steady_clock::now();
            queue_.submit(vk::SubmitInfo{.commandBufferCount = 1, .pCommandBuffers = &recorded});
            queue_.waitIdle();
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        };
        Limits best;
        for (int repetition = 0; repetition < repetitions; ++repetition) {
            best.bytes_per_second =
                std::max(best.bytes_per_second, double(bytes) / seconds_of(true));
            best.multiply_adds_per_second =
                std::max(best.multiply_adds_per_second,
                         double(groups) * group * rounds * 64 / seconds_of(false));
        }
        return best;
    });
}

}  // namespace tandem::kernels::vulkan
