#include "kernels/vulkan/recording.h"

#include "gguf/error.h"
#include "kernels/vulkan/hazards.h"

namespace tandem::kernels::vulkan {

namespace {

void fold(int64_t x, int64_t y, uint32_t* groups) {
    const auto folds = uint32_t((x + most_groups - 1) / most_groups);
    groups[0] = folds > 1 ? most_groups : uint32_t(x);
    groups[1] = uint32_t(y);
    groups[2] = folds;
}

// True where the counts are known when the launch is recorded: programs for one token.
bool counts_are_known(const Dispatch& dispatch, const Launch& launch) {
    for (const Extent& extent : {dispatch.x, dispatch.y}) {
        if (extent.live == Live::No) continue;
        const graph::View& view = launch.operations.back().output.view;
        if (live(view) != extent.live || !is_one(view)) return false;
    }
    return true;
}

void barrier(const vk::raii::CommandBuffer& commands, vk::PipelineStageFlags stage,
             vk::AccessFlags access) {
    const vk::MemoryBarrier memory{.srcAccessMask = vk::AccessFlagBits::eShaderWrite,
                                   .dstAccessMask = access};
    commands.pipelineBarrier(vk::PipelineStageFlagBits::eComputeShader, stage, {}, memory, {}, {});
}

void wait_for_earlier(const vk::raii::CommandBuffer& commands) {
    barrier(commands, vk::PipelineStageFlagBits::eComputeShader,
            vk::AccessFlagBits::eShaderRead | vk::AccessFlagBits::eShaderWrite);
}

Stamps make_stamps(const vk::raii::Device& device, size_t launches, const Ticks& ticks) {
    const auto count = uint32_t(launches) + 1;
    return {.pool = {device, {.queryType = vk::QueryType::eTimestamp, .queryCount = count}},
            .count = count,
            .ticks = ticks};
}

void stamp(const vk::raii::CommandBuffer& commands, const Stamps& stamps, uint32_t number) {
    if (stamps.count > 0)
        commands.writeTimestamp(vk::PipelineStageFlagBits::eBottomOfPipe, *stamps.pool, number);
}

}  // namespace

std::vector<LaunchTime> VulkanRecording::take_times() {
    try {
        add_times();
    } catch (const vk::SystemError& error) {
        throw Error(std::string("times of launches: the driver reports ") + error.what());
    }
    return std::exchange(times, std::vector<LaunchTime>(times.size()));
}

void VulkanRecording::add_times() {
    if (!std::exchange(stamped, false)) return;
    const auto [result, at] = stamps.pool.getResults<uint64_t>(
        0, stamps.count, stamps.count * sizeof(uint64_t), sizeof(uint64_t),
        vk::QueryResultFlagBits::e64 | vk::QueryResultFlagBits::eWait);
    for (size_t i = 0; i < stamps.order.size(); ++i)
        times[stamps.order[i]].working +=
            int64_t(double((at[i + 1] - at[i]) & stamps.ticks.mask) * stamps.ticks.nanoseconds);
}

std::unique_ptr<VulkanRecording> Recorder::record(std::span<const Launch> launches,
                                                  const Site& site) const {
    auto recording = std::make_unique<VulkanRecording>();
    vk::raii::CommandBuffers buffers(device, {.commandPool = *pool, .commandBufferCount = 1});
    recording->commands = std::move(buffers[0]);
    const vk::raii::CommandBuffer& commands = recording->commands;
    commands.begin(vk::CommandBufferBeginInfo{});
    Stamps& stamps = recording->stamps;
    if (ticks.nanoseconds > 0) {
        stamps = make_stamps(device, launches.size(), ticks);
        recording->times.resize(launches.size());
        commands.resetQueryPool(*stamps.pool, 0, stamps.count);
    }
    stamp(commands, stamps, 0);
    vk::Pipeline bound;
    bool waits = false;
    auto put = [&](const Dispatch& dispatch, const Launch& launch) {
        if (std::exchange(waits, false)) wait_for_earlier(commands);
        bound = pipelines.bind(commands, dispatch, bound);
        if (counts_are_known(dispatch, launch)) {
            uint32_t groups[3];
            fold(dispatch.x.groups(1, 1), dispatch.y.groups(1, 1), groups);
            commands.dispatch(groups[0], groups[1], groups[2]);
        } else {
            const Block block = memory.take(sizeof(vk::DispatchIndirectCommand), Reach::Written);
            recording->live.push_back(
                {dispatch.x, dispatch.y, reinterpret_cast<uint32_t*>(block.mapped)});
            commands.dispatchIndirect(block.buffer, vk::DeviceSize(block.offset));
        }
    };
    for (const std::vector<size_t>& wave : waves_of(launches)) {
        for (const size_t number : wave) {
            const Launch& launch = launches[number];
            const std::vector<Dispatch> dispatches =
                ops_table()[size_t(launch.kernel->number)]->bind(launch, site);
            for (const Dispatch& dispatch : dispatches) {
                waits = waits || (&dispatch != &dispatches.front() && dispatch.after_previous);
                put(dispatch, launch);
            }
            stamps.order.push_back(number);
            stamp(commands, stamps, uint32_t(stamps.order.size()));
        }
        waits = true;
    }
    barrier(commands, vk::PipelineStageFlagBits::eHost, vk::AccessFlagBits::eHostRead);
    commands.end();
    return recording;
}

void set_counts(VulkanRecording& recording, int64_t tokens, int64_t rows) {
    for (const LiveDispatch& dispatch : recording.live)
        fold(dispatch.x.groups(tokens, rows), dispatch.y.groups(tokens, rows), dispatch.groups);
}

}  // namespace tandem::kernels::vulkan
