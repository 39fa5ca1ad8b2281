#include "kernels/vulkan/memory.h"

#include <algorithm>

#include "gguf/error.h"

namespace tandem::kernels::vulkan {

namespace {

// Drivers map memory by pages, so that offsets decide how addresses of either side are aligned.
int64_t alignment_of(Reach reach) { return reach == Reach::Shared ? 4096 : 256; }

// What small blocks share: large enough that a model takes few allocations, small enough that
// little of the last is wasted.
int64_t chunk_bytes(Reach reach) { return int64_t(reach == Reach::Device ? 64 : 1) << 20; }

using Flags = vk::MemoryPropertyFlags;
using Flag = vk::MemoryPropertyFlagBits;

// What the memory must be, and in order of preference what it had better be.
struct Wish {
    Flags needed;
    Flags better[2];
};

Wish wish_for(Reach reach) {
    const Flags host = Flag::eHostVisible | Flag::eHostCoherent;
    switch (reach) {
        case Reach::Device:
            return {Flag::eDeviceLocal, {Flag::eDeviceLocal, Flag::eDeviceLocal}};
        case Reach::Shared:
            return {host, {host | Flag::eHostCached, host}};
        case Reach::Written:
            return {host, {host | Flag::eDeviceLocal, host}};
    }
    return {};
}

}  // namespace

Memory::Memory(const vk::raii::PhysicalDevice& adapter, const vk::raii::Device& device,
               std::string name)
    : device_(device), name_(std::move(name)), properties_(adapter.getMemoryProperties()) {
    auto chain = adapter.getProperties2<vk::PhysicalDeviceProperties2,
                                        vk::PhysicalDeviceMaintenance3Properties>();
    // Offsets within a weight are 32 bits in shaders.
    largest_ = int64_t(std::min<uint64_t>(
        chain.get<vk::PhysicalDeviceMaintenance3Properties>().maxMemoryAllocationSize,
        0xfffffff0u));
    most_allocations_ = adapter.getProperties().limits.maxMemoryAllocationCount;
}

uint32_t Memory::type_for(Reach reach, uint32_t allowed) const {
    const Wish wish = wish_for(reach);
    for (Flags flags : {wish.better[0], wish.better[1], wish.needed})
        for (uint32_t i = 0; i < properties_.memoryTypeCount; ++i)
            if ((allowed >> i & 1) && (properties_.memoryTypes[i].propertyFlags & flags) == flags)
                return i;
    throw Error("device " + name_ + ": the driver offers no memory of the kind that is needed");
}

// Blocks that are not much smaller than a chunk leave holes in it that no other fits. Small ones
// would waste more alone, because drivers round allocations up, say to 2 MiB. The number of
// allocations has a limit, often 4096: half of them are for chunks.
bool Memory::stands_alone(int64_t bytes, Reach reach) const {
    return bytes > chunk_bytes(reach) / 8 && allocations_ < most_allocations_ / 2;
}

Memory::Chunk Memory::make_chunk(int64_t bytes, Reach reach) {
    using Usage = vk::BufferUsageFlagBits;
    vk::raii::Buffer buffer(
        device_, {.size = vk::DeviceSize(bytes),
                  .usage = Usage::eShaderDeviceAddress | Usage::eStorageBuffer |
                           Usage::eTransferSrc | Usage::eTransferDst | Usage::eIndirectBuffer});
    const vk::MemoryRequirements needs = buffer.getMemoryRequirements();
    const uint32_t type = type_for(reach, needs.memoryTypeBits);
    const vk::MemoryAllocateFlagsInfo flags{.flags = vk::MemoryAllocateFlagBits::eDeviceAddress};
    vk::raii::DeviceMemory memory(
        device_, {.pNext = &flags, .allocationSize = needs.size, .memoryTypeIndex = type});
    allocated_ += int64_t(needs.size);
    ++allocations_;
    buffer.bindMemory(*memory, 0);
    std::byte* mapped = nullptr;
    if (reach != Reach::Device)
        mapped = static_cast<std::byte*>(memory.mapMemory(0, VK_WHOLE_SIZE));
    const vk::DeviceAddress address = device_.getBufferAddress({.buffer = *buffer});
    return {std::move(memory), std::move(buffer), mapped, address, bytes, 0, type};
}

Block Memory::take(int64_t bytes, Reach reach) {
    const int64_t alignment = alignment_of(reach);
    const int64_t size = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (size > largest_)
        throw Error("device " + name_ + ": " + std::to_string(bytes >> 20) +
                    " MiB in one piece are more than the " + std::to_string(largest_ >> 20) +
                    " MiB that its driver allows: divide the model among more devices, or try a "
                    "shorter context");
    std::deque<Chunk>& chunks = chunks_[size_t(reach)];
    auto chunk = std::find_if(chunks.begin(), chunks.end(), [&](const Chunk& candidate) {
        return candidate.bytes - candidate.used >= size;
    });
    if (chunk == chunks.end()) {
        const int64_t shared = std::min(chunk_bytes(reach), largest_);
        chunks.push_back(
            make_chunk(stands_alone(size, reach) ? size : std::max(size, shared), reach));
        chunk = chunks.end() - 1;
    }
    Block block{.address = chunk->address + vk::DeviceSize(chunk->used),
                .mapped = chunk->mapped ? chunk->mapped + chunk->used : nullptr,
                .buffer = *chunk->buffer,
                .offset = chunk->used,
                .bytes = size};
    chunk->used += size;
    return block;
}

}  // namespace tandem::kernels::vulkan
