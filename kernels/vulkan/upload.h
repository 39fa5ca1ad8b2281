// The way from the host into device memory: a ring of two staging blocks, so that one is filled
// while the other is copied.
#pragma once

#include <array>
#include <functional>
#include <span>

#include "kernels/vulkan/memory.h"

namespace tandem::kernels::vulkan {

class Upload {
  public:
    Upload(const vk::raii::Device& device, const vk::raii::Queue& queue, uint32_t queue_family,
           Memory& memory);

    static constexpr int64_t longest_unit = int64_t(16) << 20;
    // Calls `fill(bytes to write, first)` for all runs of the block, each a multiple of `unit`
    // bytes and several at a time, and copies what it wrote. Returns when all of it is on its way.
    void write(const Block& to, int64_t bytes, int64_t unit,
               const std::function<void(std::span<std::byte> run, int64_t first)>& fill);
    void clear(const Block& block);
    // Returns when everything has arrived.
    void finish();

  private:
    struct Slot {
        Block staging;
        vk::raii::CommandBuffer commands;
        vk::raii::Fence fence;
        bool busy = false;
    };
    Slot make_slot() const;
    Slot& next();
    template <typename Record>
    void submit(Slot& slot, Record record);

    const vk::raii::Device& device_;
    const vk::raii::Queue& queue_;
    Memory& memory_;
    vk::raii::CommandPool pool_;
    std::vector<Slot> slots_;  // made when first needed
    size_t turn_ = 0;
};

}  // namespace tandem::kernels::vulkan
