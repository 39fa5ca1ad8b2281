// The Vulkan kernels in order of preference: of equal claims the first wins.
#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

namespace ops {
extern const VulkanKernel linear_vector, embed, pairs, maps, norms, rope, select_rows, attend,
    shares, router, take, temper, pick, expert_bias, short_conv, delta_net, copy;
}

namespace {

constexpr const VulkanKernel* table[] = {
    &ops::linear_vector, &ops::embed,       &ops::pairs,  &ops::maps,        &ops::norms,
    &ops::rope,          &ops::select_rows, &ops::attend, &ops::shares,      &ops::router,
    &ops::take,          &ops::temper,      &ops::pick,   &ops::expert_bias, &ops::short_conv,
    &ops::delta_net,     &ops::copy,
};

std::vector<Kernel> as_claims() {
    std::vector<Kernel> all;
    for (const VulkanKernel* kernel : table)
        all.push_back({.name = kernel->name,
                       .claim = kernel->claim,
                       .form = kernel->form,
                       .scratch_bytes = kernel->scratch_bytes,
                       .number = int(all.size())});
    return all;
}

}  // namespace

std::span<const VulkanKernel* const> kernel_table() { return table; }

std::span<const Kernel> claims() {
    static const std::vector<Kernel> all = as_claims();
    return all;
}

const Kernel& claim_of(const VulkanKernel& kernel) {
    size_t number = 0;
    while (table[number] != &kernel) ++number;
    return claims()[number];
}

}  // namespace tandem::kernels::vulkan
