// The instruction-set variants of this build, and which of them this machine runs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kernels/cpu/isa.h"

namespace tandem::kernels::cpu {

// One set of instructions that kernels are built for.
struct Variant {
    const char* name;
    bool (*supported)();  // by this machine
    const Isa& (*isa)();
};

// By name, or with an empty one the best that this machine runs. Null where it runs none of that
// name.
const Variant* find_variant(std::string_view name = "");
std::string supported_variants();  // "avx2, portable"
// Those found by their names alone: none, but for a program that defines this function itself, in
// the place of further_variants.cpp.
std::span<const Variant> further_variants();

}  // namespace tandem::kernels::cpu
