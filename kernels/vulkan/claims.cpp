#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

namespace {

std::vector<Kernel> as_claims() {
    std::vector<Kernel> all;
    for (const VulkanKernel* kernel : ops_table())
        all.push_back({.name = kernel->name,
                       .claim = kernel->claim,
                       .form = kernel->form,
                       .scratch_bytes = kernel->scratch_bytes,
                       .number = int(all.size())});
    return all;
}

}  // namespace

std::span<const Kernel> claims() {
    static const std::vector<Kernel> all = as_claims();
    return all;
}

const Kernel& claim_of(const VulkanKernel& kernel) {
    size_t number = 0;
    while (ops_table()[number] != &kernel) ++number;
    return claims()[number];
}

}  // namespace tandem::kernels::vulkan
