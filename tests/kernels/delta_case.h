// Models of one delta net, for every kind of device: with log decays of any size, and with
// something that is not finite in one token.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "kernels/small_model.h"

namespace tandem::test {

// A delta net whose log decays are what `value` says of each token's id.
inline void build_delta_net(SmallModel& model, bool per_channel,
                            const std::function<float(int32_t id)>& value) {
    using gguf::DType;
    Axis heads = model.axis("heads", 2), d = model.axis("d", 37);
    Tensor q = l2_norm(model.activation("q", {heads, d}), 1e-6);
    Tensor k = l2_norm(model.activation("k", {heads, d}), 1e-6);
    Tensor decay = activation_of(model, "decay", per_channel ? Shape{heads, d} : Shape{heads},
                                 [&](int32_t id, size_t) { return value(id); });
    Tensor state = model.graph.state("state", DType::F32, {model.axis("slots", 1), heads, d}, {d});
    model.finish(delta_net(q, k, model.activation("v", {heads, d}), decay,
                           sigmoid(model.activation("beta", {heads})), state));
}

// Log decays that forget all, or almost, and one with which states grow.
inline const std::vector<float> unusual_decays = {-90, -1e4f, -1e30f, -INFINITY, 2};

// A delta net with a large state, which a token forgets before two let it grow, all three without a
// correction: what was forgotten stays so.
struct RegrownDelta {
    float shrinking, growing;  // log decays

    static constexpr int32_t forgets = 1, grows = 2, large = 50;  // ids; others are ordinary

    void build(SmallModel& model, bool per_channel) const {
        Axis heads = model.axis("heads", 2), d = model.axis("d", 37);
        auto wave = [](int32_t id, size_t i) { return std::sin(float(size_t(id) * 31 + i * 7)); };
        auto key = [=](int32_t id, size_t i) { return 0.2f * wave(id, i); };
        auto value = [=](int32_t id, size_t i) { return (id >= large ? 1e12f : 1) * wave(id, i); };
        auto decay = [this](int32_t id, size_t) {
            return id == forgets ? shrinking : id == grows ? growing : -0.1f;
        };
        auto strength = [](int32_t id, size_t) {
            return id == forgets || id == grows ? 0.0f : 0.5f;
        };
        Tensor state =
            model.graph.state("state", gguf::DType::F32, {model.axis("slots", 1), heads, d}, {d});
        const Shape decays = per_channel ? Shape{heads, d} : Shape{heads};
        model.finish(delta_net(activation_of(model, "q", {heads, d}, key),
                               activation_of(model, "k", {heads, d}, key),
                               activation_of(model, "v", {heads, d}, value),
                               activation_of(model, "decay", decays, decay),
                               activation_of(model, "beta", {heads}, strength), state));
    }
    // Within chunks, at the first tokens of one, and from one to the next.
    static graph::StepInputs step() {
        std::vector<int32_t> ids;
        for (int32_t i = 0; i < 100; ++i) ids.push_back(3 + i % 40);
        for (const size_t first : {10, 32, 62, 95}) {
            for (size_t i = first - 9; i < first; ++i) ids[i] += large;
            ids[first] = forgets, ids[first + 1] = ids[first + 2] = grows;
        }
        graph::StepInputs step;
        step.append(0, 0, ids);
        for (int32_t i = 0; i < 100; ++i)
            if (ids[size_t(i)] < large) step.rows.push_back(i);
        return step;
    }
};

inline constexpr RegrownDelta regrown_deltas[] = {{-200, 40}, {-1e30f, 42}};

// A delta net of which something is not finite in one token.
struct SpoiledDelta {
    std::string operand;  // q, k, v, decay or beta: its first element of the token, in each head
    float value;
    bool per_channel = false;

    static constexpr int32_t token = 60;
    static constexpr int64_t length = 37;

    std::string name() const {
        return operand + (per_channel ? " of channels " : " ") + std::to_string(value);
    }
    void build(SmallModel& model) const {
        Axis heads = model.axis("heads", 2), d = model.axis("d", length);
        auto operand_of = [&](const std::string& name, const Shape& axes, float mean, float spread,
                              size_t row) {
            return activation_of(model, name, axes, [=, this](int32_t id, size_t i) {
                const bool spoils = name == operand && id == token && i % row == 0;
                return spoils ? value : mean + spread * std::sin(float(size_t(id) * 31 + i * 7));
            });
        };
        const auto q = operand_of("q", {heads, d}, 0, 0.2f, length);
        const auto k = operand_of("k", {heads, d}, 0, 0.2f, length);
        const auto v = operand_of("v", {heads, d}, 0, 1, length);
        const auto decay = operand_of("decay", per_channel ? Shape{heads, d} : Shape{heads}, -0.2f,
                                      0.1f, per_channel ? length : 1);
        const auto beta = operand_of("beta", {heads}, 0.5f, 0.3f, 1);
        const auto state =
            model.graph.state("state", gguf::DType::F32, {model.axis("slots", 2), heads, d}, {d});
        model.finish(delta_net(q, k, v, decay, beta, state));
    }
};

// So many tokens of a sequence behind those that are cached, the n-th spoiled.
inline void append_deltas(graph::StepInputs& step, int32_t slot, int32_t cached, int32_t count,
                          int32_t n = -1) {
    std::vector<int32_t> ids;
    for (int32_t i = 0; i < count; ++i)
        ids.push_back(i == n ? SpoiledDelta::token : 7 * (cached + i) % SpoiledDelta::token);
    const auto first = int32_t(step.tokens());
    step.append(slot, cached, ids);
    for (int32_t i = 0; i < count; ++i) step.rows.push_back(first + i);
}

// A prompt that is spoiled within a chunk, and what follows it; one after it, shorter, which begins
// anew; sequences that share a block of tokens, the one or the other spoiled; a few tokens.
inline std::vector<graph::StepInputs> spoiled_delta_steps() {
    std::vector<graph::StepInputs> steps(6);
    append_deltas(steps[0], 0, 0, 80, 41);
    append_deltas(steps[1], 0, 80, 1);
    append_deltas(steps[2], 0, 0, 40);
    append_deltas(steps[3], 0, 40, 20);
    append_deltas(steps[3], 1, 0, 30, 19);
    append_deltas(steps[4], 0, 60, 26, 21);
    append_deltas(steps[4], 1, 0, 25);
    append_deltas(steps[5], 1, 25, 5, 2);
    return steps;
}

// What is spoiled is what the reference spoils.
inline void expect_spoiled_alike(const std::vector<float>& found,
                                 const std::vector<float>& expected, const std::string& where) {
    ASSERT_EQ(found.size(), expected.size()) << where;
    const size_t row = 2 * SpoiledDelta::length;
    for (size_t i = 0; i < found.size(); ++i) {
        const bool right = std::isfinite(expected[i]) ? std::abs(found[i] - expected[i]) < 1e-4f
                                                      : !std::isfinite(found[i]);
        ASSERT_TRUE(right) << where << ", row " << i / row << ", element " << i % row << ": "
                           << found[i] << ", not " << expected[i];
    }
}

inline std::vector<SpoiledDelta> spoiled_deltas() {
    std::vector<SpoiledDelta> all;
    for (const bool per_channel : {false, true})
        for (const float value : {std::nanf(""), INFINITY, -INFINITY})
            for (const char* operand : {"q", "k", "v", "decay", "beta"})
                all.push_back({operand, value, per_channel});
    return all;
}

}  // namespace tandem::test
