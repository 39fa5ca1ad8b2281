#include "kernels/cpu/isa.h"

namespace tandem::kernels::cpu {

namespace avx512 {
const Isa& isa();
}
namespace avx2 {
const Isa& isa();
}
namespace portable {
const Isa& isa();
}

namespace {

constexpr Variant variants[] = {
#if defined(__x86_64__)
    {"avx512",
     [] {
         return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
     },
     avx512::isa},
    {"avx2", [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); },
     avx2::isa},
#endif
    {"portable", [] { return true; }, portable::isa},
};

}  // namespace

const Variant* find_variant(std::string_view name) {
    for (const Variant& variant : variants)
        if ((name.empty() || name == variant.name) && variant.supported()) return &variant;
    return nullptr;
}

}  // namespace tandem::kernels::cpu
