// linear on the CPU, whatever its shape and type: every row of the weight decoded once, multiplied
// with all of x.
#include "kernels/cpu/matrix.h"
#include "kernels/cpu/rows.h"

namespace tandem::kernels::cpu::ops {

namespace {

size_t claim_any(std::span<const Operation> ahead) { return is(ahead[0], "linear") ? 1 : 0; }

struct Strides {
    std::vector<int64_t> extents, x, y;

    // Calls visit(offset in x, offset in y) for every index of the axes.
    template <typename Visit>
    void each(Visit visit) const {
        std::vector<int64_t> index(extents.size(), 0);
        for (int64_t extent : extents)
            if (extent == 0) return;
        while (true) {
            int64_t at_x = 0, at_y = 0;
            for (size_t i = 0; i < index.size(); ++i)
                at_x += index[i] * x[i], at_y += index[i] * y[i];
            visit(at_x, at_y);
            size_t i = index.size();
            while (i > 0 && ++index[i - 1] == extents[i - 1]) index[--i] = 0;
            if (i == 0) return;
        }
    }
};

// The axes in which x and y are walked: `all` in their order, of which the local extents are known.
Strides strides_of(const graph::Shape& all, const std::vector<int64_t>& extents,
                   const graph::View& x, const graph::View& y) {
    Strides strides{.extents = extents};
    for (graph::Axis axis : all) {
        int in_x = find(x.axes, axis), in_y = find(y.axes, axis);
        strides.x.push_back(in_x < 0 ? 0 : x.strides[size_t(in_x)]);
        strides.y.push_back(in_y < 0 ? 0 : y.strides[size_t(in_y)]);
    }
    return strides;
}

Task bind_any(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    graph::View x = site.view(operation.inputs[0]), y = site.view(operation.output);
    HeldMatrix matrix = held_matrix(operation.inputs[1], site);
    const graph::View weight = operation.inputs[1].view;
    const size_t row_axes = weight.axes.size() - weight.columns;
    graph::Shape outer;
    std::vector<int64_t> outer_extents;
    for (size_t i = 0; i < x.axes.size(); ++i)
        if (!contains(weight.axes, x.axes[i])) {
            outer.push_back(x.axes[i]);
            outer_extents.push_back(x.extents[i]);
        }
    auto part = [&](size_t first, size_t last) {
        return strides_of(
            {weight.axes.begin() + int64_t(first), weight.axes.begin() + int64_t(last)},
            {weight.extents.begin() + int64_t(first), weight.extents.begin() + int64_t(last)}, x,
            y);
    };
    Strides rows = part(0, row_axes), columns = part(row_axes, weight.axes.size());
    Strides tokens = strides_of(outer, outer_extents, x, y);
    bool contiguous = as_rows(x, weight.columns).has_value() && x.axes.size() >= weight.columns;
    for (size_t i = 0; contiguous && i < weight.columns; ++i)
        contiguous = x.axes[x.axes.size() - weight.columns + i] == weight.axes[row_axes + i];
    return [=](const Worker& worker) {
        Strides live = tokens;
        for (size_t i = 0; i < outer.size(); ++i)
            if (outer[i]->live()) live.extents[i] = live_count(x, site.inputs());
        auto* from = reinterpret_cast<const float*>(x.data);
        auto* to = reinterpret_cast<float*>(y.data);
        std::vector<float> values(size_t(matrix.columns)), gathered(size_t(matrix.columns));
        const Range own = worker.share(matrix.rows);
        int64_t number = 0;
        rows.each([&](int64_t row_x, int64_t row_y) {
            int64_t row = number++;
            if (row < own.first || row >= own.last) return;
            matrix.row(0, row, values.data(), worker);
            live.each([&](int64_t at_x, int64_t at_y) {
                const float* operand = from + at_x + row_x;
                if (!contiguous) {
                    size_t k = 0;
                    columns.each([&](int64_t at, int64_t) { gathered[k++] = operand[at]; });
                    operand = gathered.data();
                }
                to[at_y + row_y] = site.isa.dot(values.data(), operand, matrix.columns);
            });
        });
    };
}

}  // namespace

extern const CpuKernel linear_any{.name = "linear.any", .claim = claim_any, .bind = bind_any};

}  // namespace tandem::kernels::cpu::ops
