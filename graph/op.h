// What an op is: its rule, its shape, and a plain reference implementation, one file per op in
// graph/ops. Nothing outside that file knows the op by name.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "gguf/dtype.h"
#include "graph/axis.h"
#include "graph/step.h"
#include "graph/tensor.h"

namespace tandem::graph {

struct Node;

// How a node may be divided. Of the axes that its operands mention,
//   those in `whole` may not be divided at all,
//   those that the result has too pass through: a part of the operands gives that part of it,
//   the others are summed away: a part of the operands gives an addend of the whole result.
// After Shardy's sharding rules and PyTorch DTensor's einsum strategies.
struct Rule {
    Shape whole;
    // Tokens are whole only because the node asks the step where they stand: it asks the same of
    // the wanted rows, so that it can run over these alone.
    bool takes_rows = false;
    // The result is linear in these operands taken together (the others held fixed), so that
    // addends of them give addends of it.
    std::vector<int> linear;
};

// One operand or result as a device holds it: a range of each axis. Elements of activations lie
// `strides` apart; rows of weights and states are stored rows of `dtype`, one after another.
struct View {
    std::byte* data = nullptr;  // null: an operand left out
    gguf::DType dtype = gguf::DType::F32;
    Shape axes;
    std::vector<int64_t> extents;  // of the local range, live counts filled in
    std::vector<int64_t> begins;   // where it starts on each axis
    std::vector<int64_t> strides;  // in elements; empty for stored rows and states
    size_t columns = 0;            // weights and states: axes within a stored row

    explicit operator bool() const { return data != nullptr; }
    int64_t elements() const;
    int64_t row_length() const;  // product of the extents of the column axes
    int64_t rows() const;        // product of the others
};

// A row of a weight or state as f32, and back.
std::vector<float> load_row(const View& view, int64_t row);
void store_row(const View& view, int64_t row, std::span<const float> values);
// All elements in the order of the axes, whatever the strides or the type.
std::vector<float> load(const View& view);
std::vector<int32_t> load_ids(const View& view);
void store(const View& view, std::span<const float> values);
void store_ids(const View& view, std::span<const int32_t> values);

// One evaluation of a node on local ranges.
struct Call {
    const Node& node;
    std::span<const View> inputs;
    const View& output;
    const StepInputs& step;
};

// How a state holds the tokens of a sequence.
struct Holding {
    // Each by itself: that at position p in cell p % cells, the last of the row axes. Else all
    // together, so that none of them can be taken out again.
    bool by_position = false;
    int64_t window = 0;  // by position: the tokens that the last of them sees; 0: all
};

struct Op {
    std::string_view name;
    Rule (*rule)(const Node& node) = nullptr;
    void (*reference)(const Call& call) = nullptr;
    // What a weight is to it as operand i; null where it reads vectors only.
    Use (*use)(size_t operand) = nullptr;
    // How the state that operand i is holds tokens; null where none does by position.
    Holding (*holding)(const Node& node, size_t operand) = nullptr;
    // Its result is a choice among alternatives, so that members of a group which round
    // differently must not each make their own.
    bool discrete = false;
};

// The table of all ops, made by the build from the files of graph/ops.
std::span<const Op* const> ops_table();

}  // namespace tandem::graph
