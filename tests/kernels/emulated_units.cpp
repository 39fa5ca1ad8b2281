// Makes the variant "amx_emulated" known: the kernels of matrix units, on any processor with what
// else they need. Only tile_words.h is another.
#include "kernels/cpu/variants.h"

#if defined(__x86_64__)
namespace tandem::kernels::cpu {

namespace amx_emulated {
const Isa& isa();
}

namespace {

constexpr Variant variants[] = {
    {"amx_emulated",
     [] { return find_variant("avx512") && __builtin_cpu_supports("avx512vbmi") != 0; },
     amx_emulated::isa}};

}  // namespace

std::span<const Variant> further_variants() { return variants; }

}  // namespace tandem::kernels::cpu
#endif
