// Names and sizes that kernels give their shaders.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>

#include "kernels/vulkan/planes.h"
#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

// The variant of a typed shader: "embed" and Q4_K give "embed.q4_k".
inline std::string typed(std::string_view shader, gguf::DType dtype) {
    std::string name = std::string(shader) + ".";
    for (char c : gguf::name(held_as(dtype)))
        name += char(std::tolower(static_cast<unsigned char>(c)));
    return name;
}

// Invocations of a workgroup of so many subgroups.
inline uint32_t subgroups(const Site& site, int count) {
    const Features& features = site.features;
    return uint32_t(std::min(count * features.subgroup, features.most_invocations));
}

// How many of W's rows a subgroup takes at once, where there are so many: they share what is read
// of x, but with more of them fewer subgroups are at work.
inline uint32_t rows_of_subgroup(const Site& site, int64_t rows) {
    uint32_t at_once = 4;
    while (at_once > 1 && rows / at_once < site.features.busy_subgroups) at_once /= 2;
    return at_once;
}

// A workgroup for `length` things to do: enough invocations for them, in whole subgroups, and at
// most half of what the driver allows, since more seldom find room on a core.
inline uint32_t group_for(const Site& site, int64_t length) {
    const int64_t subgroup = site.features.subgroup;
    return uint32_t(std::clamp((length + subgroup - 1) / subgroup * subgroup, subgroup,
                               std::max<int64_t>(subgroup, site.features.most_invocations / 2)));
}

// Workgroups of element-by-element kernels.
inline constexpr uint32_t elements_at_once = 128;

// Kernels with states: programs of so many tokens take them one after the other, and sequences go
// side by side up to a number, which are few in a step with many tokens.
inline constexpr int64_t few_tokens = 8, sequences_at_once = 8;

}  // namespace tandem::kernels::vulkan
