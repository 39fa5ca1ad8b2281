// linear for many tokens on matrix units: weights become halves, some rows at a time, which these
// units multiply with activations in halves.
#include "gguf/error.h"
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/linear_chain.h"
#include "kernels/vulkan/matrix_units.h"

namespace tandem::kernels::vulkan::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    return is(ahead[0], "linear") && suits_matrix_units(ahead[0]) ? linear_chain(ahead).length : 0;
}

const Form* form(const Operation& operation, size_t input) {
    if (!is(operation, "linear") || input != 0) return nullptr;
    check(ends_with_columns(operation), "the contracted axes are an operand's last");
    return &halves();
}

int64_t scratch_bytes(std::span<const Operation> claimed) {
    return matrix_units_bytes(claimed[0], linear_chain(claimed).matrices);
}

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    return by_matrix_units(
        product_of(launch, site, dense_view(launch.operations[0].inputs[0].view)), site,
        site.scratch(launch));
}

}  // namespace

extern const VulkanKernel linear_units{.name = "linear_units",
                                       .claim = claim,
                                       .bind = bind,
                                       .form = form,
                                       .scratch_bytes = scratch_bytes,
                                       .needs = VulkanKernel::Needs::MatrixUnits};

}  // namespace tandem::kernels::vulkan::ops
