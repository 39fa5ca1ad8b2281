#include "kernels/vulkan/forms.h"

namespace tandem::kernels::vulkan {

namespace ops {
extern const VulkanKernel copy, quantize, to_halves;
}

const Form& dense() {
    static const Form form{"dense", [](const graph::View& view) { return view.elements() * 4; },
                           &claim_of(ops::copy)};
    return form;
}

graph::View dense_view(graph::View view) {
    view.strides.assign(view.extents.size(), 1);
    for (size_t i = view.extents.size(); i-- > 1;)
        view.strides[i - 1] = view.strides[i] * view.extents[i];
    return view;
}

bool reads_fours(const Walk& walk, Address x) {
    const uint32_t last = walk.axes - 1;
    bool whole = x % 16 == 0 && walk.strides[1][last] == 1 && walk.per_live % 4 == 0;
    for (uint32_t i = 0; i < last; ++i)
        whole = whole && walk.strides[1][i] % 4 == 0 && walk.extents[i + 1] % 4 == 0;
    return whole;
}

int64_t int8_bytes(int64_t elements) { return (elements + 127) / 128 * 160; }

const Form& int8_blocks() {
    static const Form form{"int8_blocks",
                           [](const graph::View& view) { return int8_bytes(view.elements()); },
                           &claim_of(ops::quantize)};
    return form;
}

const Form& halves() {
    static const Form form{"halves", [](const graph::View& view) { return view.elements() * 2; },
                           &claim_of(ops::to_halves)};
    return form;
}

}  // namespace tandem::kernels::vulkan
