// States of sequences on devices of every placement, against rows that are found one by one.
#include "parallel/saved_state.h"

#include <gtest/gtest.h>

#include <cstring>

#include "graph/ops.h"
#include "kernels/reference/device.h"
#include "planned.h"
#include "random.h"

namespace tandem::parallel {
namespace {

using gguf::DType;
using graph::Graph;
using graph::Shape;
using test::Random;
using Bytes = std::vector<std::byte>;

constexpr int64_t slots = 3;

// Attention with a window or without, or a delta net, whose state is the first value.
struct Model {
    Graph graph;
    Plan plan;
    Placed placed;
    graph::Axis kv_heads = graph.axis("kv_heads", 3), q_per_kv = graph.axis("q_per_kv", 4),
                d = graph.axis("d", 32), v_per_k = graph.axis("v_per_k", 2);
    graph::Tensor state;

    void attend(DType dtype, int64_t cells, int64_t window) {
        const Shape rows{graph.axis("slots", slots), kv_heads, graph.axis("cells", cells)};
        state = graph.state("k_cache", dtype, rows, {d});
        const graph::Tensor other = graph.state("v_cache", dtype, rows, {d});
        graph::Tensor q = activation({kv_heads, q_per_kv, d}), k = activation({kv_heads, d});
        graph::attend(q, k, k, {state, other}, 1, {.window = window});
    }
    void delta_net(const Shape& heads) {
        state = graph.state("delta_state", DType::F32,
                            Shape{graph.axis("slots", slots)} + heads + Shape{d}, {d});
        graph::Tensor q = activation({kv_heads, d}), v = activation(heads + Shape{d});
        graph::Tensor decay = activation(heads);
        graph::delta_net(q, q, v, decay, decay, state);
    }
    graph::Tensor activation(const Shape& axes) {
        graph::Tensor table = graph.weight("t" + std::to_string(graph.values().size()), DType::F32,
                                           {graph.axis("ids", 9)}, axes, {.strides = {1}});
        return embed(table, graph.input("ids"));
    }
    // `cut` divides the work on the state.
    void place(const Placement& placement, const Partition* cut = nullptr) {
        plan.anchors.assign(graph.values().size(), placement);
        placed = {.graph = &graph,
                  .instances = {{.value = state.value, .placement = placement}},
                  .steps = {Compute{.devices = placement.group,
                                    .partition = placement.partition ? placement.partition : cut,
                                    .inputs = {-1, 0}}}};
    }
};

using Devices = std::vector<std::unique_ptr<kernels::Device>>;

// Devices 0 to 5 with what the plan gives them of the state, all of it random.
Devices devices_of(const Model& model) {
    Devices devices;
    for (int i = 0; i < 6; ++i) {
        devices.push_back(std::make_unique<kernels::ReferenceDevice>("reference", 0));
        const Placement& anchor = model.plan.anchors[size_t(model.state.value)];
        const LocalSize size = local_size(*model.state, anchor, i);
        if (size.rows == 0) continue;
        devices[size_t(i)]->make_state(model.state.value, model.state->dtype, size.rows,
                                       size.columns);
        const kernels::StateRows all{model.state.value, model.state->dtype, size.columns, 0,
                                     size.rows};
        devices[size_t(i)]->write_state(all, Random(uint64_t(i)).bytes(all.bytes()).data());
    }
    return devices;
}

// The row of a slot that stands at an index over its axes, out of any device that has it.
using Index = std::vector<int64_t>;
Bytes row_at(const Model& model, const Devices& devices, int device, int64_t slot,
             const Index& index) {
    const Placement& anchor = model.plan.anchors[size_t(model.state.value)];
    int64_t row = slot;
    const Shape axes = model.state->row_axes();
    for (size_t i = 1; i < axes.size(); ++i) {
        const Range range = anchor.partition
                                ? anchor.partition->range(anchor.partition->member(device), axes[i])
                                : Range{0, axes[i]->extent};
        if (index[i - 1] < range.begin || index[i - 1] >= range.end) return {};
        row = row * range.size() + index[i - 1] - range.begin;
    }
    const LocalSize size = local_size(*model.state, anchor, device);
    if (size.rows == 0) return {};
    const kernels::StateRows one{model.state.value, model.state->dtype, size.columns, row, 1};
    Bytes bytes(size_t(one.bytes()));
    devices[size_t(device)]->read_state(one, bytes.data());
    return bytes;
}

// Where row `row` of a saved state stands in the state itself.
Index index_of(const Model& model, const SavedState& saved, int64_t row) {
    const Shape axes = model.state->row_axes();
    const int64_t inner = saved.inner.begin + row % saved.inner.size();
    Index index{saved.by_position ? inner % axes.back()->extent : inner};
    row /= saved.inner.size();
    for (size_t i = axes.size() - 1; i-- > 1; row /= axes[i]->extent)
        index.insert(index.begin(), row % axes[i]->extent);
    return index;
}

// Writes a sequence of slot 1 and finds it on every device that holds a row of it, and nothing else
// changed; reads it back.
void expect_saved(const Model& model, int64_t position) {
    const SavedState saved = saved_states(model.graph, position)[0];
    ASSERT_EQ(saved.value, model.state.value);
    const Devices devices = devices_of(model), before = devices_of(model);
    const Holders holders{model.placed, model.plan, devices, 1};
    const Bytes written = Random(99).bytes(saved.bytes());
    write_state(holders, saved, saved.inner, written.data());
    Bytes read(written.size());
    read_state(holders, saved, read.data());
    EXPECT_TRUE(read == written);
    for (int64_t row = 0; row < saved.outer * saved.inner.size(); ++row) {
        const Index index = index_of(model, saved, row);
        const auto begin = written.begin() + row * saved.row_bytes;
        int holding = 0;
        for (int device : model.plan.anchors[size_t(model.state.value)].group) {
            const Bytes bytes = row_at(model, devices, device, 1, index);
            holding += !bytes.empty();
            EXPECT_TRUE(bytes.empty() || bytes == Bytes(begin, begin + saved.row_bytes)) << row;
            for (int64_t slot : {0, 2})
                EXPECT_EQ(row_at(model, devices, device, slot, index),
                          row_at(model, before, device, slot, index));
        }
        EXPECT_GT(holding, 0);
    }
    // What several have is that of the first, where they differ.
    const Holders others{model.placed, model.plan, before, 1};
    read_state(others, saved, read.data());
    for (int64_t row = 0; row < saved.outer * saved.inner.size(); ++row)
        for (int device : model.plan.anchors[size_t(model.state.value)].group) {
            const Bytes bytes = row_at(model, before, device, 1, index_of(model, saved, row));
            if (bytes.empty()) continue;
            const auto begin = read.begin() + row * saved.row_bytes;
            EXPECT_TRUE(bytes == Bytes(begin, begin + saved.row_bytes)) << row;
            break;
        }
}

Partition cut(graph::Axis axis, Index bounds, graph::Axis inner = nullptr) {
    Partition partition{.axis = axis, .inner = inner, .bounds = std::move(bounds)};
    for (size_t i = 0; i + 1 < partition.bounds.size(); ++i) partition.group.push_back(int(i));
    return partition;
}

void expect_saved_wherever_it_is(Model& model, int64_t position, graph::Axis inner) {
    const Partition heads = cut(model.kv_heads, {0, 1, 1, 3}),
                    within = cut(model.kv_heads,
                                 {0, 1, inner->extent, inner->extent + 1, 3 * inner->extent,
                                  3 * inner->extent},
                                 inner);
    for (const Placement& placement : {Placement::replicated({0}), Placement::replicated({1, 4}),
                                       Placement::split(&heads), Placement::split(&within)}) {
        SCOPED_TRACE(to_string(placement) + " at " + std::to_string(position));
        model.place(placement);
        expect_saved(model, position);
    }
}

TEST(SavedState, OfCaches) {
    for (DType dtype : {DType::F16, DType::Q8_0})
        for (int64_t window : {0, 5})
            for (int64_t position : {1, 4, 7, 11, 16}) {
                // Rings may have more cells than their windows.
                const int64_t cells = window > 0 ? 7 : 16;
                Model model;
                model.attend(dtype, cells, window);
                expect_saved_wherever_it_is(model, position, model.q_per_kv);
            }
}

TEST(SavedState, OfDeltaNets) {
    for (bool tiled : {false, true}) {
        Model model;
        model.delta_net(tiled ? Shape{model.v_per_k, model.kv_heads}
                              : Shape{model.kv_heads, model.v_per_k});
        expect_saved_wherever_it_is(model, 5, model.v_per_k);
    }
}

TEST(SavedState, HasWhatTheNextTokenNeeds) {
    Model all, windowed, recurrent;
    all.attend(DType::F16, 16, 0);
    windowed.attend(DType::F16, 9, 5);
    recurrent.delta_net({recurrent.kv_heads});
    auto inner = [](const Model& model, int64_t position) {
        return saved_states(model.graph, position)[0].inner;
    };
    EXPECT_EQ(inner(all, 11), (Range{0, 11}));
    EXPECT_EQ(inner(windowed, 3), (Range{0, 3}));
    EXPECT_EQ(inner(windowed, 11), (Range{7, 11}));
    EXPECT_EQ(inner(recurrent, 11), (Range{0, 32}));
    for (const Model* model : {&all, &windowed, &recurrent}) {
        for (const SavedState& state : saved_states(model->graph, 0)) EXPECT_EQ(state.bytes(), 0);
        EXPECT_TRUE(can_return(model->graph, 11, 11));
        EXPECT_TRUE(can_return(model->graph, 11, 0));
    }
    EXPECT_TRUE(can_return(all.graph, 11, 3));
    EXPECT_TRUE(can_return(windowed.graph, 4, 3));
    EXPECT_FALSE(can_return(windowed.graph, 5, 3));
    EXPECT_FALSE(can_return(recurrent.graph, 11, 3));
}

// Where a device has all of a state and nothing of what else its node works on, its own is never
// changed.
TEST(SavedState, ComesFromWhoWorksOnIt) {
    Model model;
    model.attend(DType::F16, 16, 0);
    const Partition cut{.axis = model.kv_heads, .group = {1, 4, 5}, .bounds = {0, 0, 2, 3}};
    model.place(Placement::replicated({1, 4, 5}), &cut);
    const Devices devices = devices_of(model);
    const SavedState saved = saved_states(model.graph, 3)[0];
    Bytes bytes(size_t(saved.bytes()));
    read_state({model.placed, model.plan, devices}, saved, bytes.data());
    const Bytes first = row_at(model, devices, 4, 0, {0, 0});
    EXPECT_TRUE(std::equal(first.begin(), first.end(), bytes.begin()));
}

// The same bytes go to rings of other lengths, and of caches only the beginning where the rest is
// not wanted.
TEST(SavedState, FitsOtherContexts) {
    Model few, many;
    few.attend(DType::F16, 9, 5);
    many.attend(DType::F16, 13, 5);
    for (Model* model : {&few, &many}) model->place(Placement::replicated({0}));
    const Devices of_few = devices_of(few), of_many = devices_of(many);
    const SavedState saved = saved_states(few.graph, 11)[0];
    EXPECT_EQ(saved, saved_states(many.graph, 11)[0]);
    Bytes bytes(size_t(saved.bytes())), again(bytes.size());
    read_state({few.placed, few.plan, of_few}, saved, bytes.data());
    write_state({many.placed, many.plan, of_many}, saved, saved.inner, bytes.data());
    read_state({many.placed, many.plan, of_many}, saved, again.data());
    EXPECT_TRUE(bytes == again);

    const SavedState whole = saved_states(few.graph, 4)[0], part = saved_states(few.graph, 2)[0];
    bytes = Random(7).bytes(whole.bytes());
    write_state({few.placed, few.plan, of_few}, whole, part.inner, bytes.data());
    again.resize(size_t(part.bytes()));
    read_state({few.placed, few.plan, of_few}, part, again.data());
    for (int64_t head = 0; head < 3; ++head)
        EXPECT_EQ(std::memcmp(again.data() + head * 2 * part.row_bytes,
                              bytes.data() + head * 4 * part.row_bytes, size_t(2 * part.row_bytes)),
                  0);
}

}  // namespace
}  // namespace tandem::parallel
