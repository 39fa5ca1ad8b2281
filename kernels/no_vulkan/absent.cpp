// A build without Vulkan says so.
#include "gguf/error.h"
#include "kernels/vulkan.h"

namespace tandem::kernels {

VulkanAdapters vulkan_adapters() {
    return {.absence = "this build has no Vulkan devices (it was made with TANDEM_VULKAN=OFF)"};
}

std::unique_ptr<Device> make_vulkan_device(const VulkanOptions& options) {
    throw Error("device " + options.name + " does not exist: " + vulkan_adapters().absence);
}

}  // namespace tandem::kernels
