// Tables that shaders read to decode some types of weights. shaders/blocks/<type>.glsl finds them
// at the address `codebook`.
#pragma once

#include <cstdint>
#include <span>

#include "gguf/dtype.h"

namespace tandem::kernels::vulkan {

// The words that device memory has to hold; none for most types. They live as long as the program.
//   IQ1_*, IQ2_XXS, IQ2_XS, IQ2_S  a word per point: which levels its eight elements have, those of
//                                  the first four in the low halves of the bytes, the others' above
//   IQ3_XXS, IQ3_S                 a word per point: its four elements, bytes
//   IQ2_KL                         a word per pair of elements, halves
std::span<const uint32_t> codebook(gguf::DType dtype);

}  // namespace tandem::kernels::vulkan
