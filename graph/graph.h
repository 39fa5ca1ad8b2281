// A model as a graph: named axes, values, nodes in the order in which they were said. Symbolic in
// the live axes `tokens` and `rows`; made once per model, before any device is known.
#pragma once

#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "graph/op.h"
#include "graph/tensor.h"

namespace tandem::graph {

// The constants of a node by name: numbers, and words such as "silu". Names and words are literals.
class Attributes {
  public:
    using Entry = std::pair<std::string_view, std::variant<double, std::string_view>>;
    Attributes() = default;
    Attributes(std::initializer_list<Entry> entries) : entries_(entries) {}

    double number(std::string_view name) const;
    std::string_view word(std::string_view name) const;
    std::span<const Entry> entries() const { return entries_; }

  private:
    std::vector<Entry> entries_;
};

struct Node {
    const Op* op = nullptr;
    std::vector<Tensor> inputs;  // an optional operand left out is an empty handle
    Tensor output;
    Attributes attributes;
    int layer = 0;  // as Value::layer

    const Shape& shape(size_t input) const { return inputs[input].shape(); }
};

class Graph {
  public:
    Graph();
    Graph(const Graph&) = delete;  // tensors point back here

    // The two live axes: tokens of a step, and the rows of it whose logits are wanted.
    Axis tokens() const { return tokens_; }
    Axis rows() const { return rows_; }
    // A new axis, or the one of that name, whose extent must then be the same.
    Axis axis(const std::string& name, int64_t extent);

    // Values and nodes belong to the layer that was announced last: -1 the embedding, 0 ... the
    // blocks, then the head.
    void begin_layer(int layer);
    // The nodes from here on run over the wanted rows only, in a program of their own.
    void begin_head() { head_begin_ = nodes_.size(); }
    // The same with those of the nodes before that only x [tokens ...] needs, and of which a row
    // needs no other token but through a cache that is filled by then: they move to the head.
    // Returns x over the wanted rows.
    Tensor begin_head(Tensor x);

    // `shape` is row_axes + column_axes; a second mention of the same rows gives the same value.
    Tensor weight(std::string name, gguf::DType dtype, const Shape& row_axes,
                  const Shape& column_axes, Rows rows);
    Tensor state(std::string name, gguf::DType dtype, const Shape& row_axes,
                 const Shape& column_axes);
    // A field of StepInputs: "ids", "positions" [tokens], "rows", "row_positions" [rows].
    Tensor input(std::string_view name);
    Tensor append(const Op& op, std::vector<Tensor> inputs, Shape shape, Attributes attributes = {},
                  gguf::DType dtype = gguf::DType::F32);
    // The logits, [rows vocab].
    void set_result(Tensor result) { result_ = result; }

    const std::deque<Value>& values() const { return values_; }
    const Value& value(int id) const { return values_[size_t(id)]; }
    std::span<const Node> nodes() const { return nodes_; }
    size_t head_begin() const { return head_begin_; }  // index of the head's first node
    int layers() const { return last_layer_; }         // blocks; also the layer number of the head
    Tensor result() const { return result_; }
    // Indices of the nodes that read a value.
    std::vector<int> readers(int value) const;

  private:
    Tensor add(Value value);
    std::vector<bool> needed_by_rows(Tensor x) const;
    int last_with(Tensor value, int layer) const;
    void put(Node node);

    std::deque<AxisDefinition> axes_;
    std::deque<Value> values_;
    std::vector<Node> nodes_;
    Axis tokens_, rows_;
    int layer_ = -1;
    int last_layer_ = -1;
    size_t head_begin_ = 0;
    Tensor result_;
};

// How a state holds tokens for all nodes that read it: of windows the longest.
Holding holding_of(const Graph& graph, int state);

// What the axes of a node are to it, e.g. "tokens embd!, d! -> tokens d": `!` marks those that must
// be whole.
std::string signature(const Node& node);
// One line per value from outside and per node, in order.
std::string to_string(const Graph& graph);

}  // namespace tandem::graph
