// The operands of a moe_ffn node by number.
#pragma once

#include <cstddef>

namespace tandem::graph::ops {

enum MoeOperand : size_t {
    moe_x,
    moe_ids,
    moe_weights,
    moe_gate,
    moe_up,
    moe_down,
    moe_gate_scale,
    moe_up_scale,
    moe_down_scale,
    moe_gate_bias,
    moe_up_bias,
    moe_operands  // how many there are
};

}  // namespace tandem::graph::ops
