// Parts of graphs, and the grain that quantisation blocks give their axes.
#include "parallel/part.h"

#include <gtest/gtest.h>

#include "planned.h"

namespace tandem::parallel {
namespace {

using gguf::DType;
using graph::Graph;
using test::fixture_graph;

constexpr std::string_view roles[] = {"kv_heads", "k_heads", "ffn", "experts", "vocab"};

const Part& part_named(const std::vector<Part>& parts, const std::string& name) {
    for (const Part& part : parts)
        if (part.name == name) return part;
    throw std::runtime_error("no part " + name);
}

std::vector<std::string> names(const Graph& graph, const Part& part) {
    std::vector<std::string> found;
    for (int value : part.values) found.push_back(graph.value(value).name);
    return found;
}

std::string text(const Cut& cut) {
    std::string axis(role(cut.axis));
    if (cut.inner) axis += " x " + std::string(role(cut.inner));
    return axis + " " + std::to_string(cut.extent()) + " by " + std::to_string(cut.grain);
}

std::vector<std::string> cuts(const Part& part) {
    std::vector<std::string> found;
    for (const Cut& cut : part.cuts) found.push_back(text(cut));
    return found;
}

using Texts = std::vector<std::string>;

TEST(Parts, of_a_dense_model) {
    auto graph = fixture_graph("llama-yarn-bf16");
    auto parts = find_parts(*graph, roles);
    ASSERT_EQ(parts.size(), 9u);  // vocab, and two of each of four layers
    EXPECT_EQ(parts[0].name, "vocab");
    EXPECT_EQ(parts[0].layer, -1);
    EXPECT_EQ(names(*graph, parts[0]), (Texts{"token_embd", "output"}));
    EXPECT_EQ(cuts(parts[0]), (Texts{"vocab 512 by 1"}));
    const Part& heads = part_named(parts, "blk.2.kv_heads");
    EXPECT_EQ(heads.layer, 2);
    EXPECT_EQ(names(*graph, heads), (Texts{"blk.2.attn_q", "blk.2.attn_k", "blk.2.attn_v",
                                           "blk.2.k_cache", "blk.2.v_cache", "blk.2.attn_output"}));
    EXPECT_EQ(cuts(heads), (Texts{"kv_heads 4 by 1", "kv_heads x q_per_kv 8 by 1"}));
    EXPECT_EQ(names(*graph, part_named(parts, "blk.2.ffn")),
              (Texts{"blk.2.ffn_gate", "blk.2.ffn_up", "blk.2.ffn_down"}));
    EXPECT_TRUE(find_parts(*graph, {}).empty());
}

// A mixture's ffn and experts are one part; the router's choices belong to none.
TEST(Parts, of_a_mixture) {
    auto graph = fixture_graph("qwen3moe");
    auto parts = find_parts(*graph, roles);
    const Part& mixture = part_named(parts, "blk.1.ffn");
    EXPECT_EQ(names(*graph, mixture),
              (Texts{"blk.1.ffn_gate_exps", "blk.1.ffn_up_exps", "blk.1.ffn_down_exps"}));
    EXPECT_EQ(cuts(mixture), (Texts{"ffn 64 by 1", "experts 8 by 1"}));
    EXPECT_EQ(best_cut(mixture, 2).axis->name, "blk.1.ffn");
    for (const Part& part : parts)
        for (const std::string& name : names(*graph, part))
            EXPECT_EQ(name.find("gate_inp"), std::string::npos);
}

// A tied table is one weight, read by the embedding and the head.
TEST(Parts, of_a_tied_table) {
    auto graph = fixture_graph("qwen3-bf16");
    auto parts = find_parts(*graph, roles);
    EXPECT_EQ(names(*graph, parts[0]), (Texts{"token_embd"}));
    EXPECT_EQ(parts[0].layer, -1);
}

TEST(Parts, grain_of_blocks_of_32) {
    auto graph = fixture_graph("llama-q-q4_0");
    auto parts = find_parts(*graph, roles);
    EXPECT_EQ(cuts(part_named(parts, "blk.0.kv_heads")),
              (Texts{"kv_heads 4 by 1", "kv_heads x q_per_kv 8 by 1"}));
    const Part& ffn = part_named(parts, "blk.0.ffn");
    EXPECT_EQ(cuts(ffn), (Texts{"ffn 256 by 32"}));
    EXPECT_EQ(ffn.cuts[0].obstacle, "blk.0.ffn_down.weight has blocks of 32 (Q4_0) in rows of 256");
    EXPECT_EQ(ffn.cuts[0].units(), 8);
}

// Rows one block wide cannot be cut at all, and the plan names the weight.
TEST(Parts, rows_one_block_wide) {
    auto graph = fixture_graph("llama-q-q4_k_m");
    auto parts = find_parts(*graph, roles);
    const Part& heads = part_named(parts, "blk.1.kv_heads");
    EXPECT_EQ(cuts(heads), (Texts{"kv_heads 4 by 4", "kv_heads x q_per_kv 8 by 8"}));
    EXPECT_EQ(heads.cuts[0].obstacle,
              "blk.1.attn_output.weight has blocks of 256 (Q4_K) in rows of 256");
    EXPECT_EQ(heads.cuts[1].units(), 1);
    const Part& ffn = part_named(parts, "blk.0.ffn");
    EXPECT_EQ(cuts(ffn), (Texts{"ffn 256 by 256"}));
    EXPECT_EQ(ffn.cuts[0].obstacle.substr(0, 21), "blk.0.ffn_down.weight");
    EXPECT_EQ(cuts(parts[0]), (Texts{"vocab 512 by 1"}));

    auto plan = test::plan_on(std::move(graph), test::equal_devices(2), {.mode = "tensor"}).plan;
    ASSERT_EQ(plan.obstacles.size(), 4u);
    EXPECT_EQ(plan.obstacles[0],
              "blk.0.kv_heads 4 cannot be cut: blk.0.attn_output.weight has blocks of 256 (Q4_K) "
              "in rows of 256");
    EXPECT_EQ(plan.obstacles[1].substr(0, 29), "blk.0.ffn 256 cannot be cut: ");
}

// A weight with columns over `columns`, of which the axis named ffn is divided.
Cut cut_of_columns(DType dtype, const std::vector<std::pair<std::string, int64_t>>& columns) {
    static std::vector<std::unique_ptr<Graph>> kept;
    Graph& graph = *kept.emplace_back(std::make_unique<Graph>());
    graph::Shape axes;
    for (const auto& [name, extent] : columns) axes.push_back(graph.axis(name, extent));
    graph.weight("w", dtype, {graph.axis("n", 3)}, axes, {.tensor = "w.weight", .strides = {1}});
    constexpr std::string_view divided[] = {"kv_heads", "ffn"};
    return find_parts(graph, divided).at(0).cuts.back();
}

TEST(Parts, grain_follows_the_place_in_the_row) {
    EXPECT_EQ(cut_of_columns(DType::Q8_0, {{"ffn", 96}}).grain, 32);
    EXPECT_EQ(cut_of_columns(DType::Q4_K, {{"ffn", 768}}).grain, 256);
    EXPECT_EQ(cut_of_columns(DType::F16, {{"ffn", 7}}).grain, 1);
    EXPECT_EQ(cut_of_columns(DType::Q8_0, {{"ffn", 6}, {"d", 16}}).grain, 2);
    EXPECT_EQ(cut_of_columns(DType::Q8_0, {{"ffn", 4}, {"d", 48}}).grain, 2);
    EXPECT_EQ(cut_of_columns(DType::Q8_0, {{"ffn", 6}, {"d", 64}}).grain, 1);
    // Behind another axis the runs must begin on blocks, too.
    EXPECT_EQ(cut_of_columns(DType::Q8_0, {{"d", 3}, {"ffn", 64}}).grain, 32);
    EXPECT_EQ(cut_of_columns(DType::Q8_0, {{"d", 2}, {"ffn", 48}}).grain, 48);
    // Queries within heads.
    Cut within = cut_of_columns(DType::Q4_K, {{"kv_heads", 8}, {"q_per_kv", 4}, {"d", 128}});
    EXPECT_EQ(text(within), "kv_heads x q_per_kv 32 by 2");
}

// Several weights agree on the least common multiple.
TEST(Parts, grain_of_several_weights) {
    Graph graph;
    graph::Axis ffn = graph.axis("ffn", 1536), n = graph.axis("n", 3);
    graph.weight("a", DType::Q2_0, {n}, {ffn}, {.tensor = "a.weight", .strides = {1}});
    graph.weight("b", DType::Q4_K, {n}, {ffn}, {.tensor = "b.weight", .strides = {1}});
    graph.weight("c", DType::Q8_0, {n}, {ffn, graph.axis("d", 2)},
                 {.tensor = "c.weight", .strides = {1}});
    constexpr std::string_view divided[] = {"ffn"};
    Cut cut = find_parts(graph, divided).at(0).cuts.at(0);
    EXPECT_EQ(cut.grain, 256);
    EXPECT_EQ(cut.obstacle, "b.weight has blocks of 256 (Q4_K) in rows of 1536");
}

TEST(Parts, best_cut_serves_all_devices_if_any_does) {
    graph::AxisDefinition kv_heads{"kv_heads", 4}, q_per_kv{"q_per_kv", 2};
    Part part{.cuts = {{.axis = &kv_heads}, {.axis = &kv_heads, .inner = &q_per_kv}}};
    EXPECT_EQ(best_cut(part, 4).inner, nullptr);
    EXPECT_EQ(best_cut(part, 5).inner, &q_per_kv);
    EXPECT_EQ(best_cut(part, 9).inner, &q_per_kv);
    part.cuts[1].grain = 4;
    EXPECT_EQ(best_cut(part, 9).inner, nullptr);
}

}  // namespace
}  // namespace tandem::parallel
