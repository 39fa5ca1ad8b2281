// Where the head of a graph begins: behind the last node that mixes tokens.
#include <gtest/gtest.h>

#include "graph/ops.h"
#include "planned.h"

namespace tandem::parallel {
namespace {

using graph::Graph;
using graph::Tensor;

// The ops of the head in their order.
std::string head_of(const Graph& graph) {
    std::string text;
    for (size_t i = graph.head_begin(); i < graph.nodes().size(); ++i)
        text += (text.empty() ? "" : " ") + std::string(graph.nodes()[i].op->name);
    return text;
}

// Every activation is made before it is read, over tokens in the body and rows in the head.
void expect_in_order(const Graph& graph) {
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
        const graph::Node& node = graph.nodes()[i];
        EXPECT_EQ(node.output->node, int(i));
        EXPECT_EQ(node.output->name, "%" + std::to_string(i));
        EXPECT_EQ(node.output.shape()[0], i < graph.head_begin() ? graph.tokens() : graph.rows());
        for (const Tensor& input : node.inputs)
            if (input && input->kind == graph::Kind::Activation) {
                EXPECT_LT(input->node, int(i)) << input->name;
                EXPECT_EQ(input.shape()[0] == graph.tokens(),
                          i < graph.head_begin() || node.op->name == "select_rows");
            }
    }
}

TEST(Head, has_what_follows_the_last_attention) {
    auto graph = test::fixture_graph("qwen3-bf16");
    expect_in_order(*graph);
    EXPECT_EQ(head_of(*graph),
              "select_rows linear select_rows add "     // of what was attended to, and the stream
              "rms_norm linear linear glu linear add "  // feed forward
              "rms_norm linear");                       // logits
}

// A gate that is made beside the queries, from what they read.
TEST(Head, has_the_gates_of_the_last_block) {
    auto graph = test::fixture_graph("qwen35-lin128");
    expect_in_order(*graph);
    EXPECT_EQ(head_of(*graph).find("select_rows linear "), 0u) << head_of(*graph);
    EXPECT_NE(head_of(*graph).find("sigmoid"), std::string::npos) << head_of(*graph);
}

TEST(Head, of_every_fixture_is_in_order) {
    for (const char* name : {"deepseek2-lite", "gemma3", "gemma4-dense", "gemma4-moe", "glm4moe",
                             "gpt-oss-mxfp4", "kimi-linear", "llama-moe"}) {
        SCOPED_TRACE(name);
        expect_in_order(*test::fixture_graph(name));
    }
}

struct Small {
    Graph graph;
    graph::Axis embd = graph.axis("embd", 4), vocab = graph.axis("vocab", 8);
    Tensor weight(const char* name, graph::Shape rows, graph::Shape columns) {
        return graph.weight(name, gguf::DType::F32, rows, columns, {.tensor = name});
    }
    Tensor embedding() { return embed(weight("table", {vocab}, {embd}), graph.input("ids")); }
};

// Rows have no ids of their own.
TEST(Head, begins_behind_nodes_that_read_ids) {
    Small small;
    Tensor x = scale(small.embedding(), 2);
    Tensor rows = small.graph.begin_head(x);
    EXPECT_EQ(rows.shape()[0], small.graph.rows());
    EXPECT_EQ(head_of(small.graph), "select_rows scale");
    EXPECT_EQ(small.graph.nodes()[0].op->name, "embed");
}

// A step has the positions of its rows.
TEST(Head, has_nodes_that_read_positions) {
    Small small;
    Tensor x = temper(small.embedding(), small.graph.input("positions"), 0.1, 8);
    small.graph.begin_head(x);
    EXPECT_EQ(head_of(small.graph), "select_rows temper");
    const Tensor positions = small.graph.nodes().back().inputs[1];
    EXPECT_EQ(positions->name, "row_positions");
    EXPECT_EQ(positions.shape()[0], small.graph.rows());
}

// Attention to caches that other blocks write: the last three of six blocks here.
TEST(Head, has_blocks_that_read_caches_of_others) {
    auto graph = test::fixture_graph("gemma4-dense");
    int attends = 0;
    for (size_t i = graph->head_begin(); i < graph->nodes().size(); ++i)
        attends += graph->nodes()[i].op->name == "attend";
    EXPECT_EQ(attends, 3);
}

// Rows travel, not tokens: they are selected where the body has brought the value last.
TEST(Head, selects_where_the_body_has_the_value) {
    auto graph = test::fixture_graph("gemma4-dense");
    std::vector<int> layers;
    for (size_t i = graph->head_begin(); i < graph->nodes().size(); ++i)
        if (graph->nodes()[i].op->name == "select_rows") layers.push_back(graph->nodes()[i].layer);
    // What was attended to and the stream in block 2, which is the last that fills a cache; the
    // embeddings of layers, of which block 1 has read the last in the body.
    EXPECT_EQ(layers, (std::vector<int>{2, 2, 1}));
}

// A reader cannot move past a node that writes the same cache.
TEST(Head, leaves_readers_of_caches_that_are_written_later) {
    for (bool written_later : {false, true}) {
        Small small;
        graph::Axis slots = small.graph.axis("slots", 1), cells = small.graph.axis("cells", 8);
        graph::Axis kv = small.graph.axis("kv_heads", 1), q = small.graph.axis("q_per_kv", 1);
        graph::Axis d = small.graph.axis("d", 4);
        auto made = [&](const char* name, const graph::Shape& axes) {
            return embed(small.weight(name, {small.vocab}, axes), small.graph.input("ids"));
        };
        auto state = [&](const char* name) {
            return small.graph.state(name, gguf::DType::F32, {slots, kv, cells}, {d});
        };
        graph::Cache cache{state("k"), state("v")};
        Tensor queries = made("q", {kv, q, d}), keys = made("keys", {kv, d});
        Tensor first = attend(queries, keys, keys, cache, 1);
        Tensor reader = attend(queries, {}, {}, cache, 1);
        Tensor sum = add(first, reader);
        if (written_later) sum = add(sum, attend(queries, keys, keys, cache, 1));
        small.graph.begin_head(sum);
        EXPECT_EQ(head_of(small.graph).find("attend") == std::string::npos, written_later);
    }
}

// What is mixed later on is needed of all tokens, and so is what leads to it.
TEST(Head, leaves_what_tokens_to_come_need) {
    Small small;
    graph::Axis taps = small.graph.axis("taps", 3), before = small.graph.axis("before", 2);
    graph::Axis slots = small.graph.axis("slots", 1);
    Tensor x = scale(small.embedding(), 2);
    Tensor mixed =
        short_conv(x, small.weight("kernel", {small.embd}, {taps}),
                   small.graph.state("state", gguf::DType::F32, {slots, small.embd}, {before}));
    Tensor sum = add(scale(mixed, 3), x);
    small.graph.begin_head(sum);
    EXPECT_EQ(head_of(small.graph), "select_rows scale select_rows add");
    EXPECT_EQ(small.graph.nodes()[1].op->name, "scale");
    expect_in_order(small.graph);
}

TEST(Head, runs_over_rows_that_stand_where_their_tokens_do) {
    graph::StepInputs step;
    const std::vector<int32_t> two(2), three(3), one(1);
    step.append(4, 7, three);
    step.append(0, 0, one);
    step.append(2, 5, two);
    step.take_rows(std::vector<int32_t>{0, 2, 5});
    EXPECT_EQ(step.rows, (std::vector<int32_t>{0, 2, 5}));
    EXPECT_EQ(step.row_positions, (std::vector<int32_t>{7, 9, 6}));
    EXPECT_EQ(step.row_sequences,
              (std::vector<graph::Sequence>{{.slot = 4, .first = 0, .count = 2, .cached = 7},
                                            {.slot = 2, .first = 2, .count = 1, .cached = 6}}));
    step.take_rows(std::vector<int32_t>{3});
    EXPECT_EQ(step.row_sequences,
              (std::vector<graph::Sequence>{{.slot = 0, .first = 0, .count = 1, .cached = 0}}));
    step.take_rows({});
    EXPECT_TRUE(step.row_sequences.empty());
}

TEST(Head, selects_once_what_several_read) {
    Small small;
    Tensor x = small.embedding();
    small.graph.begin_head(mul(scale(x, 2), x));
    EXPECT_EQ(head_of(small.graph), "select_rows scale mul");
}

}  // namespace
}  // namespace tandem::parallel
