// What a report says of graphs that no present architecture makes.
#include <gtest/gtest.h>

#include "kernels/devices.h"
#include "parallel/plan_report.h"
#include "planned.h"

namespace tandem::test {
namespace {

using namespace parallel;

TEST(PlanReport, leaves_out_weights_that_no_node_reads) {
    auto reported = [](std::unique_ptr<graph::Graph> graph) {
        const Planned planned = plan_on(std::move(graph), equal_devices(2), {.mode = "layer"});
        const std::vector<Programs> programs(2);
        return report_plan(*planned.graph, planned.plan, planned.placed, planned.table, programs)
            .whole;
    };
    auto graph = fixture_graph("qwen3-bf16");
    const std::vector<WholeReport> known = reported(fixture_graph("qwen3-bf16"));
    graph->weight("unread", gguf::DType::F32, {graph->axis("unread", 8)}, {}, {.tensor = "unread"});
    const std::vector<WholeReport> whole = reported(std::move(graph));
    ASSERT_EQ(whole.size(), known.size());
    for (size_t i = 0; i < whole.size(); ++i) {
        EXPECT_EQ(whole[i].group, known[i].group);
        EXPECT_EQ(whole[i].weights, known[i].weights);
        EXPECT_EQ(whole[i].bytes, known[i].bytes);
    }
}

TEST(PlanReport, counts_addends_in_the_type_of_the_wire) {
    const Programs programs{.arena_bytes = 1000, .sending_bytes = 128, .landing_bytes = 64};
    EXPECT_EQ(scratch_bytes(programs, Wire::F32), 1000 + 2 * 128 + 64);
    EXPECT_EQ(scratch_bytes(programs, Wire::F16), 1000 + 2 * (128 + 64) + 64);
    EXPECT_EQ(scratch_bytes(programs, Wire::BF16), 1000 + 2 * (128 + 64) + 64);
}

TEST(PlanReport, counts_what_devices_take_for_themselves) {
    const auto cpu = kernels::make_devices({"cpu"}, {.threads = 1});
    Planned planned = plan_fixture("qwen3-bf16", equal_devices(2), {.mode = "layer"});
    planned.table.devices[1].device = cpu[0].get();
    const std::vector<Programs> programs(2, {.arena_bytes = 1000});
    const int64_t own = cpu[0]->own_bytes(32);  // heads are 32 long
    ASSERT_GT(own, 0);
    ASSERT_GT(cpu[0]->own_bytes(512), own);
    EXPECT_EQ(scratch_bytes(planned.placed, planned.table, programs, Wire::F32),
              (std::vector<int64_t>{1000, 1000 + own}));
}

TEST(PlanReport, counts_logits_that_the_host_puts_together) {
    const auto reference = kernels::make_devices({"reference"});
    auto scratch = [&](const std::string& mode, const kernels::Device* second) {
        Planned planned = plan_fixture("qwen3-bf16", equal_devices(3), {.mode = mode});
        planned.table.devices[1].device = second;
        const std::vector<Programs> programs(3);
        std::vector<int64_t> reported;
        for (const DeviceReport& device :
             report_plan(*planned.graph, planned.plan, planned.placed, planned.table, programs)
                 .devices)
            reported.push_back(device.scratch);
        EXPECT_EQ(reported, scratch_bytes(planned.placed, planned.table, programs, Wire::F32));
        return reported;
    };
    using Bytes = std::vector<int64_t>;
    const int64_t vocab = graph::elements({fixture_graph("qwen3-bf16")->result().shape()[1]});
    EXPECT_EQ(scratch("tensor", reference[0].get()), (Bytes{0, head_rows * vocab * 4, 0}));
    EXPECT_EQ(scratch("layer", reference[0].get()), (Bytes{0, 0, 0}));
    EXPECT_EQ(scratch("tensor", nullptr), (Bytes{0, 0, 0}));
}

}  // namespace
}  // namespace tandem::test
