// The matrix kernels of a packed integer type.
#pragma once

#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/matrix_units.h"
#include "kernels/cpu/isa/panel_dots.h"
#include "kernels/cpu/isa/q16_dots.h"
#include "kernels/cpu/isa/row_dots.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// Products with bytes of signed codes of 8 bits take longer than with 16 bits where their sums must
// be widened.
template <class Type>
constexpr auto multiply_wide() -> void (*)(const Product&) {
    if constexpr (sums_in_halves && Type::is_signed && Type::levels == 128 && Type::block == 32)
        return multiply_panels<Q16Dots<Type>>;
    return nullptr;
}

template <class Type>
inline constexpr Matrix kernels_of{.block = is_wide<Type> ? 256 : 32,
                                   .multiply_rows = multiply<Type>,
                                   .multiply_tiles = multiply_tiles<Type>,
                                   .multiply_bf16 = multiply_units<Type, 1>,
                                   .multiply_q16 = multiply_wide<Type>(),
                                   .q16_block = multiply_wide<Type>() ? 32 : 0,
                                   .multiply_crossed = crossed_tiles<Type>()};

}  // namespace tandem::kernels::cpu::TANDEM_ISA
