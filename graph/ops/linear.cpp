// linear(x, W): y[... n] = sum over k of W[n k] x[... k]. The contracted axes k are W's columns.
// Row axes of W that x has as well are batched: each has its own matrix.
#include "gguf/error.h"
#include "graph/ops.h"

namespace tandem::graph {

namespace ops {
namespace {

// Visits all indices of `extents`, row-major.
template <typename Visit>
void for_each_index(const std::vector<int64_t>& extents, Visit visit) {
    std::vector<int64_t> index(extents.size(), 0);
    for (int64_t extent : extents)
        if (extent == 0) return;
    while (true) {
        visit(index);
        size_t i = index.size();
        while (i > 0 && ++index[i - 1] == extents[i - 1]) index[--i] = 0;
        if (i == 0) return;
    }
}

// Offsets into a contiguous operand: one stride for each of `axes`, 0 where the operand lacks it.
std::vector<int64_t> strides_along(const View& operand, const Shape& axes) {
    std::vector<int64_t> strides(axes.size(), 0);
    int64_t stride = 1;
    for (size_t i = operand.axes.size(); i-- > 0; stride *= operand.extents[i]) {
        int at = find(axes, operand.axes[i]);
        if (at >= 0) strides[size_t(at)] = stride;
    }
    return strides;
}

int64_t offset(const std::vector<int64_t>& index, const std::vector<int64_t>& strides) {
    int64_t sum = 0;
    for (size_t i = 0; i < index.size(); ++i) sum += index[i] * strides[i];
    return sum;
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

    std::vector<float> input = load(x), output(size_t(call.output.elements()));
    std::vector<int64_t> x_outer = strides_along(x, outer), x_rows = strides_along(x, rows),
                         x_columns = strides_along(x, columns),
                         y_outer = strides_along(call.output, outer),
                         y_rows = strides_along(call.output, rows);
    int64_t number = 0;
    for_each_index(row_extents, [&](const std::vector<int64_t>& row) {
        std::vector<float> w = load_row(weight, number++);
        for_each_index(outer_extents, [&](const std::vector<int64_t>& at) {
            int64_t base = offset(at, x_outer) + offset(row, x_rows);
            double sum = 0;
            size_t k = 0;
            for_each_index(column_extents, [&](const std::vector<int64_t>& column) {
                sum += double(w[k++]) * input[size_t(base + offset(column, x_columns))];
            });
            output[size_t(offset(at, y_outer) + offset(row, y_rows))] = float(sum);
        });
    });
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
