// Vectors of one instruction set: `lanes` 32-bit lanes, each of which is a row of a packed matrix.
// These are the platform files: everything else in isa/ is written with their words and compiled
// once per set. Where a set has a way that others lack, constants say so; level_table.h, points.h,
// tile_words.h, matrix_units.h and floats.cpp ask for the set itself, as what they leave out would
// not compile.
//
// Sources in isa/ call nothing of the standard library that may stay a call: an inline function
// that was compiled for a newer set must not be the one that the linker keeps for all.
#pragma once

#if defined(__AVX512VNNI__)
#include "kernels/cpu/isa/simd_avx512.h"
#elif defined(__AVX2__)
#include "kernels/cpu/isa/simd_avx2.h"
#else
#include "kernels/cpu/isa/simd_portable.h"
#endif
#include "kernels/cpu/isa/simd_any.h"
