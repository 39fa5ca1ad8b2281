// Compute pipelines by shader and constants, made when first asked for.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/vulkan/dispatch.h"
#include "kernels/vulkan/raii.h"

namespace tandem::kernels::vulkan {

// SPIR-V that the build embedded; empty where there is no such shader.
std::span<const uint32_t> shader_code(std::string_view name);

class Pipelines {
  public:
    explicit Pipelines(const vk::raii::Device& device);

    vk::Pipeline get(const std::string& shader, const std::vector<uint32_t>& constants);
    // Puts a dispatch's pipeline and parameters into the commands, all but the dispatch itself;
    // gives the pipeline, which may be the one that is `bound` there.
    vk::Pipeline bind(const vk::raii::CommandBuffer& commands, const Dispatch& dispatch,
                      vk::Pipeline bound = {});

  private:
    const vk::raii::Device& device_;
    vk::raii::PipelineCache cache_;
    vk::raii::PipelineLayout layout_;  // of all: parameters, and no descriptors
    std::map<std::string, vk::raii::ShaderModule, std::less<>> modules_;
    std::map<std::pair<std::string, std::vector<uint32_t>>, vk::raii::Pipeline> pipelines_;
};

}  // namespace tandem::kernels::vulkan
