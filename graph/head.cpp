// Where the head begins. Behind the last node that mixes tokens, what follows is needed for the
// wanted rows only: of a prompt, usually the last one. Its other tokens end there. Attention to
// another block's cache mixes nothing any more: who wants a row asks for that row.
#include <algorithm>
#include <map>

#include "graph/graph.h"
#include "graph/ops.h"

namespace tandem::graph {

namespace {

bool is_positions(const Tensor& input) {
    return input->kind == Kind::Input && input->name == "positions";
}

// Whether rows of tokens can be put in for all tokens: a rule that lets an axis pass through gives
// a part of the result for a part of the operands. Rows have positions as tokens do.
bool treats_tokens_alone(const Node& node, Axis tokens) {
    if (!contains(node.output.shape(), tokens)) return false;
    const Rule rule = node.op->rule(node);
    if (contains(rule.whole, tokens) && !rule.takes_rows) return false;
    return std::none_of(node.inputs.begin(), node.inputs.end(), [&](const Tensor& input) {
        return input && input->kind == Kind::Input && !is_positions(input);
    });
}

}  // namespace

// Of each node, whether it can run over the rows wanted of x: so can all that read its result, and
// all that come behind it to the same cache.
std::vector<bool> Graph::needed_by_rows(Tensor x) const {
    std::vector<bool> needed(nodes_.size());
    for (size_t i = nodes_.size(); i-- > 0;) {
        std::vector<int> after = readers(nodes_[i].output.value);
        const bool is_needed = !after.empty() || nodes_[i].output.value == x.value;
        for (const Tensor& input : nodes_[i].inputs)
            if (input && input->kind == Kind::State)
                for (int reader : readers(input.value))
                    if (size_t(reader) > i) after.push_back(reader);
        needed[i] =
            is_needed && treats_tokens_alone(nodes_[i], tokens_) &&
            std::all_of(after.begin(), after.end(), [&](int node) { return needed[size_t(node)]; });
    }
    return needed;
}

// The last layer up to `layer` that has a value: the one that makes it, or one whose nodes so far
// read it.
int Graph::last_with(Tensor value, int layer) const {
    int last = value->layer;
    for (int reader : readers(value.value))
        if (nodes_[size_t(reader)].layer <= layer)
            last = std::max(last, nodes_[size_t(reader)].layer);
    return last;
}

void Graph::put(Node node) {
    Value& output = values_[size_t(node.output.value)];
    output.node = int(nodes_.size());
    output.name = "%" + std::to_string(nodes_.size());
    nodes_.push_back(std::move(node));
}

Tensor Graph::begin_head(Tensor x) {
    const std::vector<bool> moves = needed_by_rows(x);
    const int layer = layer_;
    std::vector<Node> all = std::move(nodes_);
    nodes_.clear();
    for (size_t i = 0; i < all.size(); ++i)
        if (!moves[i]) put(all[i]);
    begin_head();
    std::map<int, Tensor> selected;  // by value
    auto over_rows = [&](Tensor value) {
        if (!value || !contains(value.shape(), tokens_)) return value;
        if (is_positions(value)) return input("row_positions");
        auto [at, is_new] = selected.try_emplace(value.value);
        if (!is_new) return at->second;
        const int reader = layer_;
        layer_ = last_with(value, reader);  // so that only rows travel
        at->second = select_rows(value, input("rows"));
        layer_ = reader;
        return at->second;
    };
    for (size_t i = 0; i < all.size(); ++i) {
        if (!moves[i]) continue;
        layer_ = all[i].layer;
        for (Tensor& operand : all[i].inputs) operand = over_rows(operand);
        Shape& shape = values_[size_t(all[i].output.value)].shape;
        std::replace(shape.begin(), shape.end(), tokens_, rows_);
        put(std::move(all[i]));
    }
    layer_ = layer;
    return over_rows(x);
}

}  // namespace tandem::graph
