// Launches that a few tokens go through without a meeting between them.
#include "kernels/cpu/chain.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "graph/rope.h"
#include "kernels/cpu_case.h"
#include "kernels/storage.h"

namespace tandem {
namespace {

using namespace kernels::cpu;
using gguf::DType;
using graph::Axis;
using graph::Tensor;
using test::SmallModel;

// Every task sees every token once, after the tasks before have, and nobody waits.
TEST(CpuChains, AFewTokensAreDealtOnce) {
    const Chain chain{.first = 0, .last = 3, .by_tokens = true, .of_few = true};
    for (int members : {1, 2, 5})
        for (int64_t tokens = 1; tokens <= 8; ++tokens) {
            std::array<std::atomic<int>, 8> done{};
            std::vector<Task> tasks;
            for (int i = 0; i < 3; ++i)
                tasks.push_back([&done, i](const Worker& worker) {
                    ASSERT_NE(worker.only, nullptr);
                    for (int64_t t = worker.only->first; t < worker.only->last; ++t)
                        EXPECT_EQ(done[size_t(t)]++, i);
                });
            Team team(std::vector<int>(size_t(members), 0), true);
            team.run([&](const Worker& worker) {
                EXPECT_TRUE(run_by_tokens(chain, tasks, tokens, worker, [](auto&&...) {}));
            });
            for (int64_t t = 0; t < 8; ++t) EXPECT_EQ(done[size_t(t)].load(), t < tokens ? 3 : 0);
        }
}

std::vector<Chain> chains(const SmallModel& model, int64_t tokens) {
    const auto device = test::make_cpu({"", 1});
    const parallel::Programs programs = model.programs(*device, tokens);
    const parallel::Program& body = programs.body[parallel::fitting(programs.body, tokens)];
    const kernels::WeightMemory weights;
    const std::map<int, kernels::Buffer> states;
    const kernels::Buffer arena(programs.arena_bytes);
    graph::StepInputs inputs;
    const Site site{.addresses = {weights, states, arena.data(), inputs, {}},
                    .isa = find_variant()->isa()};
    return chains_of(std::get<parallel::Segment>(body.items[0]).launches, site);
}

// Heads of `d` elements that are normed and turned, behind a product and before nothing.
struct Heads : SmallModel {
    Heads(int64_t heads_count, int64_t d_extent) {
        const Axis embd = axis("embd", 256), heads = axis("heads", heads_count),
                   d = axis("d", d_extent);
        const graph::Rope rope{.dims = 16};
        const Tensor x = activation("x", {embd}), norm = weight("norm", DType::F32, {embd}, {});
        const Tensor h = rms_norm(add(x, x), norm, 1e-6), head = weight("d", DType::F32, {d}, {});
        std::vector<Tensor> all;
        for (const std::string name : {"q", "k"})
            all.push_back(linear(h, weight(name, DType::Q4_0, {heads, d}, {embd}, 0.06f)));
        for (Tensor& each : all) each = rms_norm(each, head, 1e-6);
        for (Tensor& each : all) each = graph::rope(each, graph.input("positions"), rope);
        finish(sigmoid(add(all[0], all[1])));
    }
};

TEST(CpuChains, AreWhatStandsBetweenProducts) {
    const std::vector<Chain> found = chains(Heads(4, 64), 1);
    ASSERT_EQ(found.size(), 3u);
    for (size_t i : {0, 2}) {
        EXPECT_TRUE(found[i].by_tokens && found[i].of_few);
        EXPECT_GE(found[i].last - found[i].first, 4u);
    }
    EXPECT_FALSE(found[1].by_tokens);
    // Long rows are divided among the members instead.
    EXPECT_GT(chains(Heads(130, 64), 1).size(), 6u);
    for (const Chain& chain : chains(Heads(4, 64), 40)) EXPECT_FALSE(chain.of_few);
}

// The team's size must not show in a result.
TEST(CpuChains, ChangeNoBitOfAFewTokens) {
    for (int heads : {4, 130}) test::expect_same_bits_of_few(Heads(heads, 64));
}

// Of values of many shapes, whose memory is used again and again.
TEST(CpuChains, AFewTokensAreThoseOfTheReference) {
    SmallModel model;
    const Axis heads = model.axis("heads", 3), d = model.axis("d", 37);
    const Axis choices = model.axis("choices", 8);
    const Tensor of_tokens = model.activation("t", {}), of_heads = model.activation("h", {heads});
    Tensor x = model.activation("x", {heads, d});
    for (int i = 0; i < 3; ++i) {
        const Tensor scores = softmax(model.activation("s" + std::to_string(i), {choices}));
        const Tensor best = take(scores, top_k(scores, model.axis("used", 3)));
        Tensor one = pick(normalize(best), best.shape().back(), i);
        x = add(mul(x, sigmoid(mul(of_tokens, one))), softplus(of_heads));
        x = add(l2_norm(x, 1e-6), glu(x, scale(x, 0.3), "gelu"));
    }
    model.finish(x);
    std::vector<graph::StepInputs> steps;
    for (int32_t tokens = 1; tokens <= 8; ++tokens) steps.push_back(test::random_step(0, tokens));
    test::expect_close(model, steps, 1e-10);
}

}  // namespace
}  // namespace tandem
