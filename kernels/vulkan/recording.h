// A run of launches as a command buffer that is submitted anew in every step.
#pragma once

#include <vector>

#include "kernels/vulkan/memory.h"
#include "kernels/vulkan/pipelines.h"
#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

// Dispatches whose number of groups changes with the step read it from memory.
struct LiveDispatch {
    Extent x, y;
    uint32_t* groups = nullptr;  // three, where the device reads them
};

struct VulkanRecording final : Recording {
    vk::raii::CommandBuffer commands = nullptr;
    std::vector<LiveDispatch> live;
    const std::atomic<bool>* cancelled = nullptr;
};

// What is made when launches are recorded.
struct Recorder {
    const vk::raii::Device& device;
    Pipelines& pipelines;
    Memory& memory;
    const vk::raii::CommandPool& pool;

    std::unique_ptr<VulkanRecording> record(std::span<const Launch> launches,
                                            const Site& site) const;
};

// Puts the counts of a step into the live dispatches.
void set_counts(VulkanRecording& recording, int64_t tokens, int64_t rows);

}  // namespace tandem::kernels::vulkan
