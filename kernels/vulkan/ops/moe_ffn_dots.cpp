// moe_ffn for a few tokens in int8, for types of weights that have integer codes.
#include "kernels/vulkan/experts.h"
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/tile.h"

namespace tandem::kernels::vulkan::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    return is(ahead[0], "moe_ffn") && ExpertSizes(ahead[0]).tokens < Tile::least_tokens &&
                   has_few_dots(ahead[0])
               ? experts_chain(ahead).length
               : 0;
}

const Form* form(const Operation& operation, size_t input) {
    return is(operation, "moe_ffn") && input == graph::ops::moe_x ? &int8_blocks() : nullptr;
}

int64_t scratch_bytes(std::span<const Operation> claimed) { return few_dots_bytes(claimed[0]); }

}  // namespace

extern const VulkanKernel moe_ffn_dots{.name = "moe_ffn_dots",
                                       .claim = claim,
                                       .bind = few_experts_in_dots,
                                       .form = form,
                                       .scratch_bytes = scratch_bytes,
                                       .needs = VulkanKernel::Needs::IntegerDots};

}  // namespace tandem::kernels::vulkan::ops
