#include <algorithm>

#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

namespace {

using Needs = VulkanKernel::Needs;

std::vector<Kernel> as_claims(std::initializer_list<Needs> offered) {
    std::vector<Kernel> all;
    for (const Needs needs : offered)
        for (size_t i = 0; i < ops_table().size(); ++i) {
            const VulkanKernel& kernel = *ops_table()[i];
            if (kernel.needs == needs)
                all.push_back({.name = kernel.name,
                               .claim = kernel.claim,
                               .form = kernel.form,
                               .gives = kernel.gives,
                               .scratch_bytes = kernel.scratch_bytes,
                               .number = int(i),
                               .side_by_side = true});
        }
    return all;
}

}  // namespace

std::span<const Kernel> claims(const Features& features) {
    static const std::vector<Kernel> all[] = {
        as_claims({Needs::Nothing}), as_claims({Needs::IntegerDots, Needs::Nothing}),
        as_claims({Needs::MatrixUnits, Needs::Nothing}),
        as_claims({Needs::MatrixUnits, Needs::IntegerDots, Needs::Nothing})};
    return all[(features.matrix_units ? 2 : 0) + (features.integer_dots ? 1 : 0)];
}

const Kernel& claim_of(const VulkanKernel& kernel) {
    static const std::vector<Kernel> all =
        as_claims({Needs::MatrixUnits, Needs::IntegerDots, Needs::Nothing});
    return *std::ranges::find_if(
        all, [&](const Kernel& entry) { return ops_table()[size_t(entry.number)] == &kernel; });
}

}  // namespace tandem::kernels::vulkan
