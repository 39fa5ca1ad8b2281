// The GPUs of this machine, and other Vulkan devices, as they are seen from outside kernels/vulkan.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/device.h"

namespace tandem::kernels {

struct VulkanAdapter {
    std::string name;      // "NVIDIA H100 PCIe"
    std::string driver;    // "NVIDIA 550.54.14"
    std::string features;  // what the kernels make use of
    std::string missing;   // what they need and the driver lacks; empty: it can be used
    int64_t total_bytes = 0, free_bytes = 0;
    bool software = false;    // computes on the CPU, in the host's memory
    bool integrated = false;  // a GPU beside the CPU, whose memory is the host's or cut from it
    bool twin = false;        // of one further up, by another driver
};

struct VulkanAdapters {
    std::vector<VulkanAdapter> list;  // vulkan0, vulkan1, ...
    std::string absence;              // why there are none
};

// Never throws: a machine without a loader or a driver has none.
VulkanAdapters vulkan_adapters();

// How weights and activations are multiplied.
enum class Products {
    Best,          // as the adapter does it fastest
    InFloats,      // in f32
    InDots,        // quantised weights with activations rounded to int8 blocks, others in f32
    OnPlainUnits,  // as on matrix units, but in plain arithmetic: for tests, slow
};

struct VulkanOptions {
    std::string name;        // as the user wrote it
    int adapter = 0;         // number in the list
    int sharers = 1;         // devices of the run that are made of the same adapter
    int host_devices = 0;    // others of the run, in the host's memory
    int64_t host_bytes = 0;  // free for it where it computes on the CPU
    Products products = Products::Best;
};

// A logical device of its own. Throws Error where it cannot be made.
std::unique_ptr<Device> make_vulkan_device(const VulkanOptions& options);

}  // namespace tandem::kernels
