#include "graph/graph.h"

#include <algorithm>

#include "gguf/error.h"

namespace tandem::graph {

double Attributes::number(std::string_view name) const {
    for (const Entry& entry : entries_)
        if (entry.first == name) return std::get<double>(entry.second);
    check(false, "the node has no number " + std::string(name));
    return 0;
}

std::string_view Attributes::word(std::string_view name) const {
    for (const Entry& entry : entries_)
        if (entry.first == name) return std::get<std::string_view>(entry.second);
    check(false, "the node has no word " + std::string(name));
    return {};
}

const Value& Tensor::operator*() const { return graph->value(value); }

Graph::Graph()
    : tokens_(&axes_.emplace_back(AxisDefinition{"tokens", 0})),
      rows_(&axes_.emplace_back(AxisDefinition{"rows", 0})) {}

Axis Graph::axis(const std::string& name, int64_t extent) {
    check(extent > 0, "axis " + name + " has an extent");
    for (const AxisDefinition& axis : axes_) {
        if (axis.name != name) continue;
        check(axis.extent == extent, "axis " + name + " has one extent");
        return &axis;
    }
    return &axes_.emplace_back(AxisDefinition{name, extent});
}

void Graph::begin_layer(int layer) {
    layer_ = layer;
    last_layer_ = std::max(last_layer_, layer);
}

Tensor Graph::add(Value value) {
    values_.push_back(std::move(value));
    return {this, int(values_.size()) - 1};
}

Tensor Graph::weight(std::string name, gguf::DType dtype, const Shape& row_axes,
                     const Shape& column_axes, Rows rows) {
    Shape shape = row_axes + column_axes;
    for (size_t i = 0; i < values_.size(); ++i) {
        const Value& known = values_[i];
        if (known.kind != Kind::Weight || known.rows.tensor != rows.tensor ||
            known.rows.first != rows.first || known.shape != shape)
            continue;
        return {this, int(i)};
    }
    return add({.name = std::move(name),
                .kind = Kind::Weight,
                .dtype = dtype,
                .shape = std::move(shape),
                .columns = column_axes.size(),
                .rows = std::move(rows),
                .layer = layer_});
}

Tensor Graph::state(std::string name, gguf::DType dtype, const Shape& row_axes,
                    const Shape& column_axes) {
    return add({.name = std::move(name),
                .kind = Kind::State,
                .dtype = dtype,
                .shape = row_axes + column_axes,
                .columns = column_axes.size(),
                .layer = layer_});
}

Tensor Graph::input(std::string_view name) {
    for (size_t i = 0; i < values_.size(); ++i)
        if (values_[i].kind == Kind::Input && values_[i].name == name) return {this, int(i)};
    const bool of_rows = name == "rows" || name == "row_positions";
    check(of_rows || name == "ids" || name == "positions", "an input of the step");
    return add({.name = std::string(name),
                .kind = Kind::Input,
                .dtype = gguf::DType::I32,
                .shape = {of_rows ? rows_ : tokens_},
                .layer = layer_});
}

Tensor Graph::append(const Op& op, std::vector<Tensor> inputs, Shape shape, Attributes attributes,
                     gguf::DType dtype) {
    Tensor output = add({.name = "%" + std::to_string(nodes_.size()),
                         .dtype = dtype,
                         .shape = std::move(shape),
                         .layer = layer_,
                         .node = int(nodes_.size())});
    nodes_.push_back({.op = &op,
                      .inputs = std::move(inputs),
                      .output = output,
                      .attributes = std::move(attributes),
                      .layer = layer_});
    const Node& node = nodes_.back();
    for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (!node.inputs[i]) continue;
        Value& value = values_[size_t(node.inputs[i].value)];
        if (value.kind == Kind::Weight && op.use) value.use = std::max(value.use, op.use(i));
    }
    return output;
}

std::vector<int> Graph::readers(int value) const {
    std::vector<int> found;
    for (size_t i = 0; i < nodes_.size(); ++i)
        for (Tensor input : nodes_[i].inputs)
            if (input && input.value == value) {
                found.push_back(int(i));
                break;
            }
    return found;
}

Holding holding_of(const Graph& graph, int state) {
    Holding longest{.by_position = true, .window = 1};
    for (int reader : graph.readers(state)) {
        const Node& node = graph.nodes()[size_t(reader)];
        for (size_t i = 0; i < node.inputs.size(); ++i) {
            if (!node.inputs[i] || node.inputs[i].value != state) continue;
            const Holding holding = node.op->holding ? node.op->holding(node, i) : Holding{};
            if (!holding.by_position) return holding;
            const bool all = holding.window == 0 || longest.window == 0;
            longest.window = all ? 0 : std::max(longest.window, holding.window);
        }
    }
    return longest;
}

}  // namespace tandem::graph
