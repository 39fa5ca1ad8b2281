// The forms of activations that kernels read.
#pragma once

#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

// Elements in the order of the axes, without gaps.
const Form& dense();
// A view of the value in that form.
graph::View dense_view(graph::View view);

}  // namespace tandem::kernels::vulkan
