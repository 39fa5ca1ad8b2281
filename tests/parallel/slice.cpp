// Parts of file tensors, and what a device holds of them, against a plain copy block by block.
#include "parallel/slice.h"

#include <gtest/gtest.h>

#include <map>

#include "graph/layout.h"
#include "parallel/plan.h"
#include "random.h"

namespace tandem::parallel {
namespace {

using gguf::DType;
using graph::AxisDefinition;
using graph::Graph;
using graph::Layout;
using graph::Shape;
using graph::Value;
using Index = std::vector<int64_t>;

// Every index within the ranges, row-major.
std::vector<Index> indices(const std::vector<Range>& ranges) {
    std::vector<Index> all{{}};
    for (const Range& range : ranges) {
        std::vector<Index> longer;
        for (const Index& index : all)
            for (int64_t i = range.begin; i < range.end; ++i) {
                longer.push_back(index);
                longer.back().push_back(i);
            }
        all = std::move(longer);
    }
    return all;
}

std::vector<Range> whole(const Shape& axes) {
    std::vector<Range> ranges;
    for (graph::Axis axis : axes) ranges.push_back({0, axis->extent});
    return ranges;
}

// The rows of a file tensor in order, as the layout tells them: which part, which index.
using RowNumbers = std::vector<std::map<Index, int64_t>>;  // [part]
void walk(const Layout& layout, const Index& before, size_t& part, int64_t& row,
          RowNumbers& numbers) {
    size_t first = part;
    for (const Index& index : indices(whole(layout.outer))) {
        Index here = before;
        here.insert(here.end(), index.begin(), index.end());
        part = first;
        for (const Layout& inner : layout.parts) walk(inner, here, part, row, numbers);
        if (!layout.parts.empty()) continue;
        if (numbers.size() <= part) numbers.resize(part + 1);
        numbers[part++][here] = row++;
    }
    if (layout.parts.empty()) part = first + 1;
}

RowNumbers row_numbers(const Layout& layout) {
    RowNumbers numbers;
    size_t part = 0;
    int64_t row = 0;
    walk(layout, {}, part, row, numbers);
    EXPECT_EQ(row, rows(layout));
    return numbers;
}

// What `placement` gives `device` of a weight, copied block by block.
std::vector<std::byte> copied(const Value& weight, const std::map<Index, int64_t>& row_numbers,
                              const Placement& placement, int device,
                              std::span<const std::byte> data) {
    const gguf::DTypeTraits& type = gguf::traits(weight.dtype);
    auto ranges = [&](const Shape& axes) {
        std::vector<Range> found = whole(axes);
        if (const Partition* partition = placement.partition)
            for (size_t i = 0; i < axes.size(); ++i)
                found[i] = partition->range(partition->member(device), axes[i]);
        return found;
    };
    Shape columns = weight.column_axes();
    int64_t row_bytes = gguf::row_bytes(weight.dtype, elements(columns));
    std::vector<std::byte> bytes;
    auto copy = [&](int64_t from, int64_t count) {
        bytes.insert(bytes.end(), data.begin() + from, data.begin() + from + count);
    };
    for (const Index& row : indices(ranges(weight.row_axes()))) {
        int64_t start = row_numbers.at(row) * row_bytes;
        copy(start, type.row_header);
        for (const Index& column : indices(ranges(columns))) {
            int64_t element = 0;
            for (size_t i = 0; i < columns.size(); ++i)
                element = element * columns[i]->extent + column[i];
            if (element % type.block == 0)
                copy(start + type.row_header + element / type.block * type.block_bytes,
                     type.block_bytes);
        }
    }
    return bytes;
}

std::vector<std::byte> sliced(const Value& weight, const Placement& placement, int device,
                              std::span<const std::byte> data) {
    Slice slice(weight, placement, device, data);
    LocalSize size = local_size(weight, placement, device);
    EXPECT_EQ(slice.rows(), size.matrices * size.rows);
    size_t row_bytes = size.columns > 0 ? size_t(gguf::row_bytes(weight.dtype, size.columns)) : 0;
    std::vector<std::byte> scratch(row_bytes), bytes;
    for (int64_t row = 0; row < slice.rows(); ++row) {
        const std::byte* local = slice.row(row, scratch.data());
        bytes.insert(bytes.end(), local, local + row_bytes);
    }
    return bytes;
}

// All parts of a file tensor under one placement, on every device of it.
class Tensor {
  public:
    Tensor(Graph& graph, DType dtype, const Layout& layout, const Shape& columns)
        : numbers_(row_numbers(layout)) {
        data_ = test::Random(uint64_t(dtype))
                    .bytes(rows(layout) * gguf::row_bytes(dtype, elements(columns)));
        for (const graph::Part& part : separate(layout))
            weights_.push_back(
                graph.weight("w" + std::to_string(weights_.size()), dtype, part.axes, columns,
                             {.tensor = "w.weight", .first = part.first, .strides = part.strides}));
    }

    void expect_same(const Placement& placement) const {
        ASSERT_EQ(weights_.size(), numbers_.size());
        for (size_t i = 0; i < weights_.size(); ++i)
            for (int device : placement.group) {
                LocalSize size = local_size(*weights_[i], placement, device);
                if (size.rows == 0) continue;  // never loaded
                EXPECT_TRUE(sliced(*weights_[i], placement, device, data_) ==
                            copied(*weights_[i], numbers_[i], placement, device, data_))
                    << gguf::name(weights_[i]->dtype) << " part " << i << " on " << device << ", "
                    << to_string(placement);
            }
    }

  private:
    RowNumbers numbers_;
    std::vector<std::byte> data_;
    std::vector<graph::Tensor> weights_;
};

struct Axes {
    Graph graph;
    graph::Axis heads = graph.axis("heads", 3), queries = graph.axis("queries", 4),
                d = graph.axis("d", 5), gate = graph.axis("gate", 2),
                wide = graph.axis("wide", 512), k_heads = graph.axis("k_heads", 2),
                blocks = graph.axis("blocks", 6), half = graph.axis("half", 16);
};

Partition cut(graph::Axis axis, Index bounds, graph::Axis inner = nullptr) {
    Partition partition{.axis = axis, .inner = inner, .bounds = std::move(bounds)};
    for (size_t i = 0; i + 1 < partition.bounds.size(); ++i)
        partition.group.push_back(int(2 * i + 1));
    return partition;
}

const DType types[] = {DType::F32,    DType::F16,    DType::Q8_0,  DType::Q4_0,
                       DType::MXFP4,  DType::NVFP4,  DType::Q4_K,  DType::IQ1_S,
                       DType::IQ4_KS, DType::IQ2_KL, DType::IQ3_KT};

TEST(Layout, parts_in_the_order_of_their_rows) {
    Axes a;
    Layout layout({a.heads, a.queries}, {Layout({a.d}), Layout({a.gate})});
    EXPECT_EQ(rows(layout), 3 * 4 * 7);
    auto parts = separate(layout);
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[0].axes, (Shape{a.heads, a.queries, a.d}));
    EXPECT_EQ(parts[0].first, 0);
    EXPECT_EQ(parts[0].strides, (Index{28, 7, 1}));
    EXPECT_EQ(parts[1].axes, (Shape{a.heads, a.queries, a.gate}));
    EXPECT_EQ(parts[1].first, 5);
    EXPECT_EQ(parts[1].strides, (Index{28, 7, 1}));
}

TEST(Layout, separates_what_it_walks) {
    Axes a;
    for (const Layout& layout :
         {Layout(Shape{}), Layout({a.heads}), Layout({a.heads, a.d}),
          Layout({}, {Layout({a.heads, a.queries, a.d}), Layout({a.heads, a.d})}),
          Layout({a.heads}, {Layout({a.queries, a.d}), Layout(Shape{}), Layout({a.gate})}),
          Layout({a.k_heads},
                 {Layout({a.d}), Layout({a.heads}, {Layout({a.gate}), Layout({a.queries})})})}) {
        RowNumbers numbers = row_numbers(layout);
        auto parts = separate(layout);
        ASSERT_EQ(parts.size(), numbers.size());
        for (size_t i = 0; i < parts.size(); ++i) {
            EXPECT_EQ(int64_t(numbers[i].size()), elements(parts[i].axes));
            for (const auto& [index, row] : numbers[i]) {
                int64_t at = parts[i].first;
                for (size_t j = 0; j < index.size(); ++j) at += index[j] * parts[i].strides[j];
                EXPECT_EQ(at, row) << "part " << i;
            }
        }
    }
}

TEST(Slice, rows_of_every_layout) {
    for (DType dtype : types) {
        Axes a;
        const Layout layouts[] = {
            Layout({a.heads}), Layout({a.heads, a.queries, a.d}),
            Layout({}, {Layout({a.heads, a.queries, a.d}), Layout({a.heads, a.d})}),
            Layout({a.heads, a.queries}, {Layout({a.d}), Layout({a.gate})}),
            Layout({a.k_heads},
                   {Layout({a.d}), Layout({a.heads}, {Layout({a.gate}), Layout({a.queries})})})};
        Partition heads = cut(a.heads, {0, 1, 1, 3}), queries = cut(a.queries, {0, 3, 4}),
                  within = cut(a.heads, {0, 1, 4, 4, 12}, a.queries), size = cut(a.d, {0, 2, 5});
        for (const Layout& layout : layouts) {
            Graph graph;
            Tensor tensor(graph, dtype, layout, {a.wide});
            tensor.expect_same(Placement::replicated({0, 2}));
            for (const Partition* partition : {&heads, &queries, &within, &size})
                tensor.expect_same(Placement::split(partition));
        }
    }
}

TEST(Slice, columns_of_every_type) {
    for (DType dtype : types) {
        Axes a;
        int64_t block = gguf::traits(dtype).block;
        graph::Axis one = a.graph.axis("one", 5 * block), few = a.graph.axis("few", 3 * block);
        Partition first = cut(one, {0, block, block, 4 * block, 5 * block}),
                  outer = cut(a.heads, {0, 2, 3}), inner = cut(few, {0, 2 * block, 3 * block}),
                  within = cut(a.heads, {0, 1, 4, 8, 8, 12}, a.queries), row = cut(a.d, {0, 4, 5});
        Tensor vector(a.graph, dtype, Layout({a.d}), {one});
        for (const Partition* partition : {&first, &row})
            vector.expect_same(Placement::split(partition));
        Tensor nested(a.graph, dtype, Layout({a.d}), {a.heads, a.queries, few});
        for (const Partition* partition : {&outer, &inner, &within, &row})
            nested.expect_same(Placement::split(partition));
    }
}

// Cuts within an axis whose steps are less than a block, at every grain.
TEST(Slice, columns_of_several_steps_a_block) {
    Axes a;
    Partition outer = cut(a.blocks, {0, 2, 6}), within = cut(a.heads, {0, 2, 4, 12}, a.queries);
    Tensor tensor(a.graph, DType::Q8_0, Layout({a.d}), {a.blocks, a.half});
    tensor.expect_same(Placement::split(&outer));
    Tensor heads(a.graph, DType::Q8_0, Layout({a.d}), {a.heads, a.queries, a.half});
    heads.expect_same(Placement::split(&within));
    Partition wrong = cut(a.blocks, {0, 1, 6});
    EXPECT_THROW(tensor.expect_same(Placement::split(&wrong)), std::logic_error);
}

// A stack of matrices: `matrices` counts those that a device has.
TEST(Slice, experts) {
    graph::AxisDefinition experts{"experts", 5}, ffn{"ffn", 96}, embd{"embd", 64};
    Graph graph;
    Layout layout({&experts, &ffn});
    Partition by_experts = cut(&experts, {0, 2, 2, 5}), by_ffn = cut(&ffn, {0, 32, 96});
    Tensor gate(graph, DType::Q4_0, layout, {&embd});
    gate.expect_same(Placement::split(&by_experts));
    gate.expect_same(Placement::split(&by_ffn));
    Tensor down(graph, DType::Q4_0, Layout({&experts, &embd}), {&ffn});
    down.expect_same(Placement::split(&by_experts));
    down.expect_same(Placement::split(&by_ffn));
    Value weight = graph.value(0);
    weight.use = graph::Use::Experts;
    LocalSize size = local_size(weight, Placement::split(&by_experts), 5);
    EXPECT_EQ(size.matrices, 3);
    EXPECT_EQ(size.rows, 96);
    EXPECT_EQ(size.columns, 64);
    EXPECT_EQ(local_size(weight, Placement::split(&by_experts), 3).rows, 0);
    EXPECT_EQ(local_size(weight, Placement::split(&by_ffn), 1).rows, 32);
}

TEST(Slice, vectors) {
    Axes a;
    Partition heads = cut(a.heads, {0, 2, 2, 3}), within = cut(a.heads, {0, 3, 4, 12}, a.queries);
    Tensor bias(a.graph, DType::F16, Layout({a.heads, a.queries, a.d}), {});
    bias.expect_same(Placement::split(&heads));
    bias.expect_same(Placement::split(&within));
    Tensor one(a.graph, DType::F32, Layout(Shape{}), {});
    one.expect_same(Placement::replicated({0}));
}

}  // namespace
}  // namespace tandem::parallel
