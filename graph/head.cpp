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
// a part of the result for a part of the operands. Of the step's fields rows have positions.
bool treats_tokens_alone(const Node& node, Axis tokens) {
    if (!contains(node.output.shape(), tokens)) return false;
    const Rule rule = node.op->rule(node);
    if (contains(rule.whole, tokens) && !rule.takes_rows) return false;
    return std::none_of(node.inputs.begin(), node.inputs.end(), [&](const Tensor& input) {
        return input && input->kind == Kind::Input && !is_positions(input);
    });
}

}  // namespace

// Of each node, whether it can run over the rows wanted of x.
std::vector<bool> Graph::needed_by_rows(Tensor x) const {
    std::vector<bool> needed(nodes_.size());
    for (size_t i = nodes_.size(); i-- > 0;) {
        const std::vector<int> read_by = readers(nodes_[i].output.value);
        const bool is_needed = !read_by.empty() || nodes_[i].output.value == x.value;
        needed[i] = is_needed && treats_tokens_alone(nodes_[i], tokens_) &&
                    std::all_of(read_by.begin(), read_by.end(),
                                [&](int reader) { return needed[size_t(reader)]; });
    }
    return needed;
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
        if (is_new) at->second = select_rows(value, input("rows"));
        return at->second;
    };
    for (size_t i = 0; i < all.size(); ++i) {
        if (!moves[i]) continue;
        layer_ = all[i].layer;  // so that only the wanted rows travel
        for (Tensor& operand : all[i].inputs) operand = over_rows(operand);
        Shape& shape = values_[size_t(all[i].output.value)].shape;
        std::replace(shape.begin(), shape.end(), tokens_, rows_);
        put(std::move(all[i]));
    }
    layer_ = layer;
    return over_rows(x);
}

}  // namespace tandem::graph
