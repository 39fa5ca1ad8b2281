// select_rows on the CPU: copies the wanted rows.
#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    return is(operation, "select_rows") && are_rows(operation.inputs[0].view, operation.output.view)
               ? 1
               : 0;
}

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    graph::View y = site.view(operation.output), rows = site.view(operation.inputs[1]);
    size_t columns = y.axes.size() - 1;
    Rows from = *as_rows(site.view(operation.inputs[0]), columns), to = *as_rows(y, columns);
    return [=](const Worker& worker) {
        const auto [first, last] = worker.share(live_count(rows, site.inputs()));
        for (int64_t r = first; r < last; ++r)
            std::copy_n(from.row(reinterpret_cast<const int32_t*>(rows.data)[r]), to.length,
                        to.row(r));
    };
}

}  // namespace

extern const CpuKernel select_rows{.name = "select_rows", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::cpu::ops
