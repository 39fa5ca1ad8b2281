// The types of caches that shaders read and write (shaders/cache.glsl).
#pragma once

#include <cstdint>
#include <iterator>

#include "gguf/dtype.h"
#include "gguf/error.h"

namespace tandem::kernels::vulkan {

inline uint32_t cache_number(gguf::DType dtype) {
    constexpr gguf::DType types[] = {gguf::DType::F32, gguf::DType::F16, gguf::DType::BF16,
                                     gguf::DType::Q8_0, gguf::DType::Q4_0};
    for (uint32_t i = 0; i < std::size(types); ++i)
        if (types[i] == dtype) return i;
    throw Error("Vulkan devices hold caches as f32, f16, bf16, q8_0 or q4_0, not as " +
                std::string(gguf::name(dtype)));
}

}  // namespace tandem::kernels::vulkan
