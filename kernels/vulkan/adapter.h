// What an adapter is and can do.
#pragma once

#include <functional>

#include "kernels/vulkan.h"
#include "kernels/vulkan/pipelines.h"
#include "kernels/vulkan/raii.h"
#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

// Timestamps of the queue.
struct Ticks {
    double nanoseconds = 0;  // each; 0: the queue has no timestamps
    uint64_t mask = 0;       // of the bits that count
};

struct AdapterFacts {
    VulkanAdapter adapter;
    Features features;
    FullSubgroups full_subgroups;
    uint32_t queue_family = 0;
    bool dots = false;    // integer dot products, perhaps slow
    bool budget = false;  // the driver says how much memory is free
    Ticks ticks;
};

// The way to the adapters.
struct Drivers {
    vk::raii::Context loader;
    vk::raii::Instance instance;
};

// Throws Error where there is no loader, or no driver.
Drivers open_drivers();
// In the order of their numbers; throws Error where there are none.
std::vector<vk::raii::PhysicalDevice> adapters_of(const vk::raii::Instance& instance);
bool has_extension(const vk::raii::PhysicalDevice& adapter, std::string_view name);
AdapterFacts facts_of(const vk::raii::PhysicalDevice& adapter);
// Of the facts that `ask` gives what is seen from outside, with as much memory as devices may have;
// where it throws, an adapter of that name that cannot be used.
VulkanAdapter listed(const std::string& name, const std::function<AdapterFacts()>& ask);
// What is free for a device that shares the adapter's memory with others of the run.
int64_t free_for(const VulkanAdapter& adapter, const VulkanOptions& options);
// "subgroups of 32, integer dots, ..."
std::string text_of(const Features& features, bool software);
// Throws Error where `device` would be an adapter that lacks something.
void require_usable(const VulkanAdapter& adapter, const std::string& device);
vk::raii::Device make_device(const vk::raii::PhysicalDevice& adapter, const AdapterFacts& facts);

// Called where an exception of the driver was caught: throws an Error in its place, which says what
// `device` could not do, and what would help.
[[noreturn]] void rethrow(const std::string& device, const char* doing);

// Runs `action`; exceptions of the driver become Errors.
template <typename Action>
auto guarded(const std::string& device, const char* doing, Action action) {
    try {
        return action();
    } catch (const vk::SystemError&) {
        rethrow(device, doing);
    }
}

}  // namespace tandem::kernels::vulkan
