// What the cases of the Vulkan kernels share: the comparison with the reference op, and leave to be
// left out where the machine has no Vulkan device.
#pragma once

#include <gtest/gtest.h>

#include "kernels/reference/device.h"
#include "kernels/small_model.h"
#include "kernels/vulkan.h"
#include "nmse.h"

namespace tandem::test {

// A GPU may round products where it is faster for it, which other tests are about.
inline const kernels::VulkanOptions in_floats{.name = "vulkan0",
                                              .products = kernels::Products::InFloats};

// What is written for matrix units, in plain arithmetic.
inline std::unique_ptr<kernels::Device> device_of_plain_units() {
    return kernels::make_vulkan_device(
        {.name = "vulkan0", .products = kernels::Products::OnPlainUnits});
}
// The units of the hardware; null where it has none.
inline std::unique_ptr<kernels::Device> device_of_units() {
    auto device = kernels::make_vulkan_device({.name = "vulkan0"});
    const bool has_units = device->description().features.find("matrix units") != std::string::npos;
    return has_units ? std::move(device) : nullptr;
}

// Calls `run(device)` for plain units, and for those of the hardware where it has some.
template <typename Run>
void on_matrix_units(Run run) {
    run(device_of_plain_units());
    if (auto units = device_of_units()) {
        SCOPED_TRACE("on units");
        run(std::move(units));
    }
}

// Runs the model on both and compares.
inline void expect_close(const SmallModel& model, const std::vector<graph::StepInputs>& steps,
                         double bound = 1e-11, const kernels::VulkanOptions& options = in_floats) {
    auto expected = model.run(std::make_unique<kernels::ReferenceDevice>("reference", 0), steps);
    auto found = model.run(kernels::make_vulkan_device(options), steps);
    EXPECT_LE(nmse(found, expected), bound);
}

// The same where two devices divide every axis that can be divided.
inline void expect_close_on_two(const SmallModel& model,
                                const std::vector<graph::StepInputs>& steps, double bound,
                                kernels::Products products = kernels::Products::InFloats) {
    auto expected = model.run(std::make_unique<kernels::ReferenceDevice>("reference", 0), steps);
    std::vector<std::unique_ptr<kernels::Device>> devices;
    for (int i = 0; i < 2; ++i)
        devices.push_back(
            kernels::make_vulkan_device({.name = "vulkan0", .sharers = 2, .products = products}));
    EXPECT_LE(nmse(model.run(std::move(devices), "tensor", steps), expected), bound);
}

// What a device that holds all of the model launches in a step of so many tokens.
inline std::vector<kernels::Launch> launches(const SmallModel& model, int64_t tokens,
                                             const kernels::VulkanOptions& options = in_floats) {
    const auto device = kernels::make_vulkan_device(options);
    const parallel::Programs programs = model.programs(*device, tokens);
    std::vector<kernels::Launch> all;
    for (const auto& item : programs.body[fitting(programs.body, tokens)].items)
        for (const kernels::Launch& launch : std::get<parallel::Segment>(item).launches)
            all.push_back(launch);
    return all;
}

// How many operations each launch of a kernel runs, in order.
inline std::vector<size_t> chains(const SmallModel& model, std::string_view kernel, int64_t tokens,
                                  const kernels::VulkanOptions& options = in_floats) {
    std::vector<size_t> sizes;
    for (const kernels::Launch& launch : launches(model, tokens, options))
        if (launch.kernel->name == kernel) sizes.push_back(launch.operations.size());
    return sizes;
}

struct Part {
    int32_t slot, cached, count;
};

// A step of parts of several sequences, all rows wanted.
inline graph::StepInputs step_of(std::initializer_list<Part> parts) {
    graph::StepInputs step;
    for (const Part& part : parts) {
        std::vector<int32_t> tokens;
        for (int32_t i = 0; i < part.count; ++i)
            tokens.push_back((31 * part.slot + 7 * (part.cached + i) + i * i) % SmallModel::ids);
        step.append(part.slot, part.cached, tokens);
    }
    for (int32_t i = 0; i < step.tokens(); ++i) step.rows.push_back(i);
    return step;
}

class Vulkan : public testing::Test {
  protected:
    void SetUp() override {
        if (kernels::vulkan_adapters().list.empty())
            GTEST_SKIP() << kernels::vulkan_adapters().absence;
    }
};

}  // namespace tandem::test
