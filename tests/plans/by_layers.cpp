// Mode `layer` against all ways to give runs of blocks to the devices.
#include <gtest/gtest.h>

#include <algorithm>

#include "models.h"
#include "random.h"

namespace tandem::test {
namespace {

using namespace parallel;

// Weights and states of every device.
std::vector<int64_t> held(const graph::Graph& graph, const DeviceTable& table,
                          const std::vector<double>& ratio) {
    const Plan plan = make_plan(graph, table, {.mode = "layer", .ratio = ratio});
    std::vector<int64_t> sums = weight_bytes(graph, plan, table);
    const std::vector<int64_t> states = state_bytes(graph, plan, table);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += states[i];
    return sums;
}

bool fits(const std::vector<int64_t>& bytes, const DeviceTable& table) {
    for (size_t i = 0; i < bytes.size(); ++i)
        if (bytes[i] > table.devices[i].free_bytes) return false;
    return true;
}

// Calls visit(counts) for all ways to divide blocks among devices.
void each_division(size_t devices, int blocks, std::vector<double>& counts,
                   const std::function<void(const std::vector<double>&)>& visit) {
    if (counts.size() + 1 == devices) {
        counts.push_back(blocks);
        visit(counts);
        counts.pop_back();
        return;
    }
    for (int count = 0; count <= blocks; ++count) {
        counts.push_back(count);
        each_division(devices, blocks - count, counts, visit);
        counts.pop_back();
    }
}

// A model whose head is a table of its own, one with a tied table, and one whose last blocks share
// caches. A ratio of counts gives those counts, whatever the devices hold.
TEST(ByLayers, fits_wherever_whole_layers_fit) {
    Random random(5);
    int fitting = 0, moved = 0, impossible = 0;
    for (const char* model : {"llama-yarn-bf16", "qwen3-bf16", "gemma4-dense"}) {
        const auto graph = fixture_graph(model);
        const int64_t all = held(*graph, equal_devices(1), {})[0];
        for (int trial = 0; trial < 300; ++trial) {
            const auto devices = size_t(random.between(2, 3));
            DeviceTable table = equal_devices(devices);
            // About what some division needs, and with some devices more.
            std::vector<double> some(devices, 0.0);
            for (int block = 0; block < graph->layers(); ++block)
                some[size_t(random.between(0, int64_t(devices) - 1))] += 1;
            const std::vector<int64_t> wanted = held(*graph, table, some);
            for (size_t i = 0; i < devices; ++i) {
                const int64_t most = random.between(0, 2) > 0 ? all / 50 : 2 * all;
                table.devices[i].free_bytes =
                    std::max<int64_t>(1, wanted[i] + random.between(-all / 100, most));
            }
            bool possible = false;
            std::vector<double> counts;
            each_division(devices, graph->layers(), counts, [&](const auto& ratio) {
                possible = possible || fits(held(*graph, table, ratio), table);
            });
            std::vector<double> by_share;
            for (const DeviceRow& row : table.devices) by_share.push_back(double(row.free_bytes));
            const std::vector<int64_t> chosen = held(*graph, table, {}),
                                       shares = held(*graph, table, by_share);
            EXPECT_EQ(fits(chosen, table), possible) << model << ", trial " << trial;
            if (fits(shares, table) || !possible) {
                EXPECT_EQ(chosen, shares) << model << ", trial " << trial;
            }
            fitting += fits(shares, table);
            moved += chosen != shares;
            impossible += !possible;
        }
    }
    EXPECT_GT(fitting, 20);
    EXPECT_GT(moved, 20);
    EXPECT_GT(impossible, 20);
}

}  // namespace
}  // namespace tandem::test
