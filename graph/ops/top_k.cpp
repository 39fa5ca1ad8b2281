// top_k(scores): indices of the largest elements of the last axis, best first; of equals the lower
// index. A choice, so a group of devices that round differently makes it once.
#include <algorithm>
#include <numeric>

#include "gguf/error.h"
#include "graph/ops.h"

namespace tandem::graph {

namespace ops {
extern const Op top_k{
    .name = "top_k",
    .rule = [](const Node& node) { return Rule{.whole = {node.shape(0).back()}}; },
    .reference =
        [](const Call& call) {
            std::vector<float> scores = load(call.inputs[0]);
            size_t length = size_t(call.inputs[0].extents.back());
            int64_t used = call.output.extents.back();
            std::vector<int32_t> ids(length), result;
            for (size_t first = 0; first < scores.size(); first += length) {
                std::iota(ids.begin(), ids.end(), 0);
                std::stable_sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) {
                    return scores[first + size_t(a)] > scores[first + size_t(b)];
                });
                result.insert(result.end(), ids.begin(), ids.begin() + used);
            }
            store_ids(call.output, result);
        },
    .discrete = true};
}  // namespace ops

Tensor top_k(Tensor scores, Axis used) {
    Shape shape = scores.shape();
    check(used->extent <= shape.back()->extent, "top_k: no more are chosen than there are");
    shape.back() = used;
    return scores.graph->append(ops::top_k, {scores}, shape, {}, gguf::DType::I32);
}

}  // namespace tandem::graph
