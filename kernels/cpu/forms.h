// The forms of activations that matrix kernels read, and how a matrix of a type is multiplied.
#pragma once

#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu {

// int8 blocks of 32 or 256; plain f32 rows packed together (for operands whose rows lie apart).
const Form& q8_of_32();
const Form& q8_of_256();
const Form& dense();

// Block of the form that a matrix of this type reads; 0: f32.
int64_t form_block(gguf::DType dtype);
// The form in which x, [tokens ...] with all but the tokens contracted, is read; null: as it lies.
const Form* form_for(gguf::DType dtype, const graph::View& x);

}  // namespace tandem::kernels::cpu
