#include "kernels/vulkan/forms.h"

namespace tandem::kernels::vulkan {

namespace ops {
extern const VulkanKernel copy;
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

}  // namespace tandem::kernels::vulkan
