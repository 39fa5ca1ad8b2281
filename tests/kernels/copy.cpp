// What every device offers to exchanges: memory that others reach, and the kernel that copies
// values there.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/cpu/device.h"
#include "kernels/reference/device.h"
#include "kernels/small_model.h"
#include "kernels/vulkan.h"
#include "random.h"

namespace tandem {
namespace {

using kernels::Device;
using kernels::Operand;
using kernels::Where;
using Extents = std::vector<int64_t>;
using Devices = std::vector<std::unique_ptr<Device>>;

constexpr int64_t capacity = 5;  // of live axes

Devices all_devices() {
    Devices all;
    all.push_back(std::make_unique<kernels::ReferenceDevice>("reference", 0));
    for (int threads : {1, 3})
        all.push_back(std::make_unique<kernels::CpuDevice>(kernels::CpuDevice::Options{
            .name = "cpu", .cores = std::vector<int>(size_t(threads), 0), .shares_cores = true}));
    if (!kernels::vulkan_adapters().list.empty())
        all.push_back(kernels::make_vulkan_device({.name = "vulkan0"}));
    return all;
}

// Copies a value whose elements lie `strides` apart, of which `live` tokens or rows exist.
void expect_copied(Device& device, const graph::Shape& axes, const Extents& strides, int64_t live) {
    Operand from{.view = {.axes = axes, .strides = strides}, .where = Where::Landing, .offset = 64};
    for (graph::Axis axis : axes)
        from.view.extents.push_back(axis->live() ? capacity : axis->extent);
    from.view.begins.assign(axes.size(), 0);
    Operand to = from;
    to.where = Where::Sending;
    to.offset = 128;
    to.view.strides.assign(axes.size(), 1);
    for (size_t i = axes.size(); i-- > 1;)
        to.view.strides[i - 1] = to.view.strides[i] * to.view.extents[i];

    // Random bits: some are no numbers.
    constexpr int64_t bytes = 1 << 13;
    std::byte *sending = device.exchange_memory(bytes), *landing = device.exchange_memory(bytes);
    test::Random random(1);
    std::memcpy(sending, random.bytes(bytes).data(), bytes);
    std::memcpy(landing, random.bytes(bytes).data(), bytes);
    std::vector<std::byte> expected(sending, sending + bytes);
    Extents extents = from.view.extents, index(axes.size(), 0);
    for (size_t i = 0; i < axes.size(); ++i)
        if (axes[i]->live()) extents[i] = live;
    int64_t count = 1;
    for (int64_t extent : extents) count *= extent;
    for (int64_t number = 0; number < count; ++number) {
        int64_t at = 0, rest = number;
        for (size_t i = axes.size(); i-- > 0; rest /= extents[i])
            at += rest % extents[i] * strides[i];
        std::memcpy(&expected[size_t(128 + 4 * number)], landing + 64 + 4 * at, 4);
    }

    std::vector<int32_t> ids(size_t(live), 0);
    device.reserve_inputs(capacity);
    device.inputs() = {};
    device.inputs().append(0, 0, ids);
    device.inputs().rows = ids;
    std::atomic<bool> cancelled = false;
    kernels::Launch launch{.kernel = device.copy(),
                           .operations = {{.inputs = {from}, .output = to}}};
    auto recording = device.record(
        {&launch, 1}, {.sending = sending, .landing = landing, .cancelled = &cancelled});
    device.wait(device.play(*recording));
    EXPECT_EQ(std::memcmp(sending, expected.data(), bytes), 0)
        << device.description().features << ", " << axes.size() << " axes, " << live << " live";
}

TEST(Copy, makes_any_strides_dense) {
    graph::Graph graph;
    graph::Axis few = graph.axis("few", 3), many = graph.axis("many", 21);
    for (const auto& device : all_devices()) {
        for (graph::Axis live : {graph.tokens(), graph.rows()})
            for (int64_t count : {int64_t(1), int64_t(4), capacity}) {
                expect_copied(*device, {live, few, many}, {63, 21, 1}, count);
                expect_copied(*device, {live, few, many}, {126, 42, 1}, count);
                expect_copied(*device, {live, few, many}, {127, 41, 2}, count);
                expect_copied(*device, {live, many}, {50, 1}, count);
                expect_copied(*device, {live}, {7}, count);
                expect_copied(*device, {few, many}, {23, 1}, count);
            }
    }
}

// The second device has one of two branches: their sum is that one under another name, which no
// launch of the sum writes to where others read.
TEST(Copy, brings_values_to_exchanges) {
    test::SmallModel model;
    graph::Axis embd = model.axis("embd", 64);
    graph::Axis one = model.axis("a.ffn", 5), two = model.axis("b.ffn", 1);
    auto weight = [&](const char* name, const graph::Shape& rows, const graph::Shape& columns) {
        return model.weight(name, gguf::DType::F32, rows, columns);
    };
    graph::Tensor x = model.activation("x", {embd});
    graph::Tensor a =
        linear(linear(x, weight("a.up", {one}, {embd})), weight("a.down", {embd}, {one}));
    graph::Tensor b =
        linear(linear(x, weight("b.up", {two}, {embd})), weight("b.down", {embd}, {two}));
    model.finish(rms_norm(add(a, b), weight("norm", {embd}, {}), 1e-6));
    std::vector<graph::StepInputs> steps{test::random_step(0, 9), test::random_step(9, 1)};
    auto expected = model.run(std::make_unique<kernels::ReferenceDevice>("reference", 0), steps);
    for (auto [first, second] : {std::pair{0, 0}, {1, 1}, {0, 2}, {2, 0}, {3, 3}, {3, 1}, {0, 3}}) {
        Devices some = all_devices(), others = all_devices(), devices;
        if (size_t(std::max(first, second)) >= some.size()) continue;  // no Vulkan device is here
        devices.push_back(std::move(some[size_t(first)]));
        devices.push_back(std::move(others[size_t(second)]));
        auto found = model.run(std::move(devices), "tensor", steps);
        ASSERT_EQ(found.size(), expected.size());
        for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-4) << i;
    }
}

TEST(ExchangeMemory, is_aligned_and_everyones_own) {
    for (const auto& device : all_devices()) {
        std::vector<std::byte*> blocks;
        for (int64_t bytes : {0, 1, 4096, 5000}) {
            std::byte* block = device->exchange_memory(bytes);
            ASSERT_NE(block, nullptr);
            EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 4096, 0u);
            std::memset(block, int(blocks.size()), size_t(bytes));
            for (std::byte* other : blocks) EXPECT_NE(block, other);
            blocks.push_back(block);
        }
        EXPECT_EQ(blocks[1][0], std::byte{1});
        EXPECT_EQ(blocks[2][4095], std::byte{2});
    }
}

}  // namespace
}  // namespace tandem
