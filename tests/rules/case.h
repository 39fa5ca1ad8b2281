// One node of one op with all its operands in full: what every cut of it is compared with.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/ops.h"
#include "graph/step.h"
#include "random.h"

namespace tandem::test {

// The data of an operand or a result, one of the three.
struct Data {
    std::vector<float> values;    // an activation
    std::vector<int32_t> ids;     // an activation of I32, or an input of the step
    std::vector<std::byte> rows;  // a weight or a state, as stored
};

// Makes the graph up to the node under test; `operands` are those of that node.
class Case {
  public:
    explicit Case(std::string name, uint64_t seed = 1);

    const std::string name;
    graph::Graph& graph() { return *graph_; }
    const graph::Node& node() const { return graph_->nodes().back(); }
    // Elements of an axis, live ones counted.
    int64_t count(graph::Axis axis) const;

    // Operands, in the order of the op's. Data is random but for ids, which lie below `bound`.
    graph::Tensor activation(const graph::Shape& shape);
    graph::Tensor positive(const graph::Shape& shape);  // values between 0 and 1
    graph::Tensor ids(const graph::Shape& shape, int64_t bound);
    graph::Tensor weight(gguf::DType dtype, const graph::Shape& rows, const graph::Shape& columns);
    graph::Tensor state(gguf::DType dtype, const graph::Shape& rows, const graph::Shape& columns);
    graph::Tensor positions();  // of the step's tokens
    void left_out() { operands.emplace_back(); }

    int64_t tokens = 5, rows = 3;
    std::vector<Data> operands;
    graph::StepInputs step;

  private:
    graph::Tensor made(const graph::Shape& shape, gguf::DType dtype);
    int64_t elements(const graph::Shape& shape) const;

    Random random_;
    std::unique_ptr<graph::Graph> graph_;
};

using Builder = Case (*)();
// Every op has at least one.
std::span<const Builder> case_builders();

}  // namespace tandem::test
