// The matrix kernels of a packed integer type.
#pragma once

#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/matrix_units.h"
#include "kernels/cpu/isa/panel_dots.h"
#include "kernels/cpu/isa/q16_dots.h"
#include "kernels/cpu/isa/row_dots.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Signed codes of 8 bits have no room in halves of lanes: as 16-bit integers they take less time
// than as bytes whose sums are widened.
template <class Type>
constexpr bool prompts_in_16_bits() {
    return sums_in_halves && Type::is_signed && Type::levels == 128 && Type::block == 32;
}

// Whether prompts are multiplied as bytes.
template <class Type>
inline constexpr bool prompts_in_bytes = !matrix_units && !prompts_in_16_bits<Type>();

template <class Type>
inline constexpr MatrixKernels kernels_of{
    .block = is_wide<Type> ? 256 : 32,
    .multiply_rows = multiply_rows<Type>,
    .multiply_tiles = panels_if<prompts_in_bytes<Type>, QuadDots<Type>>(),
    .multiply_bf16 = multiply_units<Type, 1>,
    .multiply_q16 = panels_if<prompts_in_16_bits<Type>(), Q16Dots<Type>>(),
    .q16_block = prompts_in_16_bits<Type>() ? 32 : 0,
    .multiply_adding = adding_tiles<Type>,
    .crosses_small_codes = crosses_bytes<Type>()};

}  // namespace tandem::kernels::cpu::TANDEM_ISA
