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

// Subgroups that a driver makes where it is asked to: with all of their invocations. Else it may
// run fewer than gl_SubgroupSize says, and loops over a subgroup would leave something out.
struct FullSubgroups {
    uint32_t invocations = 0;     // of each; 0: the driver cannot be asked
    uint32_t most_subgroups = 0;  // of a workgroup

    // True if a workgroup of so many invocations can be made of them.
    bool make_up(uint32_t group) const {
        return invocations > 0 && group % invocations == 0 && group / invocations <= most_subgroups;
    }
};

class Pipelines {
  public:
    Pipelines(const vk::raii::Device& device, const FullSubgroups& full_subgroups);

    vk::Pipeline get(const std::string& shader, const std::vector<uint32_t>& constants);
    // Puts a dispatch's pipeline and parameters into the commands, all but the dispatch itself;
    // gives the pipeline, which may be the one that is `bound` there.
    vk::Pipeline bind(const vk::raii::CommandBuffer& commands, const Dispatch& dispatch,
                      vk::Pipeline bound = {});

  private:
    const vk::raii::Device& device_;
    const FullSubgroups full_subgroups_;
    vk::raii::PipelineCache cache_;
    vk::raii::PipelineLayout layout_;  // of all: parameters, and no descriptors
    std::map<std::string, vk::raii::ShaderModule, std::less<>> modules_;
    std::map<std::pair<std::string, std::vector<uint32_t>>, vk::raii::Pipeline> pipelines_;
};

}  // namespace tandem::kernels::vulkan
