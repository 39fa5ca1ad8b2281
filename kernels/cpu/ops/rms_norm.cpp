// rms_norm on the CPU.
#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

// Without a weight the last.
size_t normed_axes(const Operation& operation) {
    return operation.inputs[1] ? operation.inputs[1].view.axes.size() : 1;
}

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    if (!is(operation, "rms_norm")) return 0;
    size_t columns = normed_axes(operation);
    return as_rows(operation.inputs[0].view, columns) && as_rows(operation.output.view, columns)
               ? 1
               : 0;
}

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    graph::View x = site.view(operation.inputs[0]), weight = site.view(operation.inputs[1]);
    graph::View y = site.view(operation.output);
    Rows from = *as_rows(x, normed_axes(operation)), to = *as_rows(y, normed_axes(operation));
    std::vector<float> ones;
    if (!weight) ones.assign(size_t(to.length), 1.0f);
    float epsilon = float(operation.node->attributes.number("epsilon"));
    return [=](const Worker& worker) {
        const auto [first, last] = to.share(site.inputs(), y, worker);
        for (int64_t r = first; r < last; ++r)
            site.isa.rms_norm(from.row(r),
                              weight ? reinterpret_cast<const float*>(weight.data) : ones.data(),
                              epsilon, to.row(r), to.length);
    };
}

}  // namespace

extern const CpuKernel rms_norm{
    .name = "rms_norm", .claim = claim, .bind = bind, .in_place = 1, .by_tokens = true};

}  // namespace tandem::kernels::cpu::ops
