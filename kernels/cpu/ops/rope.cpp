// rope on the CPU: cos and sin of a token's position once for all its heads.
#include "graph/rope.h"

#include <cmath>

#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    return is(operation, "rope") && as_rows(operation.inputs[0].view, 1) &&
                   as_rows(operation.output.view, 1)
               ? 1
               : 0;
}

void turn(const graph::Rope& rope, const float* cosines, const float* sines, const float* x,
          float* y, int64_t length) {
    int pairs = rope.dims / 2, apart = rope.halves ? pairs : 1, step = rope.halves ? 1 : 2;
    for (int i = 0; i < pairs; ++i) {
        float first = x[i * step], second = x[i * step + apart];
        y[i * step] = first * cosines[i] - second * sines[i];
        y[i * step + apart] = first * sines[i] + second * cosines[i];
    }
    for (int64_t i = rope.dims; i < length; ++i) y[i] = x[i];
}

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    graph::View x = site.view(operation.inputs[0]), y = site.view(operation.output);
    graph::View positions = site.view(operation.inputs[1]);
    graph::Rope rope = rope_of(*operation.node);
    graph::View factor_view = site.view(operation.inputs[2]);
    Rows from = *as_rows(x, 1), to = *as_rows(y, 1);
    std::vector<float> factors;
    if (factor_view) factors = graph::load(factor_view);
    std::vector<double> angles = rope_angles(rope, factors);
    return [=](const Worker& worker) {
        float* cosines = worker.scratch(2 * int64_t(angles.size()));
        float* sines = cosines + angles.size();
        int64_t first, last;
        worker.share(live_count(x, site.inputs()), first, last);
        for (int64_t t = first; t < last; ++t) {
            double position = reinterpret_cast<const int32_t*>(positions.data)[t];
            for (size_t i = 0; i < angles.size(); ++i) {
                cosines[i] = float(rope.magnitude * std::cos(position * angles[i]));
                sines[i] = float(rope.magnitude * std::sin(position * angles[i]));
            }
            for (int64_t r = t * from.per_live; r < (t + 1) * from.per_live; ++r)
                turn(rope, cosines, sines, from.row(r), to.row(r), to.length);
        }
    };
}

}  // namespace

extern const CpuKernel rope{.name = "rope", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::cpu::ops
