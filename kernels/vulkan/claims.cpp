#include <algorithm>

#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

namespace {

std::vector<Kernel> as_claims(bool integer_dots) {
    std::vector<Kernel> all;
    const auto add = [&](bool of_dots) {
        for (size_t i = 0; i < ops_table().size(); ++i) {
            const VulkanKernel& kernel = *ops_table()[i];
            if (kernel.integer_dots == of_dots)
                all.push_back({.name = kernel.name,
                               .claim = kernel.claim,
                               .form = kernel.form,
                               .scratch_bytes = kernel.scratch_bytes,
                               .number = int(i)});
        }
    };
    if (integer_dots) add(true);
    add(false);
    return all;
}

}  // namespace

std::span<const Kernel> claims(bool integer_dots) {
    static const std::vector<Kernel> with = as_claims(true), without = as_claims(false);
    return integer_dots ? with : without;
}

const Kernel& claim_of(const VulkanKernel& kernel) {
    return *std::ranges::find_if(claims(true), [&](const Kernel& entry) {
        return ops_table()[size_t(entry.number)] == &kernel;
    });
}

}  // namespace tandem::kernels::vulkan
