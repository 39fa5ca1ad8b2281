// Axes of operands that lie one after another are walked as one, and lead to the same places.
#include "kernels/vulkan/runs.h"

#include <gtest/gtest.h>

#include "gguf/error.h"
#include "graph/graph.h"
#include "kernels/vulkan/walk.h"

namespace tandem::kernels::vulkan {
namespace {

using graph::Axis;
using graph::Shape;
using graph::View;
using Numbers = std::vector<int64_t>;

class Walks : public testing::Test {
  protected:
    static constexpr int64_t capacity = 2;  // tokens

    // With these strides, or without gaps.
    View view(const Shape& axes, Numbers strides = {}) const {
        View all{.axes = axes};
        for (Axis axis : axes) all.extents.push_back(axis->live() ? capacity : axis->extent);
        all.strides = std::move(strides);
        if (all.strides.empty()) {
            all.strides.assign(axes.size(), 1);
            for (size_t i = axes.size(); i-- > 1;)
                all.strides[i - 1] = all.strides[i] * all.extents[i];
        }
        return all;
    }

    // Where an element of `shape` by number lies in a view that may lack some of the axes.
    static int64_t place(const View& shape, const View& operand, int64_t number) {
        int64_t at = 0;
        for (size_t i = shape.axes.size(); i-- > 0; number /= shape.extents[i]) {
            const int found = find(operand.axes, shape.axes[i]);
            if (found >= 0) at += number % shape.extents[i] * operand.strides[size_t(found)];
        }
        return at;
    }

    // As shaders/runs.glsl has it: where a number leads in what is read and in what is written.
    static std::pair<int64_t, int64_t> places(const Runs& runs, int64_t number) {
        int64_t from = 0, to = 0;
        for (size_t i = 3; i-- > 0;) {
            const int64_t extent = i > 0 ? runs.extents[i - 1] : number + 1;
            from += number % extent * runs.from[i];
            to += number % extent * runs.to[i];
            number /= extent;
        }
        return {from, to};
    }

    static Runs all_runs(const View& from, const View& to) {
        const Runs runs = runs_of(to.axes, to.extents, from, to);
        int64_t elements = 1;
        for (int64_t extent : to.extents) elements *= extent;
        for (int64_t i = 0; i < elements; ++i)
            EXPECT_EQ(places(runs, i), std::pair(place(to, from, i), place(to, to, i))) << i;
        return runs;
    }

    // As shaders/walk.glsl has it.
    static int64_t place(const Walk& walk, size_t operand, int64_t number) {
        int64_t at = 0;
        for (size_t i = walk.axes; i-- > 0;) {
            const int64_t extent = i > 0 ? walk.extents[i] : number + 1;
            at += number % extent * walk.strides[operand][i];
            number /= extent;
        }
        return at;
    }

    // The axes that are left.
    static uint32_t walked(const std::vector<View>& views) {
        const Walk all = walk(views);
        int64_t elements = 1;
        for (int64_t extent : views[0].extents) elements *= extent;
        for (size_t i = 0; i < views.size(); ++i)
            for (int64_t number = 0; number < elements; ++number)
                EXPECT_EQ(place(all, i, number), place(views[0], views[i], number))
                    << "operand " << i << ", element " << number;
        return all.axes;
    }

    graph::Graph graph;
    Axis tokens = graph.tokens();
    Axis a = graph.axis("a", 3), b = graph.axis("b", 4), c = graph.axis("c", 5);
    Axis d = graph.axis("d", 2), e = graph.axis("e", 3), one = graph.axis("one", 1);
};

using Extents = std::pair<uint32_t, uint32_t>;
Extents extents(const Runs& runs) { return {runs.extents[0], runs.extents[1]}; }

TEST_F(Walks, runs_of_dense_operands_are_one) {
    EXPECT_EQ(extents(all_runs(view({a, b, c}), view({a, b, c}))), Extents(1, 1));
    EXPECT_EQ(extents(all_runs(view({tokens, a, b}), view({tokens, a, b}))), Extents(1, 1));
}

TEST_F(Walks, runs_end_where_either_operand_has_gaps) {
    EXPECT_EQ(extents(all_runs(view({a, b, c}, {40, 10, 1}), view({a, b, c}))), Extents(5, 1));
    EXPECT_EQ(extents(all_runs(view({a, b, c}), view({a, b, c}, {50, 5, 1}))), Extents(20, 1));
    EXPECT_EQ(extents(all_runs(view({a, b, c}, {40, 10, 1}), view({a, b, c}, {50, 5, 1}))),
              Extents(4, 5));
}

TEST_F(Walks, runs_go_along_axes_that_an_operand_lacks) {
    EXPECT_EQ(extents(all_runs(view({a, c}), view({a, b, c}))), Extents(4, 5));
    EXPECT_EQ(extents(all_runs(view({c}), view({a, b, c}))), Extents(5, 1));
    EXPECT_EQ(extents(all_runs(view({}), view({a, b, c}))), Extents(1, 1));
}

TEST_F(Walks, runs_leave_out_axes_of_one) {
    EXPECT_EQ(extents(all_runs(view({a, one, b}, {4, 999, 1}), view({a, one, b}))), Extents(1, 1));
    EXPECT_EQ(extents(all_runs(view({one}), view({one}))), Extents(1, 1));
}

TEST_F(Walks, runs_are_three_at_most) {
    const View from = view({a, b, c, d}, {1000, 100, 10, 1});
    EXPECT_THROW(runs_of(from.axes, from.extents, from, view({a, b, c, d})), std::exception);
}

TEST_F(Walks, rows_are_the_axes_in_front) {
    const Rows rows =
        rows_of(view({tokens, a, b, c}, {900, 300, 5, 1}), view({tokens, a, b, c}), 2);
    EXPECT_EQ(rows.per_live, 3u);
    EXPECT_EQ(rows.length, 20u);
    EXPECT_EQ(extents(rows.runs), Extents(1, 1));
    EXPECT_EQ(places(rows.runs, 5), std::pair(int64_t(1500), int64_t(100)));
    EXPECT_THROW(rows_of(view({a, b, c}, {99, 6, 1}), view({a, b, c}), 2), std::exception);
}

TEST_F(Walks, rows_may_be_of_the_live_axis_alone) {
    const Rows rows = rows_of(view({tokens, c}), view({tokens, c}, {7, 1}), 1);
    EXPECT_EQ(rows.per_live, 1u);
    EXPECT_EQ(places(rows.runs, 6), std::pair(int64_t(30), int64_t(42)));
}

TEST_F(Walks, lying_together_is_a_matter_of_the_last_axes) {
    EXPECT_TRUE(lies_together(view({a, b, c}, {99, 5, 1}), 2));
    EXPECT_FALSE(lies_together(view({a, b, c}, {99, 5, 1}), 3));
    EXPECT_FALSE(lies_together(view({a, b, c}, {60, 15, 3}), 1));
    EXPECT_TRUE(lies_together(view({a, one}, {1, 77}), 2));
}

TEST_F(Walks, dense_operands_are_walked_along_one_axis) {
    EXPECT_EQ(walked({view({tokens, a, b, c})}), 1u);
    EXPECT_EQ(walked({view({a, b}), view({a, b}), view({a, b})}), 1u);
    EXPECT_EQ(walked({view({tokens}), view({tokens})}), 1u);
}

TEST_F(Walks, operands_are_walked_along_what_they_have_in_common) {
    EXPECT_EQ(walked({view({tokens, a, b}), view({tokens, a, b}), view({b})}), 2u);
    EXPECT_EQ(walked({view({tokens, a, b}), view({tokens})}), 2u);
    EXPECT_EQ(walked({view({tokens, a, b}), view({tokens, a, b}), view({a})}), 3u);
    EXPECT_EQ(walked({view({tokens, a, b}), view({tokens, a, b}, {100, 8, 2})}), 2u);
    EXPECT_EQ(walked({view({tokens, a, one, b}), view({tokens, a, one, b}, {12, 4, 50, 1})}), 1u);
    EXPECT_EQ(walked({view({a, b, c, d, e}), view({b, d})}), 5u);
}

TEST_F(Walks, are_of_five_axes_at_most) {
    const Axis more = graph.axis("more", 2);
    const std::vector<View> views = {view({a, b, c, d, e, more}), view({b, d, more})};
    EXPECT_THROW(walk(views), std::exception);
}

TEST_F(Walks, tell_how_many_elements_a_token_has) {
    const std::vector<View> live = {view({tokens, a, b})}, fixed = {view({a, b})};
    EXPECT_EQ(walk(live).per_live, 12u);
    EXPECT_EQ(walk(fixed).per_live, 12u);
    EXPECT_EQ(walk(live, 1).per_live, 3u);
}

}  // namespace
}  // namespace tandem::kernels::vulkan
