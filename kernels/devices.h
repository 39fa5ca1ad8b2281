// Devices by name: "reference", "cpu" (all cores), "cpu:0", "cpu:0-3", "cpu:node0" (the cores of a
// memory node), "vulkan0", "vulkan1", in any case. A name may be repeated, or cores divided, to
// make several devices of one machine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/device.h"
#include "kernels/nodes.h"
#include "kernels/vulkan.h"

namespace tandem::kernels {

// The names of the devices that a model runs on where nobody says: the GPUs, those beside the CPU
// only where there is no other, or else the CPU. Drivers, which take long to load, are asked only
// where the system shows a GPU.
std::vector<std::string> usual_devices();
std::vector<std::string> usual_devices(std::span<const VulkanAdapter> adapters,
                                       std::span<const MemoryNode> nodes);

// Of the CPU alone: "cpu", or where memory is near to some cores and far from others each node, so
// that all that a core reads is near.
std::vector<std::string> cpu_devices();
std::vector<std::string> cpu_devices(std::span<const MemoryNode> nodes);
bool is_node_name(const std::string& name);  // "cpu:node0"
bool is_cpu_name(const std::string& name);   // "cpu", "cpu:0-3", "cpu:node0"
bool is_same_device(const std::string& name, const std::string& other);

// Threads of a CPU device with `cores` of the `all` that the CPU devices of a run have: one per
// core, or where they may together keep only `quota` cores busy its share of these. Cores of two
// devices count twice.
int usual_threads(int64_t cores, int64_t all, std::optional<int64_t> quota);

// How devices work.
struct DeviceOptions {
    int threads = 0;                // of each CPU device, at most; 0: see usual_threads
    std::optional<int64_t> quota;   // of usual_threads; none: that of this process
    std::optional<int64_t> free;    // bytes of the host; none: what the system says
    std::string_view variant = "";  // of CPU kernels, "avx2"; empty: the best that the machine runs
    Products products = Products::Best;  // of Vulkan devices
};

// Free memory of the host is divided among the devices that live there, that of a GPU among those
// made of it. Throws Error naming the devices that exist.
std::vector<std::unique_ptr<Device>> make_devices(const std::vector<std::string>& names,
                                                  const DeviceOptions& how = {});

}  // namespace tandem::kernels
