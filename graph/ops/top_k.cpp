// top_k(scores): indices of the largest elements of the last axis, best first; of equals the lower
// index, and before all what is no number. A choice, so a group of devices that round differently
// makes it once.
//
// With groups of choices, the elements of all but the best groups are left out first.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "gguf/error.h"
#include "graph/ops.h"
#include "graph/ops/top_k.h"

namespace tandem::graph {

namespace ops {

void leave_out_groups(std::span<float> scores, int64_t count, int64_t kept) {
    if (kept >= count) return;
    size_t size = scores.size() / size_t(count);
    std::vector<std::pair<float, int64_t>> sums;  // negative, so that the best come first
    for (int64_t group = 0; group < count; ++group) {
        float best = -INFINITY, second = -INFINITY;
        for (float score : scores.subspan(size_t(group) * size, size)) {
            if (std::isnan(score)) score = INFINITY;
            second = std::max(second, std::min(best, score));
            best = std::max(best, score);
        }
        // Of infinities of both signs there is no sum.
        const bool alone = size == 1 || best == INFINITY;
        sums.emplace_back(-(alone ? best : best + second), group);
    }
    std::sort(sums.begin(), sums.end());
    for (int64_t i = kept; i < count; ++i) {
        auto group = scores.subspan(size_t(sums[size_t(i)].second) * size, size);
        std::fill(group.begin(), group.end(), -INFINITY);
    }
}

extern const Op top_k{
    .name = "top_k",
    .rule = [](const Node& node) { return Rule{.whole = {node.shape(0).back()}}; },
    .reference =
        [](const Call& call) {
            std::vector<float> scores = load(call.inputs[0]);
            size_t length = size_t(call.inputs[0].extents.back());
            int64_t used = call.output.extents.back();
            std::vector<int32_t> ids(length), result;
            const Attributes& attributes = call.node.attributes;
            for (size_t first = 0; first < scores.size(); first += length) {
                leave_out_groups(std::span(scores).subspan(first, length),
                                 int64_t(attributes.number("groups")),
                                 int64_t(attributes.number("kept")));
                std::iota(ids.begin(), ids.end(), 0);
                std::stable_sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) {
                    return is_better(scores[first + size_t(a)], scores[first + size_t(b)]);
                });
                result.insert(result.end(), ids.begin(), ids.begin() + used);
            }
            store_ids(call.output, result);
        },
    .discrete = true};
}  // namespace ops

Tensor top_k(Tensor scores, Axis used, ChoiceGroups groups) {
    Shape shape = scores.shape();
    int64_t choices = shape.back()->extent;
    check(choices % groups.count == 0 && used->extent <= choices / groups.count * groups.kept,
          "top_k: no more are chosen than there are");
    shape.back() = used;
    return scores.graph->append(ops::top_k, {scores}, shape,
                                {{"groups", double(groups.count)}, {"kept", double(groups.kept)}},
                                gguf::DType::I32);
}

}  // namespace tandem::graph
