// What is not finite on Vulkan devices: it shows in what depends on it, and nowhere else.
#include <cmath>
#include <cstring>
#include <limits>

#include "gguf/vectors.h"
#include "graph/rope.h"
#include "kernels/attend_case.h"
#include "kernels/delta_case.h"
#include "kernels/vulkan_case.h"

namespace tandem {
namespace {

using gguf::DType;
using test::SmallModel;
using test::Spoiled;
using test::spoiled_step;

class VulkanSpoiled : public test::Vulkan {};

constexpr float infinity = std::numeric_limits<float>::infinity();

// Steps after each other, and for each row of their results whether it sees the spoiled token.
struct Seen {
    std::vector<graph::StepInputs> steps;
    std::vector<bool> rows;
};

// Prompts, a few tokens and one, and two sequences of which the other one is not spoiled.
Seen prompts() {
    graph::StepInputs two = spoiled_step(0, 40, 9, {8, 9, 39, 40, 60});
    two.append(1, 0, std::vector<int32_t>(30, 1));
    graph::StepInputs one_each = spoiled_step(40, 1, -1, {0, 1});
    one_each.append(1, 30, std::vector<int32_t>{1});
    return {{spoiled_step(0, 80, 9, {0, 8, 9, 79}), spoiled_step(80, 1, -1, {0}),
             spoiled_step(0, 80, -1, {79}), spoiled_step(80, 4, 2, {0, 1, 2, 3}),
             spoiled_step(0, 60, -1, {59}), two, one_each},
            {false, false, true, true, true, false, false, false, true, true, false, false, true,
             true, false, false, true, false}};
}

// Tokens that see the spoiled one are spoiled: by a key wholly, by a value in its element or its
// block.
void expect_spoiled(const Spoiled& how, std::unique_ptr<kernels::Device> device) {
    SmallModel model;
    how.build(model);
    const Seen seen = prompts();
    const std::vector<float> found = model.run(std::move(device), seen.steps);
    const auto row = size_t(how.q_per_kv * how.d);
    const auto block = size_t(gguf::traits(how.dtype).block);
    ASSERT_EQ(found.size(), seen.rows.size() * row);
    for (size_t i = 0; i < found.size(); ++i) {
        const size_t element = i % size_t(how.d);
        const bool spoils = how.keys || element / block == Spoiled::element / block;
        const float expected = how.keys ? found[i] : Spoiled::other;
        const bool right = seen.rows[i / row] && spoils ? !std::isfinite(found[i])
                                                        : std::abs(found[i] - expected) < 0.02f;
        ASSERT_TRUE(right) << "cache " << gguf::name(how.dtype) << ", row " << i / row
                           << ", element " << element << ": " << found[i];
    }
}

TEST_F(VulkanSpoiled, Attention) {
    for (const Spoiled& how : {Spoiled{33, 2, DType::F16, -infinity},
                               {32, 2, DType::F16, 1e6},
                               {32, 3, DType::BF16, -std::nanf("")},
                               {32, 4, DType::F32, infinity},
                               {64, 4, DType::Q8_0, infinity},
                               {64, 4, DType::Q4_0, -infinity},
                               {33, 2, DType::F16, std::nanf(""), true},
                               {32, 2, DType::F32, std::nanf(""), true},
                               {64, 4, DType::Q8_0, infinity, true},
                               {64, 4, DType::Q4_0, -infinity, true}})
        expect_spoiled(how, kernels::make_vulkan_device(test::in_floats));
}

TEST_F(VulkanSpoiled, AttentionOnMatrixUnits) {
    for (const Spoiled& how : {Spoiled{32, 2, DType::F16, std::nanf("")},
                               {32, 2, DType::F16, 1e6},
                               {32, 3, DType::BF16, -infinity},
                               {64, 2, DType::Q8_0, infinity},
                               {64, 2, DType::Q4_0, -infinity},
                               {32, 2, DType::F16, std::nanf(""), true},
                               {64, 2, DType::Q8_0, infinity, true}})
        test::on_matrix_units([&](std::unique_ptr<kernels::Device> device) {
            expect_spoiled(how, std::move(device));
        });
}

// A query spoils its own rows.
TEST_F(VulkanSpoiled, QueriesOnMatrixUnits) {
    for (const float value : {std::nanf(""), infinity}) {
        SmallModel model;
        graph::Axis kv = model.axis("kv_heads", 1), queries = model.axis("q_per_kv", 2);
        graph::Axis d = model.axis("d", 32), slots = model.axis("slots", 1);
        graph::Axis cells = model.axis("cells", 80);
        const auto q = [&](int32_t id, size_t i) {
            return id == Spoiled::token && i == Spoiled::element ? value : Spoiled::other;
        };
        const auto k = [](int32_t, size_t) { return Spoiled::other; };
        graph::Cache cache{model.graph.state("k_cache", DType::F16, {slots, kv, cells}, {d}),
                           model.graph.state("v_cache", DType::F16, {slots, kv, cells}, {d})};
        model.finish(attend(activation_of(model, "q", {kv, queries, d}, q),
                            activation_of(model, "k", {kv, d}, k), model.activation("v", {kv, d}),
                            cache, 0.1));
        test::on_matrix_units([&](std::unique_ptr<kernels::Device> device) {
            const std::vector<float> found =
                model.run(std::move(device), {spoiled_step(0, 70, 9, {8, 9, 69})});
            ASSERT_EQ(found.size(), 3 * 2 * 32u);
            // The first of the second row's two.
            for (size_t i = 0; i < found.size(); ++i)
                ASSERT_EQ(std::isfinite(found[i]), i / 32 != 2) << value << ", " << i;
        });
    }
}

// As in the reference, where min() and clamp() keep it.
TEST_F(VulkanSpoiled, GatedUnits) {
    for (const char* unit : {"silu", "gelu", "clamped_swiglu"})
        for (const bool gate : {false, true}) {
            SmallModel model;
            graph::Axis embd = model.axis("embd", 32), ffn = model.axis("ffn", 32);
            graph::Axis experts = model.axis("experts", 2);
            const graph::Tensor scores = softmax(model.activation("scores", {experts}));
            const graph::Tensor ids = top_k(scores, model.axis("used", 1));
            const auto bias = [&](const std::string& name, float value) {
                const auto fill = [=](std::span<std::byte> row) {
                    std::memcpy(row.data(), &value, sizeof value);
                };
                return model.weight(name, DType::F32, {experts, ffn}, {}, fill);
            };
            const graph::Experts all{
                .gate = model.weight("gate", DType::F32, {experts, ffn}, {embd}),
                .up = model.weight("up", DType::F32, {experts, ffn}, {embd}),
                .down = model.weight("down", DType::F32, {experts, embd}, {ffn}),
                .gate_bias = bias("gate.bias", gate ? std::nanf("") : 1),
                .up_bias = bias("up.bias", gate ? 1 : std::nanf(""))};
            model.finish(moe_ffn(model.activation("x", {embd}), ids, take(scores, ids), all, unit));
            for (const auto products :
                 {kernels::Products::InFloats, kernels::Products::OnPlainUnits})
                for (const float y : model.run(
                         kernels::make_vulkan_device({.name = "vulkan0", .products = products}),
                         {test::random_step(0, 1), test::random_step(0, 40)}))
                    ASSERT_TRUE(std::isnan(y)) << unit << (gate ? ", gate" : ", up");
        }
}

// An angle that is no number has no fraction of a turn.
TEST_F(VulkanSpoiled, RopeFactors) {
    for (const float factor : {0.0f, std::nanf("")}) {
        SmallModel model;
        const auto fill = [&](std::span<std::byte> row) {
            std::memcpy(row.data(), &factor, sizeof factor);
        };
        const graph::Tensor factors =
            model.weight("rope_freqs", DType::F32, {model.axis("pairs", 8)}, {}, fill);
        const graph::Tensor x =
            model.activation("x", {model.axis("heads", 2), model.axis("d", 16)});
        model.finish(
            graph::rope(x, model.graph.input("positions"), graph::Rope{.dims = 16}, factors));
        const std::string text = test::error_of([&] {
            model.run(kernels::make_vulkan_device(test::in_floats), {test::random_step(0, 2)});
        });
        EXPECT_NE(text.find("rope_freqs makes an angle that is no finite number"), text.npos)
            << text;
    }
}

// A token of a chunk spoils no earlier one, nor another sequence.
TEST_F(VulkanSpoiled, DeltaNet) {
    for (const test::SpoiledDelta& how : test::spoiled_deltas()) {
        SmallModel model;
        how.build(model);
        const std::vector<graph::StepInputs> steps = test::spoiled_delta_steps();
        test::expect_spoiled_alike(
            model.run(kernels::make_vulkan_device(test::in_floats), steps),
            model.run(std::make_unique<kernels::ReferenceDevice>("reference", 0), steps),
            how.name());
    }
}

}  // namespace
}  // namespace tandem
