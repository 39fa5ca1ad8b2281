// The CPU's kernels in order of preference: of equal claims the first wins.
#include <algorithm>
#include <array>
#include <vector>

#include "gguf/error.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu {

namespace ops {
extern const CpuKernel linear_units, linear_q16_of_128, linear_q16_of_f16, linear_q16_of_bf16,
    linear_q16_of_codes, linear_q16_of_few_levels, linear_packed, linear_packed_in_halves,
    linear_batched, linear_any, embed, pair, any_pair, glu, maps, pick, temper, rms_norm, l2_norm,
    rope, attend, attend_expanded, short_conv, delta_net, moe_ffn, expert_bias, router, select_rows,
    reference, prepare_q8_of_32, prepare_q8_of_256, prepare_small_q8_of_32, prepare_small_q8_of_256,
    prepare_q8_of_32_tiles, prepare_q8_of_256_tiles, prepare_small_q8_of_32_tiles,
    prepare_small_q8_of_256_tiles, prepare_f32_tiles, prepare_bf16, prepare_bf16_pair, prepare_q16,
    prepare_q16_of_128, prepare_dense;
}

namespace {

// In order of preference: a set that has matrix units is offered the kernels behind them, too, but
// has no products for these.
constexpr const CpuKernel* table[] = {
    &ops::linear_q16_of_few_levels,
    &ops::linear_units,
    &ops::linear_q16_of_128,
    &ops::linear_q16_of_f16,
    &ops::linear_q16_of_bf16,
    &ops::linear_q16_of_codes,
    &ops::linear_packed,
    &ops::linear_packed_in_halves,
    &ops::linear_batched,
    &ops::linear_any,
    &ops::embed,
    &ops::pair,
    &ops::any_pair,
    &ops::glu,
    &ops::maps,
    &ops::pick,
    &ops::temper,
    &ops::rms_norm,
    &ops::l2_norm,
    &ops::rope,
    &ops::attend,
    &ops::attend_expanded,
    &ops::short_conv,
    &ops::delta_net,
    &ops::moe_ffn,
    &ops::expert_bias,
    &ops::router,
    &ops::select_rows,
    &ops::reference,
    &ops::prepare_q8_of_32,
    &ops::prepare_q8_of_256,
    &ops::prepare_small_q8_of_32,
    &ops::prepare_small_q8_of_256,
    &ops::prepare_q8_of_32_tiles,
    &ops::prepare_q8_of_256_tiles,
    &ops::prepare_small_q8_of_32_tiles,
    &ops::prepare_small_q8_of_256_tiles,
    &ops::prepare_f32_tiles,
    &ops::prepare_bf16,
    &ops::prepare_bf16_pair,
    &ops::prepare_q16,
    &ops::prepare_q16_of_128,
    &ops::prepare_dense,
};

std::vector<Kernel> as_claims() {
    std::vector<Kernel> all;
    for (const CpuKernel* kernel : table)
        all.push_back({.name = kernel->name,
                       .claim = kernel->claim,
                       .form = kernel->form,
                       .in_place = kernel->in_place,
                       .scratch_bytes = kernel->scratch_bytes,
                       .number = int(all.size())});
    return all;
}

std::vector<Kernel> claims_with(Reduced offered, bool halves) {
    std::vector<Kernel> all = as_claims();
    std::erase_if(all, [&](const Kernel& kernel) {
        const CpuKernel& entry = *table[size_t(kernel.number)];
        return entry.needs > offered || entry.sums_in_halves.value_or(halves) != halves;
    });
    return all;
}

std::array<std::vector<Kernel>, 4> all_claims(bool halves) {
    return {claims_with(Reduced::Nothing, halves), claims_with(Reduced::Int16, halves),
            claims_with(Reduced::LongBlocks, halves), claims_with(Reduced::AllTypes, halves)};
}

}  // namespace

std::span<const CpuKernel* const> kernel_table() { return table; }

std::span<const Kernel> claims(Reduced offered, bool halves) {
    static const auto with = all_claims(true), without = all_claims(false);
    return (halves ? with : without)[size_t(offered)];
}

const Kernel& claim_of(const CpuKernel& kernel) {
    static const std::vector<Kernel> all = as_claims();
    const auto place = std::ranges::find(table, &kernel);
    check(place != std::end(table), "a kernel that others ask for is in the table");
    return all[size_t(place - std::begin(table))];
}

}  // namespace tandem::kernels::cpu
