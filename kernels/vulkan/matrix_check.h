// What a driver says of its matrix units, held against its own f32.
#pragma once

#include "kernels/vulkan/memory.h"
#include "kernels/vulkan/pipelines.h"
#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

// Computes a small product both ways on the device. False where they differ by more than rounding
// to f16 explains, or the driver cannot make the shaders.
bool matrix_units_hold(const vk::raii::Device& device, const vk::raii::Queue& queue,
                       const vk::raii::CommandPool& pool, Pipelines& pipelines, Memory& memory,
                       const Features& features);

}  // namespace tandem::kernels::vulkan
