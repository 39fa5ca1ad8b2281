// Every op, whole, against every legal cut put together again; and against the cuts that its rule
// forbids, which must differ, or the rule is timid.
#include <gtest/gtest.h>

#include <algorithm>

#include "cut.h"

namespace tandem::test {
namespace {

using graph::Axis;
using graph::Rule;
using parallel::Partition;

// Axes that a rule keeps whole although a cut of them would be right.
struct Timid {
    std::string_view op, role, why;
};
constexpr Timid timid[] = {
    {"attend", "dv", "no model divides the size of a value head"},
};
// Axes of which a part cannot even be tried: the op reads by absolute index.
constexpr Timid indexed[] = {
    {"moe_ffn", "choices", "scales are found by the number of the expert"},
    {"short_conv", "taps", "the state has one tap less"},
    {"short_conv", "history", "the kernel has one tap more"},
    {"rope", "pairs", "factors are found by the number of the pair, all of which a head has"},
};
// Operands in which an op is linear although its rule does not say so.
struct TimidOperand {
    std::string_view op;
    int operand;
    std::string_view why;
};
constexpr TimidOperand timid_operands[] = {
    {"mul", 1, "either operand alone would do, and the first is the activation"},
    {"delta_net", 0, "every device of the group writes the state, whoever has an addend of q"},
};

bool listed(std::span<const Timid> list, const Case& of, Axis axis) {
    return std::any_of(list.begin(), list.end(), [&](const Timid& entry) {
        return entry.op == of.node().op->name && entry.role == role(axis);
    });
}

std::vector<Axis> axes_of(const Case& of) {
    std::vector<Axis> axes;
    for (const graph::Tensor& input : of.node().inputs)
        if (input)
            for (Axis axis : input.shape())
                if (!graph::contains(axes, axis)) axes.push_back(axis);
    return axes;
}

std::string describe(const Case& of, const Partition& partition) {
    return std::string(of.node().op->name) + " (" + of.name + ") cut by " + to_string(partition);
}

void expect_same(const Case& of, const Partition& partition, const Outcome& whole) {
    Outcome cut = run_cut(of, partition);
    EXPECT_EQ(difference(cut.output, whole.output), "") << describe(of, partition);
    for (size_t i = 0; i < cut.operands.size(); ++i)
        EXPECT_EQ(difference(cut.operands[i], whole.operands[i]), "")
            << describe(of, partition) << ", operand " << i;
}

TEST(Rules, every_op_has_a_case) {
    std::vector<std::string_view> tried;
    for (Builder build : case_builders()) tried.push_back(build().node().op->name);
    for (const graph::Op* op : graph::ops_table())
        EXPECT_NE(std::find(tried.begin(), tried.end(), op->name), tried.end())
            << op->name << " has no case in tests/rules/cases.cpp";
}

TEST(Rules, parts_make_the_whole) {
    size_t cuts = 0;
    for (Builder build : case_builders()) {
        Case c = build();
        Outcome whole = run_whole(c);
        Rule rule = c.node().op->rule(c.node());
        for (Axis axis : axes_of(c)) {
            if (graph::contains(rule.whole, axis)) continue;
            for (const Partition& partition : partitions(c, axis)) {
                expect_same(c, partition, whole);
                ++cuts;
            }
        }
    }
    RecordProperty("cuts", int(cuts));
    EXPECT_GT(cuts, 600u);
}

TEST(Rules, what_is_kept_whole_must_be) {
    size_t forbidden = 0;
    for (Builder build : case_builders()) {
        Case c = build();
        Outcome whole = run_whole(c);
        Rule rule = c.node().op->rule(c.node());
        for (Axis axis : axes_of(c)) {
            if (!graph::contains(rule.whole, axis) || listed(indexed, c, axis)) continue;
            std::vector<Partition> choices = partitions(c, axis);
            if (choices.empty()) continue;
            Outcome cut = run_cut(c, choices[0]);
            bool same = difference(cut.output, whole.output).empty();
            EXPECT_EQ(same, listed(timid, c, axis)) << describe(c, choices[0]);
            ++forbidden;
        }
    }
    EXPECT_GT(forbidden, 20u);
}

TEST(Rules, kv_heads_with_their_queries) {
    size_t cuts = 0;
    for (Builder build : case_builders()) {
        Case c = build();
        Axis kv_heads = nullptr, q_per_kv = nullptr;
        for (Axis axis : axes_of(c)) {
            if (role(axis) == "kv_heads") kv_heads = axis;
            if (role(axis) == "q_per_kv" && axis->extent > 3) q_per_kv = axis;
        }
        if (!kv_heads || !q_per_kv) continue;
        Outcome whole = run_whole(c);
        for (const Partition& partition : partitions(c, kv_heads, q_per_kv)) {
            expect_same(c, partition, whole);
            ++cuts;
        }
    }
    EXPECT_GT(cuts, 25u);
}

// `part` of the values of the operands, and what is left of them.
std::pair<Case, Case> addends(Builder build, const std::vector<int>& operands, bool random) {
    std::pair<Case, Case> both{build(), build()};
    Random numbers(7);
    for (int operand : operands) {
        std::vector<float>& a = both.first.operands[size_t(operand)].values;
        std::vector<float>& b = both.second.operands[size_t(operand)].values;
        for (size_t i = 0; i < a.size(); ++i) {
            float part = random ? float(2 * numbers.uniform() - 1) : 0.6f * a[i];
            b[i] = a[i] - part;
            a[i] = part;
        }
    }
    return both;
}

bool adds_up(Builder build, const std::vector<int>& operands, bool random) {
    auto [a, b] = addends(build, operands, random);
    Data sum = run_whole(a).output, rest = run_whole(b).output;
    for (size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += rest.values[i];
    return difference(sum, run_whole(build()).output).empty();
}

TEST(Rules, linear_operands_add_up) {
    size_t tried = 0;
    for (Builder build : case_builders()) {
        Case c = build();
        Rule rule = c.node().op->rule(c.node());
        // A bias is nothing that comes as addends.
        bool activations = std::all_of(rule.linear.begin(), rule.linear.end(), [&](int operand) {
            return !c.operands[size_t(operand)].values.empty();
        });
        if (rule.linear.empty() || !activations) continue;
        for (bool random : {false, true})
            EXPECT_TRUE(adds_up(build, rule.linear, random))
                << c.node().op->name << " (" << c.name << ")" << (random ? ", random" : "");
        ++tried;
    }
    EXPECT_GT(tried, 20u);
}

TEST(Rules, other_operands_do_not_add_up) {
    size_t tried = 0;
    for (Builder build : case_builders()) {
        Case c = build();
        Rule rule = c.node().op->rule(c.node());
        for (size_t i = 0; i < c.operands.size(); ++i) {
            bool linear =
                std::find(rule.linear.begin(), rule.linear.end(), int(i)) != rule.linear.end();
            if (linear || c.operands[i].values.empty()) continue;
            bool known =
                std::any_of(std::begin(timid_operands), std::end(timid_operands),
                            [&](const TimidOperand& entry) {
                                return entry.op == c.node().op->name && entry.operand == int(i);
                            });
            EXPECT_EQ(adds_up(build, {int(i)}, true), known)
                << c.node().op->name << " (" << c.name << "), operand " << i;
            ++tried;
        }
    }
    EXPECT_GT(tried, 10u);
}

}  // namespace
}  // namespace tandem::test
