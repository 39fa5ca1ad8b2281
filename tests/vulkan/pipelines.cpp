// Workgroups whose subgroups a driver is asked to make full ones.
#include "kernels/vulkan/pipelines.h"

#include <gtest/gtest.h>

#include "kernels/vulkan/adapter.h"

namespace tandem::kernels::vulkan {
namespace {

TEST(FullSubgroups, make_up_whole_workgroups) {
    const FullSubgroups of_32{.invocations = 32, .most_subgroups = 16};
    for (uint32_t group : {32u, 64u, 96u, 512u}) EXPECT_TRUE(of_32.make_up(group)) << group;
    for (uint32_t group : {1u, 16u, 48u, 544u}) EXPECT_FALSE(of_32.make_up(group)) << group;
    EXPECT_FALSE(FullSubgroups{}.make_up(32));
}

// In attention a subgroup leaves out tiles by itself, and uses fragments as a whole.
TEST(ShaderCode, of_attention_keeps_subgroups_together) {
    const std::span<const uint32_t> code = shader_code("attend_matrices.nv");
    constexpr uint32_t execution_mode = 3 << 16 | 16, subgroup_uniform_control_flow = 4421;
    bool asks = false;
    for (size_t i = 0; i + 2 < code.size(); ++i)
        asks |= code[i] == execution_mode && code[i + 2] == subgroup_uniform_control_flow;
    EXPECT_TRUE(asks);
}

// Asked or not, a driver makes pipelines for every size of workgroup.
TEST(FullSubgroups, are_asked_for_where_they_fit) {
    if (vulkan_adapters().list.empty()) GTEST_SKIP() << vulkan_adapters().absence;
    const Drivers drivers = open_drivers();
    const vk::raii::PhysicalDevice adapter = std::move(adapters_of(drivers.instance).front());
    AdapterFacts facts = facts_of(adapter);
    if (facts.full_subgroups.invocations > 0) {
        EXPECT_EQ(int(facts.full_subgroups.invocations), facts.features.subgroup);
    }
    for (bool full : {true, false}) {
        if (!full) facts.full_subgroups = {};
        const vk::raii::Device device = make_device(adapter, facts);
        Pipelines pipelines(device, facts.full_subgroups);
        for (int group : {facts.features.subgroup, 3, 128})
            EXPECT_TRUE(pipelines.get("limit", {uint32_t(group), true})) << group;
    }
}

}  // namespace
}  // namespace tandem::kernels::vulkan
