// The table of one variant.
#include "gguf/dtype.h"
#include "kernels/cpu/isa/kernels.h"
#include "kernels/cpu/isa/panel_walk.h"
#include "kernels/cpu/isa/simd.h"

namespace tandem::kernels::cpu::TANDEM_ISA {

namespace {

using gguf::DType;

struct OfType {
    DType dtype;
    const MatrixKernels* kernels;
};
// TQ1_0 and IQ4_KSS are packed as others (recode.h).
constexpr OfType matrices[] = {
    {DType::F32, &f32},         {DType::F16, &f16},       {DType::BF16, &bf16},
    {DType::Q4_0, &q4_0},       {DType::Q4_1, &q4_1},     {DType::Q5_0, &q5_0},
    {DType::Q5_1, &q5_1},       {DType::Q6_0, &q6_0},     {DType::Q8_0, &q8_0},
    {DType::IQ4_NL, &iq4_nl},   {DType::MXFP4, &mxfp4},   {DType::NVFP4, &nvfp4},
    {DType::Q1_0, &q1_0},       {DType::Q2_0, &q2_0},     {DType::TQ2_0, &tq2_0},
    {DType::Q2_K, &q2_k},       {DType::Q3_K, &q3_k},     {DType::Q4_K, &q4_k},
    {DType::Q5_K, &q5_k},       {DType::Q6_K, &q6_k},     {DType::IQ4_XS, &iq4_xs},
    {DType::IQ2_XXS, &iq2_xxs}, {DType::IQ2_XS, &iq2_xs}, {DType::IQ2_S, &iq2_s},
    {DType::IQ3_XXS, &iq3_xxs}, {DType::IQ3_S, &iq3_s},   {DType::IQ1_S, &iq1_s},
    {DType::IQ1_M, &iq1_m},     {DType::IQ2_K, &iq2_k},   {DType::IQ3_K, &iq3_k},
    {DType::IQ4_K, &iq4_k},     {DType::IQ5_K, &iq5_k},   {DType::IQ6_K, &iq6_k},
    {DType::IQ2_KS, &iq2_ks},   {DType::IQ3_KS, &iq3_ks}, {DType::IQ4_KS, &iq4_ks},
    {DType::IQ5_KS, &iq5_ks},   {DType::IQ2_KL, &iq2_kl}, {DType::IQ1_KT, &iq1_kt},
    {DType::IQ2_KT, &iq2_kt},   {DType::IQ3_KT, &iq3_kt}, {DType::IQ4_KT, &iq4_kt},
    {DType::TQ1_0, &tq2_0},     {DType::IQ4_KSS, &iq4_ks}};

const MatrixKernels* kernels(int dtype) {
    for (const OfType& entry : matrices)
        if (entry.dtype == DType(dtype)) return entry.kernels;
    return nullptr;
}

constexpr Reduced reduced = matrix_units ? Reduced::AllTypes
                            : crosses    ? Reduced::LongBlocks
                            : fast_pairs ? Reduced::Int16
                                         : Reduced::Nothing;

static_assert(lanes <= most_lanes);

}  // namespace

const Isa& isa() {
    static const Isa table{.lanes = lanes,
                           .panel_groups = panel_groups,
                           .most_panel_groups = most_panel_groups,
                           .reduced = reduced,
                           .sums_in_halves = sums_in_halves,
                           .keeps_short_bf16 = !vectors_in_parts,
                           .kernels = kernels,
                           .quantize = quantize,
                           .quantize_small = quantize_small,
                           .place = place,
                           .place_small = place_small,
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
                           .exp = exp,
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
