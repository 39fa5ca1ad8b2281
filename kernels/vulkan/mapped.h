// y = f(x), element by element: what maps, picks and copies share.
#pragma once

#include <vector>

#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

// The numbers of the functions in shaders/map.comp.
enum class Function : uint32_t { Same, Scaled, Sigmoid, Softplus, SoftCapped };

// `y_view` says how the result lies, and of which axes it is.
std::vector<Dispatch> mapped(Function function, float parameter, const Operand& x, const Operand& y,
                             const graph::View& y_view, const Site& site);

}  // namespace tandem::kernels::vulkan
