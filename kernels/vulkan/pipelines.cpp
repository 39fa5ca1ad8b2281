#include "kernels/vulkan/pipelines.h"

#include "gguf/error.h"
#include "kernels/vulkan/dispatch.h"

namespace tandem::kernels::vulkan {

namespace {

vk::raii::PipelineLayout make_layout(const vk::raii::Device& device) {
    const vk::PushConstantRange range{.stageFlags = vk::ShaderStageFlagBits::eCompute,
                                      .size = uint32_t(Parameters::capacity)};
    return {device, {.pushConstantRangeCount = 1, .pPushConstantRanges = &range}};
}

}  // namespace

Pipelines::Pipelines(const vk::raii::Device& device, const FullSubgroups& full_subgroups)
    : device_(device),
      full_subgroups_(full_subgroups),
      cache_(device, vk::PipelineCacheCreateInfo{}),
      layout_(make_layout(device)) {}

vk::Pipeline Pipelines::get(const std::string& shader, const std::vector<uint32_t>& constants) {
    auto known = pipelines_.find({shader, constants});
    if (known != pipelines_.end()) return *known->second;
    auto module = modules_.find(shader);
    if (module == modules_.end()) {
        const std::span<const uint32_t> code = shader_code(shader);
        check(!code.empty(), "there is a shader " + shader);
        module = modules_
                     .emplace(shader,
                              vk::raii::ShaderModule(
                                  device_, {.codeSize = code.size_bytes(), .pCode = code.data()}))
                     .first;
    }
    std::vector<vk::SpecializationMapEntry> entries;
    for (uint32_t i = 0; i < constants.size(); ++i)
        entries.push_back({.constantID = i, .offset = i * 4, .size = 4});
    const vk::SpecializationInfo specialization{.mapEntryCount = uint32_t(entries.size()),
                                                .pMapEntries = entries.data(),
                                                .dataSize = constants.size() * 4,
                                                .pData = constants.data()};
    check(!constants.empty(), "the first constant is the size of a workgroup");
    const bool full = full_subgroups_.make_up(constants.front());
    using Flag = vk::PipelineShaderStageCreateFlagBits;
    const vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo size{
        .requiredSubgroupSize = full_subgroups_.invocations};
    const vk::PipelineShaderStageCreateInfo stage{
        .pNext = full ? &size : nullptr,
        .flags = full ? Flag::eRequireFullSubgroups : Flag(),
        .stage = vk::ShaderStageFlagBits::eCompute,
        .module = *module->second,
        .pName = "main",
        .pSpecializationInfo = &specialization};
    vk::raii::Pipeline pipeline(device_, cache_, {.stage = stage, .layout = *layout_});
    return *pipelines_.emplace(std::pair(shader, constants), std::move(pipeline)).first->second;
}

vk::Pipeline Pipelines::bind(const vk::raii::CommandBuffer& commands, const Dispatch& dispatch,
                             vk::Pipeline bound) {
    const vk::Pipeline pipeline = get(dispatch.shader, dispatch.constants);
    if (pipeline != bound) commands.bindPipeline(vk::PipelineBindPoint::eCompute, pipeline);
    commands.pushConstants<std::byte>(
        *layout_, vk::ShaderStageFlagBits::eCompute, 0,
        vk::ArrayProxy<const std::byte>(uint32_t(dispatch.parameters.bytes),
                                        dispatch.parameters.data.data()));
    return pipeline;
}

}  // namespace tandem::kernels::vulkan
