#include "kernels/cpu/variants.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tandem::kernels::cpu {

namespace amx {
const Isa& isa();
}
namespace avx512bf16 {
const Isa& isa();
}
namespace avx512 {
const Isa& isa();
}
namespace avxvnni {
const Isa& isa();
}
namespace avx2 {
const Isa& isa();
}
namespace portable {
const Isa& isa();
}

namespace {

#if defined(__x86_64__)
// Some compilers' own test does not know it.
bool has_f16c() {
    constexpr uint32_t f16c = 1u << 29;  // leaf 1, ecx
    // Asked once: on a virtual machine that takes microseconds.
    static const bool found = [] {
        uint32_t a, b, c, d;
        return __get_cpuid(1, &a, &b, &c, &d) && (c & f16c);
    }();
    return found;
}

// What all variants but the portable one are compiled for.
bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

bool has_avx512() {
    return has_avx2() && __builtin_cpu_supports("avx512vnni") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

bool has_bf16() { return __builtin_cpu_supports("avx512bf16"); }

bool has_vbmi() { return __builtin_cpu_supports("avx512vbmi"); }

bool has_avx_vnni() {
    constexpr uint32_t avx_vnni = 1u << 4;  // leaf 7, part 1, eax
    uint32_t a, b, c, d;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & avx_vnni);
}

// Matrix units, which the system must be asked for: their registers are large.
bool has_amx() {
    constexpr uint32_t amx_bf16 = 1u << 22, amx_tile = 1u << 24;  // leaf 7, edx
    uint32_t a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    if (!(d & amx_tile) || !(d & amx_bf16)) return false;
    constexpr long request_permission = 0x1023, tile_data = 18;
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}
#endif

// Best first.
constexpr Variant variants[] = {
#if defined(__x86_64__)
    {"amx", [] { return has_avx512() && has_vbmi() && has_amx(); }, amx::isa},
    {"avx512bf16", [] { return has_avx512() && has_vbmi() && has_bf16(); }, avx512bf16::isa},
    {"avx512", has_avx512, avx512::isa},
    {"avxvnni", [] { return has_avx2() && has_avx_vnni(); }, avxvnni::isa},
    {"avx2", has_avx2, avx2::isa},
#endif
    {"portable", [] { return true; }, portable::isa},
};

}  // namespace

const bool on_zen4 = [] {
#if defined(__x86_64__)
    return __builtin_cpu_is("amd") && has_bf16() && !has_avx_vnni();  // a Zen 5 has both
#else
    return false;
#endif
}();

bool adds_cheaply() {
#if defined(__x86_64__)
    return __builtin_cpu_is("amd") && has_avx512();  // from Zen 4 on
#else
    return false;
#endif
}

const Variant* find_variant(std::string_view name) {
    for (const Variant& variant : variants)
        if ((name.empty() || name == variant.name) && variant.supported()) return &variant;
    for (const Variant& variant : further_variants())
        if (name == variant.name && variant.supported()) return &variant;
    return nullptr;
}

std::string supported_variants() {
    std::string names;
    for (const Variant& variant : variants)
        if (variant.supported()) names += (names.empty() ? "" : ", ") + std::string(variant.name);
    return names;
}

}  // namespace tandem::kernels::cpu
