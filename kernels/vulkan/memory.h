// Device memory in blocks, which are kept until the device goes: small ones are cut from larger
// allocations, others have their own.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/vulkan/raii.h"

namespace tandem::kernels::vulkan {

struct Block {
    vk::DeviceAddress address = 0;
    std::byte* mapped = nullptr;  // null where the host does not reach it
    vk::Buffer buffer;
    int64_t offset = 0;  // in the buffer
    int64_t bytes = 0;
};

enum class Reach {
    Device,   // the device's own memory
    Shared,   // the host's, which both reach and the host reads fast
    Written,  // written by the host, read by the device
};

// Numbers of the memory types that serve, of those that are allowed, one bit each: the best first.
std::vector<uint32_t> types_for(const vk::PhysicalDeviceMemoryProperties& properties, Reach reach,
                                uint32_t allowed);

class Memory {
  public:
    // `name` is the device's, for errors.
    Memory(const vk::raii::PhysicalDevice& adapter, const vk::raii::Device& device,
           std::string name);

    // At a multiple of 256 bytes, Shared of 4096, not cleared. Throws vk::OutOfDeviceMemoryError,
    // and where no block can be so large Error, which ends with `remedy`: what would help.
    Block take(int64_t bytes, Reach reach,
               std::string_view remedy = "divide the model among more devices");
    int64_t largest() const { return largest_; }      // that one block can be
    int64_t allocated() const { return allocated_; }  // bytes, with those that no block uses

  private:
    struct Chunk {  // in the order of creation
        vk::raii::DeviceMemory memory;
        vk::raii::Buffer buffer;
        std::byte* mapped;
        vk::DeviceAddress address;
        int64_t bytes, used;
    };

    vk::raii::DeviceMemory allocate(const vk::MemoryRequirements& needs, Reach reach) const;
    bool stands_alone(int64_t bytes, Reach reach) const;
    Chunk make_chunk(int64_t bytes, Reach reach);

    const vk::raii::Device& device_;
    std::string name_;
    vk::PhysicalDeviceMemoryProperties properties_;
    int64_t largest_ = 0, allocated_ = 0;
    uint32_t allocations_ = 0, most_allocations_ = 0;
    std::deque<Chunk> chunks_[3];  // by reach
};

}  // namespace tandem::kernels::vulkan
