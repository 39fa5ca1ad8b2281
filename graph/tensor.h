// Values of a graph, and the handle by which architectures speak of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gguf/dtype.h"
#include "graph/axis.h"

namespace tandem::graph {

enum class Kind {
    Weight,     // read from the file, constant
    State,      // written by one step and read by the next: caches
    Input,      // a field of StepInputs, known to every device
    Activation  // the result of a node
};

// What a weight is to the ops that read it. A device chooses one packing per type and use.
enum class Use {
    Vector,   // norms, biases: kept as f32
    Table,    // rows looked up by id
    Matrix,   // rows contracted with an activation (a tied table is one too)
    Experts,  // a stack of matrices of which each token reads a few
};

// Where the rows of a weight lie in its file tensor: row (i0, i1, ...) over the weight's row axes
// is file row first + i0 * strides[0] + i1 * strides[1] + ... See Layout.
struct Rows {
    std::string tensor;  // name in the file's directory
    int64_t first = 0;
    std::vector<int64_t> strides;
};

struct Value {
    std::string name;  // "blk.3.attn_q" or "%17"
    Kind kind = Kind::Activation;
    gguf::DType dtype = gguf::DType::F32;  // as stored; activations are F32 or I32
    Shape shape;
    size_t columns = 0;  // weights and states: the last axes, which lie within one stored row
    Rows rows;           // weights
    Use use = Use::Vector;
    int layer = 0;  // the layer it belongs to: -1 the embedding, then 0 ..., layers the head
    int node = -1;  // producer of an activation

    Shape row_axes() const { return {shape.begin(), shape.end() - int64_t(columns)}; }
    Shape column_axes() const { return {shape.end() - int64_t(columns), shape.end()}; }
};

class Graph;

// A copyable handle; a default one is an operand left out.
struct Tensor {
    Graph* graph = nullptr;
    int value = -1;

    explicit operator bool() const { return graph != nullptr; }
    const Value& operator*() const;
    const Value* operator->() const { return &**this; }
    const Shape& shape() const { return (**this).shape; }
};

}  // namespace tandem::graph
