// A choice among scores of which one is no number, for every kind of device.
#pragma once

#include "kernels/small_model.h"

namespace tandem::test {

// The scores of the 3 best of 8, or of the 2 best of 4 groups of them; the one at `at` is `number`.
inline void build_choice(SmallModel& model, size_t at, float number, bool in_groups) {
    const Tensor scores = activation_of(
        model, "scores", {model.axis("choices", 8)},
        [=](int32_t id, size_t i) { return i == at ? number : float((i * 5 + size_t(id)) % 8); });
    const graph::ChoiceGroups groups =
        in_groups ? graph::ChoiceGroups{.count = 4, .kept = 2} : graph::ChoiceGroups{};
    model.finish(take(scores, top_k(scores, model.axis("used", 3), groups)));
}

}  // namespace tandem::test
