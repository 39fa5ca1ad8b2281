#include "kernels/vulkan/run_once.h"

#include <chrono>

namespace tandem::kernels::vulkan {

double run_once(const vk::raii::Device& device, const vk::raii::Queue& queue,
                const vk::raii::CommandPool& pool,
                const std::function<void(const vk::raii::CommandBuffer& commands)>& record) {
    vk::raii::CommandBuffers buffers(device, {.commandPool = *pool, .commandBufferCount = 1});
    const vk::raii::CommandBuffer& commands = buffers[0];
    commands.begin(vk::CommandBufferBeginInfo{});
    record(commands);
    commands.end();
    const vk::CommandBuffer recorded = *commands;
    const auto start = std::chrono::steady_clock::now();
    queue.submit(vk::SubmitInfo{.commandBufferCount = 1, .pCommandBuffers = &recorded});
    queue.waitIdle();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace tandem::kernels::vulkan
