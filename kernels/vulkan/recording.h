// A run of launches as a command buffer that is submitted anew in every step.
#pragma once

#include <vector>

#include "kernels/vulkan/adapter.h"
#include "kernels/vulkan/memory.h"
#include "kernels/vulkan/pipelines.h"
#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

// Dispatches whose number of groups changes with the step read it from memory.
struct LiveDispatch {
    Extent x, y;
    uint32_t* groups = nullptr;  // three, where the device reads them
};

// When a recording began, and when the device was done with each of its launches.
struct Stamps {
    vk::raii::QueryPool pool = nullptr;
    uint32_t count = 0;
    std::vector<size_t> order;  // of the launches
    Ticks ticks;
};

struct VulkanRecording final : Recording {
    vk::raii::CommandBuffer commands = nullptr;
    std::vector<LiveDispatch> live;
    const std::atomic<bool>* cancelled = nullptr;
    Stamps stamps;         // none where nobody asks
    bool stamped = false;  // by a play whose times were not added up yet
    std::vector<LaunchTime> times;

    // Launches that run side by side share their time: each has what it took longer than those
    // before it.
    std::vector<LaunchTime> take_times() override;
    // Adds up the times of a play that is done, before the next overwrites them.
    void add_times();
};

// What is made when launches are recorded.
struct Recorder {
    const vk::raii::Device& device;
    Pipelines& pipelines;
    Memory& memory;
    const vk::raii::CommandPool& pool;
    Ticks ticks;  // where the launches are to be timed

    std::unique_ptr<VulkanRecording> record(std::span<const Launch> launches,
                                            const Site& site) const;
};

// Puts the counts of a step into the live dispatches.
void set_counts(VulkanRecording& recording, int64_t tokens, int64_t rows);

}  // namespace tandem::kernels::vulkan
