// The instruction-set variants of this build, and which of them this machine runs.
#pragma once

#include <string>
#include <string_view>

#include "kernels/cpu/isa.h"

namespace tandem::kernels::cpu {

// The variants of this build, best first.
struct Variant {
    const char* name;
    bool (*supported)();  // by this machine
    const Isa& (*isa)();
};

// By name, or with an empty one the best that this machine runs. Null where it runs none of that
// name.
const Variant* find_variant(std::string_view name = "");
std::string supported_variants();  // "avx2, portable"
// Makes one known that is found by its name alone. It must stay where it is.
void add_variant(const Variant& variant);

}  // namespace tandem::kernels::cpu
