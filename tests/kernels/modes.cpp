// Small models on two devices in every split mode: with blocks, with none, and helping each other.
#include <gtest/gtest.h>

#include "kernels/cpu/device.h"
#include "kernels/host.h"
#include "kernels/reference/device.h"
#include "kernels/small_model.h"
#include "parallel/policy.h"

namespace tandem {
namespace {

using gguf::DType;
using graph::Axis;
using graph::Tensor;
using test::random_step;
using test::SmallModel;

TEST(Modes, give_the_same_result_on_two_devices) {
    for (int blocks : {0, 1, 3}) {
        SmallModel model;
        Axis embd = model.axis("embd", 24);
        Tensor x = model.activation("x", {embd});
        for (int block = 0; block < blocks; ++block) {
            model.graph.begin_layer(block);
            const std::string name = "blk." + std::to_string(block);
            Axis ffn = model.axis(name + ".ffn", 10);
            Tensor hidden =
                sigmoid(linear(x, model.weight(name + ".up", DType::F32, {ffn}, {embd})));
            x = add(x, linear(hidden, model.weight(name + ".down", DType::F32, {embd}, {ffn})));
        }
        model.finish(x);
        const std::vector<graph::StepInputs> steps{random_step(0, 1), random_step(0, 9)};
        auto run = [&](size_t count, const std::string& mode) {
            std::vector<std::unique_ptr<kernels::Device>> devices;
            for (size_t i = 0; i < count; ++i)
                devices.push_back(
                    std::make_unique<kernels::ReferenceDevice>("reference" + std::to_string(i), 0));
            return model.run(std::move(devices), mode, steps);
        };
        const std::vector<float> expected = run(1, "none");
        for (const parallel::Policy& policy : parallel::policies()) {
            const std::vector<float> found = run(2, std::string(policy.name));
            ASSERT_EQ(found.size(), expected.size());
            for (size_t i = 0; i < found.size(); ++i)
                ASSERT_NEAR(found[i], expected[i], 1e-5) << policy.name << ", " << blocks;
        }
    }
}

// Devices with cores of their own help each other in a prompt; who computed what is never seen.
TEST(Modes, help_changes_no_bit) {
    SmallModel model;
    Axis embd = model.axis("embd", 256);
    Tensor x = model.activation("x", {embd});
    for (int block = 0; block < 3; ++block) {
        model.graph.begin_layer(block);
        const std::string name = "blk." + std::to_string(block);
        Axis ffn = model.axis(name + ".ffn", 1024);
        auto weight = [&](const char* part, const graph::Shape& rows, const graph::Shape& columns) {
            return model.weight(name + part, DType::Q4_0, rows, columns, 0.06f);
        };
        Tensor h = rms_norm(x, model.weight(name + ".norm", DType::F32, {embd}, {}), 1e-6);
        Tensor hidden = glu(linear(h, weight(".gate", {ffn}, {embd})),
                            linear(h, weight(".up", {ffn}, {embd})), "silu");
        x = add(x, linear(hidden, weight(".down", {embd}, {ffn})));
    }
    model.finish(x);
    const std::vector<int> usable = kernels::usable_cores();
    auto run = [&](bool helping) {
        std::vector<std::unique_ptr<kernels::Device>> devices;
        for (int core : {usable.front(), usable.back()})
            devices.push_back(std::make_unique<kernels::CpuDevice>(kernels::CpuDevice::Options{
                .name = "cpu:" + std::to_string(core), .cores = {core}, .shares_cores = !helping}));
        return model.run(std::move(devices), "tensor",
                         {random_step(0, 300), random_step(300, 9), random_step(309, 70)});
    };
    const std::vector<float> expected = run(false);
    for (int round = 0; round < 10; ++round) EXPECT_EQ(run(true), expected);
}

}  // namespace
}  // namespace tandem
