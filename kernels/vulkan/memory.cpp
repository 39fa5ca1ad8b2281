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

// What the memory must be, and what it had better be.
struct Wish {
    Flags needed, better;
};

Wish wish_for(Reach reach) {
    const Flags host = Flag::eHostVisible | Flag::eHostCoherent;
    switch (reach) {
        case Reach::Device:
            return {Flag::eDeviceLocal, Flag::eDeviceLocal};
        case Reach::Shared:
            return {host, host | Flag::eHostCached};
        case Reach::Written:
            return {host, host | Flag::eDeviceLocal};
    }
    return {};
}

}  // namespace

Memory::Memory(const vk::raii::PhysicalDevice& adapter, const vk::raii::Device& device,
               std::string name)
    : device_(device), name_(std::move(name)), properties_(adapter.getMemoryProperties()) {
    auto chain = adapter.getProperties2<vk::PhysicalDeviceProperties2,
                                        vk::PhysicalDeviceMaintenance3Properties>();
    // Within rows offsets are 32 bits in shaders; rows themselves may lie anywhere. How large a
    // buffer may be, Vulkan 1.2 does not tell: few drivers make larger ones.
    largest_ = int64_t(std::min<uint64_t>(
        chain.get<vk::PhysicalDeviceMaintenance3Properties>().maxMemoryAllocationSize,
        0xfffffff0u));
    most_allocations_ = adapter.getProperties().limits.maxMemoryAllocationCount;
}

std::vector<uint32_t> types_for(const vk::PhysicalDeviceMemoryProperties& properties, Reach reach,
                                uint32_t allowed) {
    const Wish wish = wish_for(reach);
    std::vector<uint32_t> types;
    for (Flags flags : {wish.better, wish.needed})
        for (uint32_t i = 0; i < properties.memoryTypeCount; ++i)
            if ((allowed >> i & 1) && (properties.memoryTypes[i].propertyFlags & flags) == flags &&
                std::ranges::find(types, i) == types.end())
                types.push_back(i);
    return types;
}

// Of the first type that has room: the memory of a GPU that the host reaches may be small.
vk::raii::DeviceMemory Memory::allocate(const vk::MemoryRequirements& needs, Reach reach) const {
    const std::vector<uint32_t> types = types_for(properties_, reach, needs.memoryTypeBits);
    if (types.empty())
        throw Error("device " + name_ + ": the driver offers no memory of the kind that is needed");
    const vk::MemoryAllocateFlagsInfo flags{.flags = vk::MemoryAllocateFlagBits::eDeviceAddress};
    for (auto type = types.begin();; ++type) {
        try {
            return {device_,
                    {.pNext = &flags, .allocationSize = needs.size, .memoryTypeIndex = *type}};
        } catch (const vk::OutOfDeviceMemoryError&) {
            if (type + 1 == types.end()) throw;
        }
    }
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
    vk::raii::DeviceMemory memory = allocate(needs, reach);
    allocated_ += int64_t(needs.size);
    ++allocations_;
    buffer.bindMemory(*memory, 0);
    std::byte* mapped = nullptr;
    if (reach != Reach::Device)
        mapped = static_cast<std::byte*>(memory.mapMemory(0, VK_WHOLE_SIZE));
    const vk::DeviceAddress address = device_.getBufferAddress({.buffer = *buffer});
    return {std::move(memory), std::move(buffer), mapped, address, bytes, 0};
}

Block Memory::take(int64_t bytes, Reach reach, std::string_view remedy) {
    const int64_t alignment = alignment_of(reach);
    const int64_t size = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (size > largest_)
        throw Error("device " + name_ + ": " + std::to_string(bytes >> 20) +
                    " MiB in one piece are more than the " + std::to_string(largest_ >> 20) +
                    " MiB that its driver allows; " + std::string(remedy));
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
