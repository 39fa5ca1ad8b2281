#include "kernels/vulkan/upload.h"

#include <algorithm>
#include <future>
#include <thread>

#include "gguf/error.h"

namespace tandem::kernels::vulkan {

namespace {

constexpr int64_t staging_bytes = Upload::longest_unit;
// What is worth a thread of its own.
constexpr int64_t share_bytes = int64_t(1) << 20;

using Fill = std::function<void(std::span<std::byte> run, int64_t first)>;

// Fills a run on several threads: a file's pages come as slowly as one of them asks for them.
void fill_shared(std::span<std::byte> run, int64_t first, int64_t unit, const Fill& fill) {
    const auto size = int64_t(run.size());
    const int64_t most = std::max<int64_t>(1, std::thread::hardware_concurrency() / 2);
    const int64_t threads = std::clamp<int64_t>(size / share_bytes, 1, std::min<int64_t>(most, 8));
    const int64_t share = (size / unit + threads - 1) / threads * unit;
    std::vector<std::future<void>> others;
    auto part = [&](int64_t begin) {
        const int64_t count = std::min(share, size - begin);
        if (count > 0) fill(run.subspan(size_t(begin), size_t(count)), first + begin);
    };
    for (int64_t i = 1; i < threads; ++i)
        others.push_back(std::async(std::launch::async, part, i * share));
    part(0);
    for (std::future<void>& other : others) other.get();
}

void wait_for(const vk::raii::Device& device, const vk::raii::Fence& fence) {
    while (device.waitForFences(*fence, true, UINT64_MAX) == vk::Result::eTimeout) continue;
}

}  // namespace

Upload::Upload(const vk::raii::Device& device, const vk::raii::Queue& queue, uint32_t queue_family,
               Memory& memory)
    : device_(device),
      queue_(queue),
      memory_(memory),
      pool_(device, {.flags = vk::CommandPoolCreateFlagBits::eResetCommandBuffer,
                     .queueFamilyIndex = queue_family}) {}

Upload::Slot Upload::make_slot() const {
    vk::raii::CommandBuffers buffers(device_, {.commandPool = *pool_, .commandBufferCount = 1});
    return {.staging = memory_.take(staging_bytes, Reach::Written),
            .commands = std::move(buffers[0]),
            .fence = vk::raii::Fence(device_, vk::FenceCreateInfo{})};
}

Upload::Slot& Upload::next() {
    if (slots_.size() < 2) {
        slots_.push_back(make_slot());
        return slots_.back();
    }
    Slot& slot = slots_[turn_++ % 2];
    if (slot.busy) {
        wait_for(device_, slot.fence);
        device_.resetFences(*slot.fence);
        slot.busy = false;
    }
    return slot;
}

template <typename Record>
void Upload::submit(Slot& slot, Record record) {
    slot.commands.begin({.flags = vk::CommandBufferUsageFlagBits::eOneTimeSubmit});
    record(slot.commands);
    const vk::MemoryBarrier barrier{
        .srcAccessMask = vk::AccessFlagBits::eTransferWrite,
        .dstAccessMask = vk::AccessFlagBits::eMemoryRead | vk::AccessFlagBits::eMemoryWrite};
    slot.commands.pipelineBarrier(vk::PipelineStageFlagBits::eTransfer,
                                  vk::PipelineStageFlagBits::eAllCommands, {}, barrier, {}, {});
    slot.commands.end();
    const vk::CommandBuffer commands = *slot.commands;
    queue_.submit(vk::SubmitInfo{.commandBufferCount = 1, .pCommandBuffers = &commands},
                  *slot.fence);
    slot.busy = true;
}

void Upload::write(const Block& to, int64_t bytes, int64_t unit,
                   const std::function<void(std::span<std::byte>, int64_t)>& fill) {
    check(unit <= staging_bytes, "a row fits the staging ring");
    const int64_t most = staging_bytes / unit * unit;
    for (int64_t first = 0; first < bytes; first += most) {
        const int64_t count = std::min(most, bytes - first);
        Slot& slot = next();
        fill_shared({slot.staging.mapped, size_t(count)}, first, unit, fill);
        submit(slot, [&](const vk::raii::CommandBuffer& commands) {
            commands.copyBuffer(slot.staging.buffer, to.buffer,
                                vk::BufferCopy{.srcOffset = vk::DeviceSize(slot.staging.offset),
                                               .dstOffset = vk::DeviceSize(to.offset + first),
                                               .size = vk::DeviceSize(count)});
        });
    }
}

void Upload::clear(const Block& block) {
    submit(next(), [&](const vk::raii::CommandBuffer& commands) {
        commands.fillBuffer(block.buffer, vk::DeviceSize(block.offset), vk::DeviceSize(block.bytes),
                            0);
    });
}

void Upload::finish() {
    for (Slot& slot : slots_)
        if (slot.busy) {
            wait_for(device_, slot.fence);
            device_.resetFences(*slot.fence);
            slot.busy = false;
        }
}

}  // namespace tandem::kernels::vulkan
