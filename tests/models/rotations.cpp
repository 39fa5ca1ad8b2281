// Queries and keys turn side by side, whatever is done to their heads before: devices may turn both
// at once.
#include <gtest/gtest.h>

#include "data.h"
#include "planned.h"

namespace tandem::test {
namespace {

class Rotations : public ::testing::TestWithParam<const char*> {};

TEST_P(Rotations, StandInPairs) {
    const auto graph = fixture_graph(GetParam());
    const auto nodes = graph->nodes();
    auto turns = [&](size_t i) { return i < nodes.size() && nodes[i].op->name == "rope"; };
    size_t pairs = 0;
    // The last block's queries are in the head, and keys are not.
    for (size_t i = 0; i < graph->head_begin(); ++i) {
        if (!turns(i) || nodes[i].layer + 1 == nodes.back().layer) continue;
        ASSERT_TRUE(turns(i + 1)) << "block " << nodes[i].layer;
        ASSERT_FALSE(turns(i + 2)) << "block " << nodes[i].layer;
        ++pairs, ++i;
    }
    EXPECT_GT(pairs, 0u);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Rotations,
                         ::testing::Values("qwen3-bf16", "qwen3moe", "qwen2", "gemma3",
                                           "gemma4-moe", "glm4moe", "qwen3next", "gpt-oss-mxfp4"),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace tandem::test
