#include "kernels/vulkan/matrix_check.h"

#include <algorithm>
#include <cstddef>
#include <new>

#include "gguf/half.h"
#include "kernels/vulkan/matrix_units.h"
#include "kernels/vulkan/planes.h"
#include "kernels/vulkan/run_once.h"

namespace tandem::kernels::vulkan {

namespace {

// Several tiles, of which the last are not full.
constexpr uint32_t rows = 150, columns = 160, tokens = 70;
// A lane in the wrong place leaves all of a sum's power, the order of the sums next to nothing.
constexpr double most_error = 1e-5;

// All of the check, as the device sees it.
struct Check {
    uint32_t count[4] = {tokens};
    float w[rows * columns], x[tokens * columns];
    uint16_t half_w[rows * columns], half_x[tokens * columns];
    float by_units[tokens * rows] = {}, in_floats[tokens * rows] = {};
};
static_assert(offsetof(Check, w) % 16 == 0 && offsetof(Check, x) % 16 == 0 &&
              offsetof(Check, half_w) % 16 == 0 && offsetof(Check, half_x) % 16 == 0);

void fill(Check& check) {
    uint32_t state = 1;
    auto draw = [&] {  // from -1 to 1, and a half
        state = state * 1664525 + 1013904223;
        return float(int32_t(state) >> 22) / 512.0f;
    };
    std::ranges::generate(check.w, draw);
    std::ranges::generate(check.x, draw);
    std::ranges::transform(check.w, check.half_w, gguf::f32_to_f16);
    std::ranges::transform(check.x, check.half_x, gguf::f32_to_f16);
}

Product product_of(Address check, gguf::DType dtype, size_t w, size_t x, size_t y) {
    const auto at = [&](size_t offset) { return check + Address(offset); };
    return {.parameters = {.count = at(offsetof(Check, count)),
                           .w = at(w),
                           .x = at(x),
                           .y = at(y),
                           .rows = rows,
                           .columns = columns,
                           .row_bytes = uint32_t(plane_row_bytes(dtype, columns)),
                           .per_live = 1,
                           .weight_rows = {.to = {1}},
                           .token_rows = {.from = {columns}, .to = {rows}}},
            .dtype = dtype,
            .most_tokens = tokens,
            .live = Live::Tokens,
            .aligned = true};
}

bool alike(const Check& check) {
    double error = 0, power = 0;
    for (size_t i = 0; i < std::size(check.in_floats); ++i) {
        const double expected = check.in_floats[i], difference = check.by_units[i] - expected;
        error += difference * difference;
        power += expected * expected;
    }
    return power > 0 && error <= most_error * power;  // false for NaN
}

}  // namespace

bool matrix_units_hold(const vk::raii::Device& device, const vk::raii::Queue& queue,
                       const vk::raii::CommandPool& pool, Pipelines& pipelines, Memory& memory,
                       const Features& features) {
    const Block block = memory.take(sizeof(Check), Reach::Shared);
    Check& check = *new (block.mapped) Check;
    fill(check);
    const Site site = {.weights = {}, .states = {}, .vectors = {}, .features = features};
    const Dispatch dispatches[] = {
        by_matrix_units(product_of(block.address, gguf::DType::F16, offsetof(Check, half_w),
                                   offsetof(Check, half_x), offsetof(Check, by_units)),
                        site, 0)[0],
        in_floats(product_of(block.address, gguf::DType::F32, offsetof(Check, w),
                             offsetof(Check, x), offsetof(Check, in_floats)),
                  site)[0]};
    try {
        for (const Dispatch& dispatch : dispatches)
            pipelines.get(dispatch.shader, dispatch.constants);
    } catch (const vk::SystemError&) {
        return false;
    }
    run_once(device, queue, pool, [&](const vk::raii::CommandBuffer& commands) {
        for (const Dispatch& dispatch : dispatches) {
            pipelines.bind(commands, dispatch);
            commands.dispatch(uint32_t(dispatch.x.groups(tokens, 0)),
                              uint32_t(dispatch.y.groups(tokens, 0)), 1);
        }
        const vk::MemoryBarrier written{.srcAccessMask = vk::AccessFlagBits::eShaderWrite,
                                        .dstAccessMask = vk::AccessFlagBits::eHostRead};
        commands.pipelineBarrier(vk::PipelineStageFlagBits::eComputeShader,
                                 vk::PipelineStageFlagBits::eHost, {}, written, {}, {});
    });
    return alike(check);
}

}  // namespace tandem::kernels::vulkan
