// The table of one variant.
#include "gguf/dtype.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/panel_walk.h"
#include "kernels/cpu/isa/quantize.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

using gguf::DType;

const Matrix* matrix(int dtype) {
    switch (DType(dtype)) {
        case DType::F32:
            return &f32;
        case DType::F16:
            return &f16;
        case DType::BF16:
            return &bf16;
        case DType::Q4_0:
            return &q4_0;
        case DType::Q4_1:
            return &q4_1;
        case DType::Q5_0:
            return &q5_0;
        case DType::Q5_1:
            return &q5_1;
        case DType::Q8_0:
            return &q8_0;
        case DType::IQ4_NL:
            return &iq4_nl;
        case DType::MXFP4:
            return &mxfp4;
        case DType::Q2_K:
            return &q2_k;
        case DType::Q3_K:
            return &q3_k;
        case DType::Q4_K:
            return &q4_k;
        case DType::Q5_K:
            return &q5_k;
        case DType::Q6_K:
            return &q6_k;
        case DType::IQ4_XS:
            return &iq4_xs;
        case DType::IQ2_XXS:
            return &iq2_xxs;
        case DType::IQ2_XS:
            return &iq2_xs;
        case DType::IQ2_S:
            return &iq2_s;
        case DType::IQ3_XXS:
            return &iq3_xxs;
        case DType::IQ3_S:
            return &iq3_s;
        case DType::IQ1_S:
            return &iq1_s;
        case DType::IQ1_M:
            return &iq1_m;
        default:
            return nullptr;
    }
}

constexpr Reduced reduced =
#if defined(__AMX_BF16__)
    Reduced::AllTypes;
#elif defined(__AVX512BF16__)
    Reduced::Bf16;
#else
    fast_pairs ? Reduced::Halves : Reduced::Nothing;
#endif

}  // namespace

const Isa& isa() {
    static const Isa table{.lanes = lanes,
                           .panel_groups = panel_groups,
                           .reduced = reduced,
                           .halves = sums_in_halves,
                           .largest_code = largest_code,
                           .matrix = matrix,
                           .quantize = quantize,
                           .place = place,
                           .place_bf16 = place_bf16,
                           .place_q16 = place_q16,
                           .attend_few = attend_few,
                           .attend_block = attend_block,
                           .attend_join = attend_join,
                           .encode = encode,
                           .delta_step = delta_step,
                           .delta_chunk = delta_chunk,
                           .short_conv = short_conv,
                           .rms_norm = rms_norm,
                           .add = add_arrays,
                           .mul = mul_arrays,
                           .silu_mul = silu_mul,
                           .gelu_mul = gelu_mul,
                           .clamped_swiglu = clamped_swiglu,
                           .scale = scale,
                           .sigmoid = sigmoid,
                           .softplus = softplus,
                           .soft_cap = soft_cap,
                           .softmax = softmax,
                           .add_scaled = add_scaled,
                           .dot = dot_arrays,
                           .stream = stream,
                           .integer_work = integer_work,
                           .integer_products = integer_products,
                           .float_work = float_work,
                           .float_products = float_products};
    return table;
}

}  // namespace tandem::kernels::cpu::TANDEM_ISA
