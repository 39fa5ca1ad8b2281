// Rows of states out of a Vulkan device and into it, between the planes that it keeps and the
// blocks that files have.
#include <algorithm>
#include <cstring>

#include "gguf/error.h"
#include "kernels/vulkan/device.h"
#include "kernels/vulkan/planes.h"
#include "kernels/vulkan/run_once.h"

namespace tandem::kernels::vulkan {

namespace {

// What is read in one go, as long as that is a row or more.
constexpr int64_t read_bytes = int64_t(4) << 20;

// Memory that launches wrote, copied to where the host reads it.
void copy_out(const vk::raii::CommandBuffer& commands, const Block& from, const Block& to,
              int64_t bytes) {
    const vk::MemoryBarrier before{.srcAccessMask = vk::AccessFlagBits::eMemoryWrite,
                                   .dstAccessMask = vk::AccessFlagBits::eTransferRead};
    const vk::MemoryBarrier after{.srcAccessMask = vk::AccessFlagBits::eTransferWrite,
                                  .dstAccessMask = vk::AccessFlagBits::eHostRead};
    commands.pipelineBarrier(vk::PipelineStageFlagBits::eAllCommands,
                             vk::PipelineStageFlagBits::eTransfer, {}, before, {}, {});
    commands.copyBuffer(from.buffer, to.buffer,
                        vk::BufferCopy{.srcOffset = vk::DeviceSize(from.offset),
                                       .dstOffset = vk::DeviceSize(to.offset),
                                       .size = vk::DeviceSize(bytes)});
    commands.pipelineBarrier(vk::PipelineStageFlagBits::eTransfer, vk::PipelineStageFlagBits::eHost,
                             {}, after, {}, {});
}

}  // namespace

// The part of a state's block that has the rows.
Block VulkanDevice::rows_in(const StateRows& rows) const {
    Block block = state_blocks_.at(rows.value);
    const int64_t row = plane_row_bytes(rows.dtype, rows.columns), begin = rows.first * row;
    check(begin >= 0 && rows.count >= 0 && begin + rows.count * row <= block.bytes,
          "rows of a state are within it");
    block.offset += begin;
    block.bytes = rows.count * row;
    return block;
}

void VulkanDevice::read_state(const StateRows& rows, std::byte* to) {
    guarded(description_.name, "reading caches", [&] {
        Block from = rows_in(rows);
        const int64_t held = plane_row_bytes(rows.dtype, rows.columns);
        if (read_.bytes < held)
            read_ = memory_.take(std::max(read_bytes, held), Reach::Shared, "use the CPU");
        const int64_t most = read_.bytes / held;
        for (int64_t first = 0; first < rows.count; first += most) {
            const int64_t count = std::min(most, rows.count - first);
            run_once(device_, queue_, commands_, [&](const vk::raii::CommandBuffer& commands) {
                copy_out(commands, from, read_, count * held);
            });
            from.offset += count * held;
            for (int64_t i = 0; i < count; ++i, to += rows.row_bytes())
                from_planes(rows.dtype, rows.columns, read_.mapped + i * held, to);
        }
    });
}

void VulkanDevice::write_state(const StateRows& rows, const std::byte* from) {
    guarded(description_.name, "writing caches", [&] {
        const int64_t held = plane_row_bytes(rows.dtype, rows.columns);
        const Block to = rows_in(rows);
        upload_.write(to, to.bytes, held, [&](std::span<std::byte> run, int64_t first) {
            for (int64_t at = 0; at < int64_t(run.size()); at += held)
                to_planes(rows.dtype, rows.columns, from + (first + at) / held * rows.row_bytes(),
                          run.data() + at);
        });
        upload_.finish();
    });
}

}  // namespace tandem::kernels::vulkan
