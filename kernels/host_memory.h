// What devices in host memory share: resolving operands to addresses, keeping weights as the file
// stores them, and exchange memory.
#pragma once

#include <map>
#include <vector>

#include "kernels/device.h"
#include "kernels/storage.h"

namespace tandem::kernels {

// Where operands of the several kinds begin.
struct Addresses {
    const WeightMemory& weights;
    const std::map<int, Buffer>& states;
    std::byte* arena;
    graph::StepInputs& inputs;
    Bindings bindings;

    // The operand's view with its data; null for one left out.
    graph::View view(const Operand& operand) const;
};

// Gives the vectors room, so that their data stays in place.
void reserve(graph::StepInputs& inputs, int64_t capacity);

// Live counts of a step, put into the extents of a view.
void set_live_extents(graph::View& view, const graph::StepInputs& inputs);

// Bytes of a weight kept as the file stores it: vectors as f32, the rest row by row.
int64_t plain_bytes(gguf::DType dtype, graph::Use use, int64_t rows, int64_t columns);
// Rows [first, end) of it.
void load_plain_rows(const WeightSource& source, int64_t first, int64_t end, std::byte* to,
                     std::atomic<int64_t>& progress);
Buffer make_plain_state(gguf::DType dtype, int64_t rows, int64_t columns);
// Where rows of such a state lie.
std::byte* rows_of(const Buffer& state, const StateRows& rows);

// Adds a block, even of no bytes, to the exchange memory that a device owns.
std::byte* add_exchange_memory(std::vector<Buffer>& blocks, int64_t bytes);

}  // namespace tandem::kernels
