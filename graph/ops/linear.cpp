// linear(x, W): y[... n] = sum over k of W[n k] x[... k]. The contracted axes k are W's columns.
// Row axes of W that x has as well are batched: each has its own matrix.
#include <algorithm>

#include "gguf/error.h"
#include "graph/ops.h"
#include "graph/ops/dot.h"

namespace tandem::graph {

namespace ops {
namespace {

// One stride for each of `axes` in a contiguous operand, 0 where the operand lacks it.
std::vector<int64_t> strides_along(const View& operand, const Shape& axes) {
    std::vector<int64_t> strides(axes.size(), 0);
    int64_t stride = 1;
    for (size_t i = operand.axes.size(); i-- > 0; stride *= operand.extents[i]) {
        int at = find(axes, operand.axes[i]);
        if (at >= 0) strides[size_t(at)] = stride;
    }
    return strides;
}

// Where all indices of these axes are in an operand, row-major.
std::vector<int64_t> offsets_along(const View& operand, const Shape& axes,
                                   const std::vector<int64_t>& extents) {
    const std::vector<int64_t> strides = strides_along(operand, axes);
    std::vector<int64_t> offsets{0};
    for (size_t axis = 0; axis < axes.size(); ++axis) {
        std::vector<int64_t> longer;
        for (int64_t offset : offsets)
            for (int64_t i = 0; i < extents[axis]; ++i)
                longer.push_back(offset + i * strides[axis]);
        offsets = std::move(longer);
    }
    return offsets;
}

void reference(const Call& call) {
    const View& x = call.inputs[0];
    const View& weight = call.inputs[1];
    size_t row_axes = weight.axes.size() - weight.columns;
    Shape rows(weight.axes.begin(), weight.axes.begin() + int64_t(row_axes));
    Shape columns(weight.axes.begin() + int64_t(row_axes), weight.axes.end());
    Shape outer;  // axes of x that are neither contracted nor batched
    std::vector<int64_t> outer_extents, row_extents, column_extents;
    for (size_t i = 0; i < x.axes.size(); ++i)
        if (!contains(weight.axes, x.axes[i])) {
            outer.push_back(x.axes[i]);
            outer_extents.push_back(x.extents[i]);
        }
    for (size_t i = 0; i < weight.axes.size(); ++i)
        (i < row_axes ? row_extents : column_extents).push_back(weight.extents[i]);

    const auto x_outer = offsets_along(x, outer, outer_extents),
               x_rows = offsets_along(x, rows, row_extents),
               x_columns = offsets_along(x, columns, column_extents),
               y_outer = offsets_along(call.output, outer, outer_extents),
               y_rows = offsets_along(call.output, rows, row_extents);
    // Columns that x has last, in their order, are read where they are.
    const bool in_order = std::ranges::is_sorted(x_columns) &&
                          (x_columns.empty() || size_t(x_columns.back()) + 1 == x_columns.size());
    std::vector<float> gathered(x_columns.size());
    std::vector<float> input = load(x), output(size_t(call.output.elements()));
    for (size_t row = 0; row < x_rows.size(); ++row) {
        const std::vector<float> w = load_row(weight, int64_t(row));
        for (size_t i = 0; i < x_outer.size(); ++i) {
            const float* at = input.data() + x_outer[i] + x_rows[row];
            if (!in_order)
                for (size_t k = 0; k < w.size(); ++k) gathered[k] = at[x_columns[k]];
            const std::span of_x(in_order ? at : gathered.data(), w.size());
            output[size_t(y_outer[i] + y_rows[row])] = float(dot(w, of_x));
        }
    }
    store(call.output, output);
}

}  // namespace

extern const Op linear{
    .name = "linear",
    .rule = [](const Node&) { return Rule{.linear = {0}}; },
    .reference = reference,
    .use = [](size_t operand) { return operand == 1 ? Use::Matrix : Use::Vector; }};
}  // namespace ops

Tensor linear(Tensor x, Tensor weight) {
    Shape shape;
    for (Axis axis : weight->column_axes())
        check(contains(x.shape(), axis), "linear: the operand lacks axis " + axis->name);
    for (Axis axis : x.shape())
        if (!contains(weight.shape(), axis)) shape.push_back(axis);
    return x.graph->append(ops::linear, {x, weight}, shape + weight->row_axes());
}

}  // namespace tandem::graph
