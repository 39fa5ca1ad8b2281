// softmax, top_k, take and normalize on the CPU: a few hundred numbers per token.
#include <algorithm>
#include <numeric>

#include "graph/ops.h"
#include "graph/ops/top_k.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

size_t claim_rows(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    bool mine = is(operation, "softmax") || is(operation, "top_k") || is(operation, "take") ||
                is(operation, "normalize");
    if (!mine || !as_rows(operation.output.view, 1)) return 0;
    for (const Operand& input : operation.inputs)
        if (!as_rows(input.view, 1)) return 0;
    return 1;
}

// The best first; of equals the lower index.
void top_k(const float* all, int64_t count, graph::ChoiceGroups groups, int32_t* ids, int64_t used,
           const Worker& worker) {
    float* scores = worker.scratch(2 * count);
    auto* order = reinterpret_cast<int32_t*>(scores + count);
    std::copy_n(all, count, scores);
    graph::ops::leave_out_groups({scores, size_t(count)}, groups.count, groups.kept);
    std::iota(order, order + count, 0);
    std::partial_sort(order, order + used, order + count, [&](int32_t a, int32_t b) {
        return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
    });
    std::copy_n(order, used, ids);
}

void normalize(const float* x, float* y, int64_t count) {
    float sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += x[i];
    sum = std::max(sum, 0x1p-14f);
    for (int64_t i = 0; i < count; ++i) y[i] = x[i] / sum;
}

Task bind_rows(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    std::string_view op = operation.node->op->name;
    graph::View y = site.view(operation.output);
    Rows from = *as_rows(site.view(operation.inputs[0]), 1), to = *as_rows(y, 1), ids = from;
    graph::ChoiceGroups groups;
    if (op == "top_k")
        groups = {.count = int64_t(operation.node->attributes.number("groups")),
                  .kept = int64_t(operation.node->attributes.number("kept"))};
    if (op == "take") ids = *as_rows(site.view(operation.inputs[1]), 1);
    return [=](const Worker& worker) {
        int64_t first, last;
        to.share(site.inputs(), y, worker, first, last);
        for (int64_t r = first; r < last; ++r) {
            const float* x = from.row(r);
            if (op == "softmax")
                site.isa.softmax(x, to.row(r), to.length);
            else if (op == "normalize")
                normalize(x, to.row(r), to.length);
            else if (op == "top_k")
                top_k(x, from.length, groups, reinterpret_cast<int32_t*>(to.row(r)), to.length,
                      worker);
            else
                for (int64_t i = 0; i < to.length; ++i)
                    to.row(r)[i] = x[reinterpret_cast<const int32_t*>(ids.row(r))[i]];
        }
    };
}

}  // namespace

extern const CpuKernel router{
    .name = "router", .claim = claim_rows, .bind = bind_rows, .by_tokens = true};

}  // namespace tandem::kernels::cpu::ops
