// moe_ffn in int8, for types of weights that have integer codes.
#include "kernels/vulkan/experts.h"
#include "kernels/vulkan/forms.h"

namespace tandem::kernels::vulkan::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    return is(ahead[0], "moe_ffn") && experts_have_dots(ahead[0]) ? experts_chain(ahead).length : 0;
}

const Form* form(const Operation& operation, size_t input) {
    return is(operation, "moe_ffn") && input == graph::ops::moe_x ? &int8_blocks() : nullptr;
}

int64_t scratch_bytes(std::span<const Operation> claimed) {
    return takes_choices_alone(claimed[0]) ? few_dots_bytes(claimed[0])
                                           : many_experts_bytes(claimed[0], ExpertProducts::InDots);
}

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    return takes_choices_alone(launch.operations[0])
               ? few_experts_in_dots(launch, site)
               : many_experts(launch, site, ExpertProducts::InDots);
}

}  // namespace

extern const VulkanKernel moe_ffn_dots{.name = "moe_ffn_dots",
                                       .claim = claim,
                                       .bind = bind,
                                       .form = form,
                                       .scratch_bytes = scratch_bytes,
                                       .needs = VulkanKernel::Needs::IntegerDots};

}  // namespace tandem::kernels::vulkan::ops
