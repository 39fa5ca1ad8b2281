// Small models on two devices in every split mode: with blocks, and with none.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tandem
