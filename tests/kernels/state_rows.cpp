// Rows of states, which every device takes and gives as files store them.
#include <gtest/gtest.h>

#include "kernels/cpu/device.h"
#include "kernels/reference/device.h"
#include "kernels/vulkan_case.h"
#include "random.h"

namespace tandem {
namespace {

using gguf::DType;
using kernels::Device;
using kernels::StateRows;
using Bytes = std::vector<std::byte>;

constexpr int64_t rows = 37;

Bytes read(Device& device, const StateRows& wanted) {
    Bytes bytes(size_t(wanted.bytes()));
    device.read_state(wanted, bytes.data());
    return bytes;
}

// Of every type of caches, in rows that are no multiple of what devices align.
void expect_kept(Device& device) {
    test::Random random(1);
    int value = 0;
    for (DType dtype : {DType::F32, DType::F16, DType::BF16, DType::Q8_0, DType::Q4_0})
        for (int64_t columns : {int64_t(gguf::traits(dtype).block) * 3, int64_t(128)}) {
            device.make_state(++value, dtype, rows, columns);
            device.make_arena(0);  // whatever was made before has arrived
            const StateRows all{value, dtype, columns, 0, rows};
            Bytes expected(size_t(all.bytes()));
            EXPECT_EQ(read(device, all), expected) << "not cleared";
            for (auto [first, count] : {std::pair{0, 1}, {36, 1}, {5, 20}, {7, 0}, {0, 37}}) {
                const StateRows some{value, dtype, columns, first, count};
                const Bytes bytes = random.bytes(some.bytes());
                device.write_state(some, bytes.data());
                std::ranges::copy(bytes, expected.begin() + first * some.row_bytes());
                EXPECT_EQ(read(device, some), bytes);
                EXPECT_EQ(read(device, all), expected)
                    << gguf::name(dtype) << " " << columns << ", " << count << " from " << first;
            }
            EXPECT_THROW(read(device, {value, dtype, columns, 30, 300}), std::logic_error);
        }
}

TEST(StateRows, OfReferenceDevices) {
    kernels::ReferenceDevice device("reference", 0);
    expect_kept(device);
}

TEST(StateRows, OfCpuDevices) {
    kernels::CpuDevice device({.name = "cpu", .cores = {0, 0}, .shares_cores = true});
    expect_kept(device);
}

class VulkanStateRows : public test::Vulkan {};

TEST_F(VulkanStateRows, AreKept) { expect_kept(*kernels::make_vulkan_device(test::in_floats)); }

// More than is read or written in one go.
TEST_F(VulkanStateRows, MayBeMany) {
    const auto device = kernels::make_vulkan_device(test::in_floats);
    const StateRows all{0, DType::Q8_0, 96, 0, 200'000};
    device->make_state(0, all.dtype, all.count, all.columns);
    const Bytes bytes = test::Random(2).bytes(all.bytes());
    device->write_state(all, bytes.data());
    EXPECT_TRUE(read(*device, all) == bytes);
}

}  // namespace
}  // namespace tandem
