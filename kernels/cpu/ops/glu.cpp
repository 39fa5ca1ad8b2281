// glu on the CPU, over rows.
#include "kernels/cpu/ops/combined_rows.h"

namespace tandem::kernels::cpu::ops {

namespace {

size_t claim(std::span<const Operation> ahead) {
    if (!is(ahead[0], "glu")) return 0;
    const std::string_view activation = ahead[0].node->attributes.word("activation");
    return (activation == "silu" || activation == "gelu") && rows_agree(ahead[0]) &&
                   as_rows(ahead[0].inputs[1].view, ahead[0].inputs[1].view.axes.size() - 1)
               ? 1
               : 0;
}

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    bool silu = operation.node->attributes.word("activation") == "silu";
    return bind_rows(silu ? site.isa.silu_mul : site.isa.gelu_mul, operation, site);
}

}  // namespace

extern const CpuKernel glu{
    .name = "glu", .claim = claim, .bind = bind, .in_place = 2, .by_tokens = true};

}  // namespace tandem::kernels::cpu::ops
