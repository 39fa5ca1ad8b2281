// embed on the CPU: rows decoded as the table holds them, packed where it is a matrix, too.
#include "kernels/cpu/matrix.h"
#include "kernels/cpu/rows.h"

namespace tandem::kernels::cpu::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    return is(ahead[0], "embed") &&
                   as_rows(ahead[0].output.view, ahead[0].output.view.axes.size() - 1)
               ? 1
               : 0;
}

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    HeldMatrix table = held_matrix(operation.inputs[0], site);
    int64_t begin = operation.inputs[0].view.begins[0];
    graph::View ids = site.view(operation.inputs[1]), output = site.view(operation.output);
    Rows rows = *as_rows(output, output.axes.size() - 1);
    return [=](const Worker& worker) {
        const auto [first, last] = worker.share_rows(live_count(ids, site.inputs()), 1);
        auto* id = reinterpret_cast<const int32_t*>(ids.data);
        for (int64_t t = first; t < last; ++t) {
            int64_t row = id[t] - begin;
            if (row >= 0 && row < table.rows)
                table.row(0, row, rows.row(t), worker);
            else
                std::fill_n(rows.row(t), rows.length, 0.0f);  // another device has it
        }
    };
}

}  // namespace

extern const CpuKernel embed{.name = "embed", .claim = claim, .bind = bind, .by_tokens = true};

}  // namespace tandem::kernels::cpu::ops
