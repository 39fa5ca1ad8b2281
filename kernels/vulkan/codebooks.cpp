#include "kernels/vulkan/codebooks.h"

#include <algorithm>
#include <array>
#include <bit>

#include "gguf/half.h"
#include "gguf/quants/fork_levels.h"
#include "gguf/quants/grids.h"

namespace tandem::kernels::vulkan {

using gguf::DType;

namespace {

template <size_t count>
auto words_of(const std::array<gguf::Octet, count>& points, const gguf::Levels& levels) {
    std::array<uint32_t, count> words{};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < 8; k++) {
            const auto level = std::ranges::find(levels, points[i][k]) - levels.begin();
            words[i] |= uint32_t(level) << (8 * (k % 4) + 4 * (k / 4));
        }
    }
    return words;
}

template <size_t count>
auto words_of(const std::array<gguf::Quad, count>& points) {
    return std::bit_cast<std::array<uint32_t, count>>(points);
}

auto words_of(std::span<const gguf::LevelPair, 32> pairs) {
    std::array<uint32_t, 32> words{};
    std::ranges::transform(pairs, words.begin(), [](gguf::LevelPair pair) {
        return gguf::f32_to_f16(pair.first) | uint32_t(gguf::f32_to_f16(pair.second)) << 16;
    });
    return words;
}

}  // namespace

std::span<const uint32_t> codebook(DType dtype) {
    static const auto iq1 = words_of(gguf::iq1s_grid, gguf::iq1_levels);
    static const auto iq2_xxs = words_of(gguf::iq2xxs_grid, gguf::iq2_levels);
    static const auto iq2_xs = words_of(gguf::iq2xs_grid, gguf::iq2_levels);
    static const auto iq2_s = words_of(gguf::iq2s_grid, gguf::iq2_levels);
    static const auto iq3_xxs = words_of(gguf::iq3xxs_grid);
    static const auto iq3_s = words_of(gguf::iq3s_grid);
    static const auto iq2_kl = words_of(gguf::level_pairs);
    switch (dtype) {
        case DType::IQ1_S:
        case DType::IQ1_M:
            return iq1;
        case DType::IQ2_XXS:
            return iq2_xxs;
        case DType::IQ2_XS:
            return iq2_xs;
        case DType::IQ2_S:
            return iq2_s;
        case DType::IQ3_XXS:
            return iq3_xxs;
        case DType::IQ3_S:
            return iq3_s;
        case DType::IQ2_KL:
            return iq2_kl;
        default:
            return {};
    }
}

}  // namespace tandem::kernels::vulkan
