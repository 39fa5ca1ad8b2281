// moe_ffn for many tokens on matrix units.
#include "kernels/vulkan/experts.h"
#include "kernels/vulkan/matrix_units.h"

namespace tandem::kernels::vulkan::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    const bool many = is(ahead[0], "moe_ffn") &&
                      ExpertSizes(ahead[0]).tokens >= MatrixTile::least_tokens &&
                      !takes_choices_alone(ahead[0]);
    return many ? experts_chain(ahead).length : 0;
}

int64_t scratch_bytes(std::span<const Operation> claimed) {
    return many_experts_bytes(claimed[0], ExpertProducts::OnMatrixUnits);
}

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    return many_experts(launch, site, ExpertProducts::OnMatrixUnits);
}

}  // namespace

extern const VulkanKernel moe_ffn_units{.name = "moe_ffn_units",
                                        .claim = claim,
                                        .bind = bind,
                                        .scratch_bytes = scratch_bytes,
                                        .needs = VulkanKernel::Needs::MatrixUnits};

}  // namespace tandem::kernels::vulkan::ops
