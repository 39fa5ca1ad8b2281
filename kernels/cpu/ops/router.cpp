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
        if (graph::ops::is_better(scores[a], scores[b])) return true;
        return !graph::ops::is_better(scores[b], scores[a]) && a < b;
    });
    std::copy_n(order, used, ids);
}

// Of weights, so that they add up to 1; the sum of weights that are nearly nothing counts as 2^-14.
void normalize(const float* x, float* y, int64_t count) {
    float sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += x[i];
    sum = std::max(sum, 0x1p-14f);
    for (int64_t i = 0; i < count; ++i) y[i] = x[i] / sum;
}

void take(const float* x, const int32_t* ids, float* y, int64_t count) {
    for (int64_t i = 0; i < count; ++i) y[i] = x[ids[i]];
}

// The rows of the result, each made by row(r, member).
template <typename Row>
Task by_rows(const Site& site, const graph::View& y, Row row) {
    return [=, to = *as_rows(y, 1)](const Worker& worker) {
        const auto [first, last] = to.share(site.inputs(), y, worker);
        for (int64_t r = first; r < last; ++r) row(r, worker);
    };
}

Task bind_rows(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::View y = site.view(operation.output);
    const Rows x = *as_rows(site.view(operation.inputs[0]), 1), to = *as_rows(y, 1);
    if (is(operation, "softmax"))
        return by_rows(site, y, [=](int64_t r, const Worker&) {
            site.isa.softmax(x.row(r), to.row(r), to.length);
        });
    if (is(operation, "normalize"))
        return by_rows(
            site, y, [=](int64_t r, const Worker&) { normalize(x.row(r), to.row(r), to.length); });
    if (is(operation, "take"))
        return by_rows(
            site, y,
            [=, ids = *as_rows(site.view(operation.inputs[1]), 1)](int64_t r, const Worker&) {
                take(x.row(r), reinterpret_cast<const int32_t*>(ids.row(r)), to.row(r), to.length);
            });
    const graph::Attributes& attributes = operation.node->attributes;
    const graph::ChoiceGroups groups{.count = int64_t(attributes.number("groups")),
                                     .kept = int64_t(attributes.number("kept"))};
    return by_rows(site, y, [=](int64_t r, const Worker& worker) {
        top_k(x.row(r), x.length, groups, reinterpret_cast<int32_t*>(to.row(r)), to.length, worker);
    });
}

}  // namespace

extern const CpuKernel router{
    .name = "router", .claim = claim_rows, .bind = bind_rows, .by_tokens = true};

}  // namespace tandem::kernels::cpu::ops
