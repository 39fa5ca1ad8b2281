// The table of parallel/reshard.h, cell by cell.
#include "parallel/reshard.h"

#include <gtest/gtest.h>

#include "graph/ops.h"
#include "planned.h"

namespace tandem::parallel {
namespace {

using Lines = std::vector<std::string>;

// One value, %0 [tokens ffn], made under some placement.
struct Bench {
    graph::Graph graph;
    graph::Axis ffn = graph.axis("ffn", 8);
    graph::Tensor weight =
        graph.weight("w", gguf::DType::F32, {graph.axis("vocab", 16)}, {ffn}, {.tensor = "w"});
    graph::Tensor value = embed(weight, graph.input("ids")), other = scale(value, 2);
    Partition halves{.axis = ffn, .group = {0, 1}, .bounds = {0, 3, 8}};
    Partition quarters{.axis = ffn, .group = {0, 1}, .bounds = {0, 2, 8}};
    Partition three{.axis = ffn, .group = {0, 1, 2}, .bounds = {0, 3, 3, 8}};
    Placed placed{.graph = &graph};
    Reshard reshard{placed};

    const Instance& instance(int number) const { return placed.instances[size_t(number)]; }
    Lines lines() const { return test::exchanges(placed); }
};

// Brings a value from one placement to another: the steps that takes.
Lines steps(const Placement& from, const Placement& to) {
    Bench bench;
    bench.reshard.define(bench.value.value, from);
    int there = bench.reshard.bring(bench.value.value, to);
    const Placement& has = bench.instance(there).placement;
    EXPECT_EQ(has.kind, to.kind);
    EXPECT_TRUE(includes(has.group, to.group));
    // Once there, it stays there.
    EXPECT_EQ(bench.reshard.bring(bench.value.value, to), there);
    EXPECT_EQ(bench.reshard.defined(bench.value.value), 0);
    return bench.lines();
}

Placement replicated(Group group) { return Placement::replicated(std::move(group)); }
Placement partial(Group group) { return Placement::partial(std::move(group)); }

TEST(Reshard, from_replicated) {
    EXPECT_EQ(steps(replicated({0, 1}), replicated({0, 1})), Lines{});
    EXPECT_EQ(steps(replicated({0, 1}), replicated({1})), Lines{});
    EXPECT_EQ(steps(replicated({0}), replicated({1})), Lines{"send {0} -> {1}: %0"});
    EXPECT_EQ(steps(replicated({0}), replicated({1, 2})), Lines{"broadcast {0} -> {1,2}: %0"});
    EXPECT_EQ(steps(replicated({0}), replicated({0, 1, 2})), Lines{"broadcast {0} -> {1,2}: %0"});
    // From the nearest of those that have it.
    EXPECT_EQ(steps(replicated({0, 2, 5}), replicated({3})), Lines{"send {2} -> {3}: %0"});
    EXPECT_EQ(steps(replicated({2, 5}), replicated({1})), Lines{"send {2} -> {1}: %0"});
}

TEST(Reshard, from_replicated_to_split) {
    Bench bench;
    int whole = bench.reshard.define(bench.value.value, replicated({0, 1}));
    int range = bench.reshard.bring(bench.value.value, Placement::split(&bench.halves));
    EXPECT_EQ(bench.instance(range).view_of, whole);
    EXPECT_EQ(bench.reshard.bring(bench.value.value, Placement::split(&bench.halves)), range);
    int another = bench.reshard.bring(bench.value.value, Placement::split(&bench.quarters));
    EXPECT_EQ(bench.instance(another).view_of, whole);
    EXPECT_EQ(bench.lines(), Lines{});
    // On other devices the whole goes there first.
    Bench away;
    away.reshard.define(away.value.value, replicated({2}));
    away.reshard.bring(away.value.value, Placement::split(&away.halves));
    EXPECT_EQ(away.lines(), Lines{"broadcast {2} -> {0,1}: %0"});
}

TEST(Reshard, from_split) {
    Bench bench;
    EXPECT_EQ(steps(Placement::split(&bench.halves), replicated({0, 1})),
              Lines{"all_gather {0,1} -> {0,1}: %0"});
    EXPECT_EQ(steps(Placement::split(&bench.halves), replicated({2})),
              Lines{"gather {0,1} -> {2}: %0"});
    EXPECT_EQ(steps(Placement::split(&bench.halves), Placement::split(&bench.halves)), Lines{});
    EXPECT_EQ(steps(Placement::split(&bench.halves), Placement::split(&bench.quarters)),
              Lines{"all_gather {0,1} -> {0,1}: %0"});
    // Devices whose range is empty have nothing to say, but are told.
    EXPECT_EQ(steps(Placement::split(&bench.three), replicated({0, 1, 2})),
              Lines{"all_gather {0,2} -> {0,1,2}: %0"});
}

TEST(Reshard, from_partial) {
    Bench bench;
    EXPECT_EQ(steps(partial({0, 1}), replicated({0, 1})), Lines{"all_reduce {0,1} -> {0,1}: %0"});
    EXPECT_EQ(steps(partial({0, 2}), replicated({0, 1, 2})),
              Lines{"all_reduce {0,2} -> {0,1,2}: %0"});
    EXPECT_EQ(steps(partial({0, 1}), replicated({2})), Lines{"reduce {0,1} -> {2}: %0"});
    EXPECT_EQ(steps(partial({0, 1}), Placement::split(&bench.halves)),
              Lines{"all_reduce {0,1} -> {0,1}: %0"});
    // A sum of one is a copy.
    EXPECT_EQ(steps(partial({1}), replicated({0, 1})), Lines{"broadcast {1} -> {0,1}: %0"});
}

TEST(Reshard, remembers) {
    Bench bench;
    int value = bench.value.value;
    bench.reshard.define(value, partial({0, 1, 2}));
    int all = bench.reshard.bring(value, replicated({0, 1, 2}));
    EXPECT_EQ(bench.lines().size(), 1u);
    EXPECT_EQ(bench.reshard.bring(value, replicated({1, 2})), all);
    bench.reshard.bring(value, Placement::split(&bench.halves));
    bench.reshard.bring(value, Placement::split(&bench.three));
    EXPECT_EQ(bench.lines().size(), 1u);
    // Those who lack it get it from one who has it, not by another sum.
    bench.reshard.bring(value, replicated({2, 3}));
    EXPECT_EQ(bench.lines().at(1), "send {2} -> {3}: %0");
}

// A copy made for some and the original serve all of them together.
TEST(Reshard, joins_copies) {
    Bench bench;
    int value = bench.value.value;
    int first = bench.reshard.define(value, replicated({0}));
    int all = bench.reshard.bring(value, replicated({0, 1}));
    ASSERT_EQ(bench.instance(all).joins.size(), 2u);
    EXPECT_EQ(bench.instance(all).joins[0], first);
    EXPECT_EQ(bench.instance(bench.instance(all).joins[1]).placement, replicated({1}));
    EXPECT_EQ(bench.reshard.bring(value, replicated({1})), bench.instance(all).joins[1]);
    EXPECT_EQ(bench.lines(), Lines{"send {0} -> {1}: %0"});
}

TEST(Reshard, merges_neighbours_of_one_kind_and_group) {
    auto bring = [](const Placement& a, const Placement& b, const Placement& to,
                    const Placement& to_b, bool between) {
        Bench bench;
        bench.reshard.define(bench.value.value, a);
        bench.reshard.define(bench.other.value, b);
        bench.reshard.bring(bench.value.value, to);
        if (between) bench.placed.steps.push_back(Compute{.node = 1, .output = 0});
        bench.reshard.bring(bench.other.value, to_b);
        return bench.lines();
    };
    Placement all = replicated({0, 1});
    EXPECT_EQ(bring(partial({0, 1}), partial({0, 1}), all, all, false),
              Lines{"all_reduce {0,1} -> {0,1}: %0 %1"});
    EXPECT_EQ(bring(partial({0, 1}), partial({0, 1}), all, all, true).size(), 2u);
    EXPECT_EQ(bring(partial({0, 1}), partial({0}), all, all, false).size(), 2u);
    EXPECT_EQ(bring(partial({0, 1}), partial({0, 1}), all, replicated({0}), false).size(), 2u);
    Bench bench;
    EXPECT_EQ(bring(partial({0, 1}), Placement::split(&bench.halves), all, all, false).size(), 2u);
}

// The head is a program of its own: nothing is merged across its beginning.
TEST(Reshard, does_not_merge_into_the_body) {
    Bench bench;
    bench.reshard.define(bench.value.value, partial({0, 1}));
    bench.reshard.define(bench.other.value, partial({0, 1}));
    bench.reshard.bring(bench.value.value, replicated({0, 1}));
    bench.placed.head_begin = bench.placed.steps.size();
    bench.reshard.bring(bench.other.value, replicated({0, 1}));
    EXPECT_EQ(bench.placed.steps.size(), 2u);
}

TEST(Reshard, fetches) {
    auto fetch = [](const Placement& has) {
        Bench bench;
        bench.reshard.define(bench.value.value, has);
        bench.reshard.fetch(bench.value.value);
        return bench.lines();
    };
    Bench bench;
    EXPECT_EQ(fetch(replicated({1, 2})), Lines{"fetch {1} -> host: %0"});
    EXPECT_EQ(fetch(Placement::split(&bench.three)), Lines{"fetch {0,2} -> host: %0"});
    EXPECT_EQ(fetch(partial({0, 1})), (Lines{"reduce {0,1} -> {0}: %0", "fetch {0} -> host: %0"}));
}

TEST(Reshard, weights_stay_and_nothing_becomes_an_addend) {
    Bench bench;
    bench.reshard.define(bench.weight.value, replicated({0}));
    EXPECT_THROW(bench.reshard.bring(bench.weight.value, replicated({1})), std::logic_error);
    bench.reshard.define(bench.value.value, replicated({0}));
    EXPECT_THROW(bench.reshard.bring(bench.value.value, partial({0})), std::logic_error);
    EXPECT_THROW(bench.reshard.define(bench.value.value, replicated({0})), std::logic_error);
}

}  // namespace
}  // namespace tandem::parallel
