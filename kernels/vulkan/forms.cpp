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
