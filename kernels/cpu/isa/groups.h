// Where products find packed groups of rows and their columns (packing.h). Blocks of a Type's
// columns follow one another, of Type::block elements and Type::bytes for each row. Where it is not
// so, Type::at(group, column) and Type::group_bytes(matrix) say it.
#pragma once

#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

// From one group to the next.
template <class Type>
inline int64_t group_bytes_of(const Product& product) {
    if constexpr (requires { Type::group_bytes(product.matrix); })
        return Type::group_bytes(product.matrix);
    else
        return product.columns / Type::block * Type::bytes * lanes;
}

template <class Type>
[[gnu::always_inline]] inline const uint8_t* column_at(const uint8_t* group, int64_t column) {
    if constexpr (requires { Type::at(group, column); })
        return Type::at(group, column);
    else
        return group + column / Type::block * Type::bytes * lanes;
}

// Of so many columns of a group.
template <class Type>
[[gnu::always_inline]] inline int64_t bytes_of_columns(const uint8_t* group, int64_t columns) {
    return column_at<Type>(group, columns) - column_at<Type>(group, 0);
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
