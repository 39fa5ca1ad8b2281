// Where moe_ffn keeps what in its scratch memory: tokens and choices in the forms that matrices
// read, what lies between the products, and how choices are ordered.
#pragma once

#include <algorithm>

#include "graph/ops/moe_ffn.h"
#include "kernels/cpu/forms.h"

namespace tandem::kernels::cpu::ops {

// The extents of one launch, and the offsets of its parts of scratch memory.
struct MoeRoom {
    int64_t choices = 0, tokens = 0, embd = 0, ffn = 0, experts = 0;
    bool tiled = false;  // experts may have many choices
    int64_t tiles = 0;   // the most
    // Tokens in the forms of gate and up, and choices; the same place where both are of one type.
    int64_t gate_x = 0, up_x = 0, gate_tiles = 0, up_tiles = 0;
    int64_t hidden_gate = 0, hidden_up = 0;    // f32 [choices ffn]
    int64_t hidden = 0, hidden_tiles = 0;      // in the form of down; where gate and up have read
    int64_t token = 0, weight = 0;             // of each choice
    int64_t expert_of_choice = 0;              // as counted here
    int64_t first_choice = 0, first_tile = 0;  // of each expert, and behind the last
    int64_t bytes = 0;

    explicit MoeRoom(const Operation& operation) {
        const graph::View &x = operation.inputs[graph::ops::moe_x].view,
                          &ids = operation.inputs[graph::ops::moe_ids].view;
        const graph::View& gate = operation.inputs[graph::ops::moe_gate].view;
        tokens = x.extents[0];
        embd = x.extents[1];
        choices = tokens * ids.extents[1];
        experts = gate.extents[0];
        ffn = gate.extents[1];
        gguf::DType up = operation.inputs[graph::ops::moe_up].view.dtype;
        gguf::DType down = operation.inputs[graph::ops::moe_down].view.dtype;
        hidden_gate = take(choices * ffn * 4);
        hidden_up = take(choices * ffn * 4);
        token = take(choices * 4);
        weight = take(choices * 4);
        expert_of_choice = take(choices * 4);
        first_choice = take((experts + 1) * 4);
        first_tile = take((experts + 1) * 4);
        tiled = in_tiles(x);
        if (tiled) tiles = choices / tile_tokens + std::min(experts, choices / most_tokens_in_rows);
        // What gate and up read nobody needs any more when what down reads is written.
        const int64_t operands = bytes;
        gate_x = take(row_bytes(gate.dtype, embd) * tokens);
        gate_tiles = take(most_tile_bytes(gate.dtype, embd) * tiles);
        const bool one_type = up == gate.dtype;
        up_x = one_type ? gate_x : take(row_bytes(up, embd) * tokens);
        up_tiles = one_type ? gate_tiles : take(most_tile_bytes(up, embd) * tiles);
        const int64_t end = bytes;
        bytes = operands;
        hidden = take(row_bytes(down, ffn) * choices);
        hidden_tiles = take(most_tile_bytes(down, ffn) * tiles);
        bytes = std::max(bytes, end);
    }
    static int64_t row_bytes(gguf::DType dtype, int64_t columns) {
        int64_t block = codes_for(dtype).block;
        return block == 0 ? 0 : q8_row(columns, block).bytes;
    }
    int64_t take(int64_t size) {
        int64_t at = bytes;
        bytes += (size + 63) / 64 * 64;
        return at;
    }
};

}  // namespace tandem::kernels::cpu::ops
