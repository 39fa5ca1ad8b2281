#include "kernels/host_memory.h"

#include <algorithm>
#include <cstring>

#include "gguf/error.h"

namespace tandem::kernels {

namespace {

std::vector<int32_t>& field(graph::StepInputs& inputs, std::string_view name) {
    if (name == "ids") return inputs.ids;
    if (name == "positions") return inputs.positions;
    if (name == "rows") return inputs.rows;
    check(name == "row_positions", "a field of the step");
    return inputs.row_positions;
}

}  // namespace

graph::View Addresses::view(const Operand& operand) const {
    graph::View view = operand.view;
    switch (operand.where) {
        case Where::Nowhere:
            return view;
        case Where::Weight:
            view.data = weights.at(operand.value) + operand.offset;
            break;
        case Where::State:
            view.data = states.at(operand.value).data();
            break;
        case Where::Arena:
            view.data = arena + operand.offset;
            break;
        case Where::Sending:
            view.data = bindings.sending + operand.offset;
            break;
        case Where::Landing:
            view.data = bindings.landing + operand.offset;
            break;
        case Where::Input:
            view.data = reinterpret_cast<std::byte*>(field(inputs, operand.input).data());
            break;
    }
    return view;
}

void reserve(graph::StepInputs& inputs, int64_t capacity) {
    inputs.ids.reserve(size_t(capacity));
    inputs.positions.reserve(size_t(capacity));
    inputs.rows.reserve(size_t(capacity));
    inputs.row_positions.reserve(size_t(capacity));
}

void set_live_extents(graph::View& view, const graph::StepInputs& inputs) {
    for (size_t i = 0; i < view.axes.size(); ++i)
        if (view.axes[i]->live())
            view.extents[i] =
                view.axes[i]->name == "rows" ? int64_t(inputs.rows.size()) : inputs.tokens();
}

int64_t plain_bytes(gguf::DType dtype, graph::Use use, int64_t rows, int64_t columns) {
    if (use == graph::Use::Vector) return rows * columns * int64_t(sizeof(float));
    return rows * gguf::row_bytes(dtype, columns);
}

void load_plain_rows(const WeightSource& source, int64_t first, int64_t end, std::byte* to,
                     std::atomic<int64_t>& progress) {
    int64_t row_bytes = gguf::row_bytes(source.dtype, source.columns);
    std::vector<std::byte> scratch(static_cast<size_t>(row_bytes));
    for (int64_t row = first; row < end; ++row) {
        const std::byte* bytes = source.row(row, scratch.data());
        if (source.use == graph::Use::Vector)
            gguf::decode_row(
                source.dtype, bytes,
                {reinterpret_cast<float*>(to) + row * source.columns, size_t(source.columns)});
        else
            std::memcpy(to + row * row_bytes, bytes, size_t(row_bytes));
        progress += row_bytes;
    }
}

Buffer make_plain_state(gguf::DType dtype, int64_t rows, int64_t columns) {
    int64_t bytes = rows * gguf::row_bytes(dtype, columns);
    Buffer buffer(bytes);
    std::memset(buffer.data(), 0, size_t(bytes));
    return buffer;
}

std::byte* rows_of(const Buffer& state, const StateRows& rows) {
    const int64_t begin = rows.first * rows.row_bytes();
    check(begin >= 0 && rows.count >= 0 && begin + rows.bytes() <= state.bytes(),
          "rows of a state are within it");
    return state.data() + begin;
}

std::byte* add_exchange_memory(std::vector<Buffer>& blocks, int64_t bytes) {
    return blocks.emplace_back(std::max<int64_t>(bytes, 1), "use smaller steps (-ub)").data();
}

}  // namespace tandem::kernels
