// A file of its own, so that a program which has further variants links without it.
#include "kernels/cpu/variants.h"

namespace tandem::kernels::cpu {

std::span<const Variant> further_variants() { return {}; }

}  // namespace tandem::kernels::cpu
