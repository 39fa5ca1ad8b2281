// Mode `graph` where the right answer is known beforehand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "models.h"
#include "parallel/part.h"
#include "random.h"

namespace tandem::test {
namespace {

using namespace parallel;

constexpr const char* checkpoints[] = {"llama-8b-q4_k_m", "qwen3-30b-a3b-q4_k_m"};

constexpr double any_rate = std::numeric_limits<double>::infinity();
constexpr Link no_cost{.bytes_per_second = any_rate};

DeviceTable table_of(size_t devices, Link link) {
    DeviceTable table = equal_devices(devices);
    table.links.assign(devices, std::vector<Link>(devices, link));
    return table;
}

void with_plan(const char* model, const DeviceTable& table,
               const std::function<void(const Planned&)>& use) {
    with_model(model, [&](const gguf::File& file) {
        use(plan_model(file, table, {.mode = "graph", .bucket = 512, .context = 4096}));
    });
}

TEST(ByCost, free_exchanges_cut_everything) {
    for (const char* model : checkpoints)
        for (size_t devices : {2, 3}) {
            DeviceTable table = table_of(devices, no_cost);
            with_plan(model, table, [&](const Planned& planned) {
                auto parts = find_parts(*planned.graph, find_policy("graph").divides);
                ASSERT_EQ(planned.plan.partitions.size(), parts.size()) << model;
                for (const Partition& partition : planned.plan.partitions)
                    EXPECT_EQ(partition.owners().size(), devices) << to_string(partition);
                for (const Group& group : planned.plan.groups) EXPECT_EQ(group.size(), devices);
            });
        }
}

TEST(ByCost, exchanges_of_a_second_leave_everything_whole) {
    for (const char* model : checkpoints)
        for (size_t devices : {2, 3, 8})
            with_plan(model, table_of(devices, {.seconds = 1, .bytes_per_second = any_rate}),
                      [&](const Planned& planned) {
                          EXPECT_TRUE(planned.plan.partitions.empty());
                          EXPECT_EQ(exchanges(planned.placed).size(), 1u) << "only the logits move";
                      });
}

// Where one exchange saves less than it costs, bytes that cost much are enough to stay whole, too.
TEST(ByCost, a_slow_wire_leaves_everything_whole) {
    for (const char* model : checkpoints)
        with_plan(model, table_of(2, {.bytes_per_second = 1}),
                  [&](const Planned& planned) { EXPECT_TRUE(planned.plan.partitions.empty()); });
}

// That nothing is known of a link does not make it one that costs nothing.
TEST(ByCost, links_that_are_not_known_leave_everything_whole) {
    for (const char* model : checkpoints)
        with_plan(model, table_of(3, {}),
                  [&](const Planned& planned) { EXPECT_TRUE(planned.plan.partitions.empty()); });
}

TEST(ByCost, shares_follow_the_speed) {
    DeviceTable table = table_of(2, no_cost);
    table.devices[1].bytes_per_second *= 3;
    table.devices[1].multiply_adds_per_second *= 3;
    for (const char* model : checkpoints)
        with_plan(model, table, [&](const Planned& planned) {
            auto parts = find_parts(*planned.graph, find_policy("graph").divides);
            ASSERT_EQ(planned.plan.partitions.size(), parts.size());
            double first = 0, all = 0;
            for (size_t i = 0; i < parts.size(); ++i) {
                const Partition& partition = planned.plan.partitions[i];
                int64_t extent = partition.bounds.back(), grain = 1;
                for (const Cut& cut : parts[i].cuts)
                    if (cut.axis == partition.axis && cut.inner == partition.inner)
                        grain = cut.grain;
                EXPECT_LE(std::abs(partition.bounds[1] - extent / 4.0), double(grain))
                    << to_string(partition);
                first += double(partition.bounds[1]) / double(extent);
                all += 1;
            }
            EXPECT_NEAR(first / all, 0.25, 0.005) << model;
        });
}

// A block's attention has 98304 weights in bf16; behind 2048 tokens, half of the context, 4 key
// heads of 32 + 32 elements in f16 and 8 heads of queries that meet them. One device counts nothing
// but multiply-adds, of one token and four prompt tokens, the other nothing but bytes, of one token
// and a part of 4 in 512 of a prompt step: they are as fast as each other.
TEST(ByCost, attention_is_counted_at_half_the_context) {
    DeviceTable table = table_of(2, no_cost);
    constexpr double multiply_adds = 98304 + 2048.0 * 8 * (32 + 32);
    constexpr double bytes = 2 * 98304 + 2048.0 * 4 * (32 + 32) * 2;
    table.devices[0].bytes_per_second = table.devices[1].multiply_adds_per_second = 1e30;
    table.devices[0].multiply_adds_per_second = multiply_adds * (1 + 4);
    table.devices[1].bytes_per_second = bytes * (1 + 4.0 / 512);
    with_plan("llama-yarn-bf16", table, [&](const Planned& planned) {
        size_t blocks = 0;
        for (const Partition& partition : planned.plan.partitions) {
            if (role(partition.axis) != "kv_heads") continue;
            ++blocks;
            EXPECT_EQ(to_string(partition), "kv_heads 4 = 2 + 2");
        }
        EXPECT_EQ(blocks, size_t(planned.graph->layers()));
    });
}

// A device that is the faster by far takes it all, if an exchange costs more than it saves.
TEST(ByCost, the_fastest_takes_what_stays_whole) {
    DeviceTable table = table_of(3, {.seconds = 1, .bytes_per_second = any_rate});
    table.devices[1].bytes_per_second *= 2;
    table.devices[1].multiply_adds_per_second *= 2;
    with_plan(checkpoints[0], table, [&](const Planned& planned) {
        for (const Group& group : planned.plan.groups) EXPECT_EQ(group, Group{1});
    });
}

std::vector<double> held_bytes(const Planned& planned, const DeviceTable& table) {
    std::vector<double> held;
    const auto weights = weight_bytes(*planned.graph, planned.plan, table),
               states = state_bytes(*planned.graph, planned.plan, table);
    for (size_t i = 0; i < table.size(); ++i) held.push_back(double(weights[i] + states[i]));
    return held;
}

double needed_bytes(const char* model) {
    double needed = 0;
    const DeviceTable one = table_of(1, no_cost);
    with_plan(model, one, [&](const Planned& planned) { needed = held_bytes(planned, one)[0]; });
    return needed;
}

TEST(ByCost, memory_is_a_bound) {
    for (const char* model : checkpoints)
        for (double seconds : {0.0, 1e-5, 1.0}) {
            DeviceTable table = table_of(4, {.seconds = seconds, .bytes_per_second = any_rate});
            double needed = 0;
            with_plan(model, table, [&](const Planned& planned) {
                for (int64_t bytes : weight_bytes(*planned.graph, planned.plan, table))
                    needed += double(bytes);
            });
            // Twice as much as is needed, all together; no two devices are alike.
            for (size_t i = 0; i < 4; ++i)
                table.devices[i].free_bytes = int64_t(needed * 2 * double(i + 1) / 10);
            with_plan(model, table, [&](const Planned& planned) {
                const std::vector<double> held = held_bytes(planned, table);
                for (size_t i = 0; i < 4; ++i)
                    EXPECT_LE(held[i], double(table.devices[i].free_bytes))
                        << model << ", device " << i << ", " << seconds << " s";
            });
        }
}

// A GPU that has room for a part of the model, beside a slow CPU that has room for all of it.
TEST(ByCost, a_fast_device_is_filled) {
    for (const char* model : checkpoints)
        for (double part : {0.25, 0.5, 0.8}) {
            DeviceTable table = table_of(2, {.seconds = 20e-6, .bytes_per_second = 1e10});
            table.devices[0].bytes_per_second = 5e11;
            table.devices[0].multiply_adds_per_second = 2e13;
            table.devices[1].bytes_per_second = 5e10;
            table.devices[1].multiply_adds_per_second = 5e11;
            const double needed = needed_bytes(model), room = part * needed;
            table.devices[0].free_bytes = int64_t(room);
            table.devices[1].free_bytes = int64_t(4 * needed);
            with_plan(model, table, [&](const Planned& planned) {
                const double held = held_bytes(planned, table)[0];
                EXPECT_LE(held, room) << model << " " << part;
                EXPECT_GE(held, 0.75 * room) << model << " " << part;
            });
        }
}

// Shares by speed alone would not fit, and whole layers would leave one device idle at a time.
TEST(ByCost, shares_follow_the_memory_where_they_must) {
    DeviceTable table = table_of(2, {.seconds = 1e-7, .bytes_per_second = any_rate});
    for (const char* model : checkpoints) {
        const double needed = needed_bytes(model);
        table.devices[0].free_bytes = int64_t(0.45 * needed);
        table.devices[1].free_bytes = int64_t(0.75 * needed);
        with_plan(model, table, [&](const Planned& planned) {
            const auto parts = find_parts(*planned.graph, find_policy("graph").divides);
            EXPECT_GT(planned.plan.partitions.size(), parts.size() * 3 / 4) << model;
            const std::vector<double> held = held_bytes(planned, table);
            for (size_t i : {0, 1}) EXPECT_LE(held[i], double(table.devices[i].free_bytes));
        });
    }
}

// Whatever the devices are, blocks that share a cache stay on the same ones.
TEST(ByCost, blocks_that_share_a_cache_stay_together) {
    Random random(3);
    size_t plans_with_several_groups = 0;
    with_model("gemma4-dense", [&](const gguf::File& file) {
        for (int trial = 0; trial < 300; ++trial) {
            const auto devices = size_t(random.between(2, 4));
            DeviceTable table = table_of(devices, no_cost);
            for (DeviceRow& row : table.devices) {
                row.bytes_per_second *= std::exp2(6 * random.uniform());
                row.multiply_adds_per_second *= std::exp2(6 * random.uniform());
                row.free_bytes = random.between(1 << 20, 8 << 20);
            }
            for (auto& row : table.links)
                for (Link& link : row)
                    link = {.seconds = std::exp2(-20 - 8 * random.uniform()),
                            .bytes_per_second = 1e10 * random.uniform()};
            const Planned planned =
                plan_model(file, table, {.mode = "graph", .bucket = 512, .context = 4096});
            const Plan& plan = planned.plan;
            std::set<Group> groups;
            for (int block = 0; block < planned.graph->layers(); ++block) {
                groups.insert(plan.group(block));
                if (!is_in_shared_cache(*planned.graph, block)) continue;
                EXPECT_EQ(plan.group(block), plan.group(block - 1)) << "block " << block;
            }
            plans_with_several_groups += groups.size() > 1;
        }
    });
    EXPECT_GT(plans_with_several_groups, 10u);
}

}  // namespace
}  // namespace tandem::test
