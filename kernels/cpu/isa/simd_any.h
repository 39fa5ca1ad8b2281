// Words of simd.h that are alike in all sets, or in all but one: made of others.
#pragma once

#include <cstring>

namespace tandem::kernels::cpu::TANDEM_ISA {

// 4 bytes, in every lane.
inline I splat_quad(const int8_t* p) {
    int32_t quad;
    std::memcpy(&quad, p, 4);
    return splat(quad);
}
#if !defined(__AVX512VNNI__)
// A vector is one block.
inline I load_blocks(const uint8_t* p, int64_t) { return load(p); }
inline I splat_blocks(const int8_t* p, int64_t) { return splat_quad(p); }
#endif

}  // namespace tandem::kernels::cpu::TANDEM_ISA
