// Commands that are run once, now, and waited for.
#pragma once

#include <functional>

#include "kernels/vulkan/raii.h"

namespace tandem::kernels::vulkan {

// The seconds from the submission of what `record` records to the end of all that the queue has.
double run_once(const vk::raii::Device& device, const vk::raii::Queue& queue,
                const vk::raii::CommandPool& pool,
                const std::function<void(const vk::raii::CommandBuffer& commands)>& record);

}  // namespace tandem::kernels::vulkan
