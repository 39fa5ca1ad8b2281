#include "case.h"

namespace tandem::test {

using graph::Axis;
using graph::Shape;
using graph::Tensor;

namespace {

// Makes an activation; never evaluated.
const graph::Op source{.name = "source"};

}  // namespace

// Two sequences, the second with tokens in its cache already.
Case::Case(std::string name, uint64_t seed)
    : name(std::move(name)), random_(seed), graph_(std::make_unique<graph::Graph>()) {
    std::vector<int32_t> first{3, 1}, second{4, 1, 5};
    step.append(0, 0, first);
    step.append(1, 2, second);
    step.rows = {0, 1, 1};
}

int64_t Case::count(Axis axis) const {
    if (!axis->live()) return axis->extent;
    return axis == graph_->rows() ? rows : tokens;
}

int64_t Case::elements(const Shape& shape) const {
    int64_t product = 1;
    for (Axis axis : shape) product *= count(axis);
    return product;
}

Tensor Case::made(const Shape& shape, gguf::DType dtype) {
    return graph_->append(source, {}, shape, {}, dtype);
}

Tensor Case::activation(const Shape& shape) {
    operands.push_back({.values = random_.floats(elements(shape))});
    return made(shape, gguf::DType::F32);
}

Tensor Case::positive(const Shape& shape) {
    Tensor tensor = activation(shape);
    for (float& value : operands.back().values) value = value / 2 + 0.5f;
    return tensor;
}

Tensor Case::ids(const Shape& shape, int64_t bound) {
    Data& data = operands.emplace_back();
    for (int64_t i = 0; i < elements(shape); ++i) data.ids.push_back(int32_t(random_.below(bound)));
    return made(shape, gguf::DType::I32);
}

Tensor Case::weight(gguf::DType dtype, const Shape& row_axes, const Shape& columns) {
    operands.push_back({.rows = random_.rows(dtype, elements(row_axes), elements(columns))});
    std::string number = std::to_string(graph_->values().size());
    return graph_->weight(number, dtype, row_axes, columns, {.tensor = number});
}

Tensor Case::state(gguf::DType dtype, const Shape& row_axes, const Shape& columns) {
    operands.push_back({.rows = random_.rows(dtype, elements(row_axes), elements(columns))});
    return graph_->state("state", dtype, row_axes, columns);
}

Tensor Case::positions() {
    operands.push_back({.ids = step.positions});
    return graph_->input("positions");
}

}  // namespace tandem::test
