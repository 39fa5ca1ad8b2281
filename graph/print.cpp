// Graphs as text: one line per element, in order, no addresses.
#include <cmath>
#include <cstdio>

#include "graph/graph.h"

namespace tandem::graph {

namespace {

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

std::string operand(const Tensor& tensor) { return tensor ? tensor->name : "-"; }

std::string outside(const Value& value) {
    std::string text = value.name + " " + to_string(value.row_axes());
    if (value.columns > 0) text += " x " + to_string(value.column_axes());
    text += " ";
    text += value.kind == Kind::Weight  ? gguf::name(value.dtype)
            : value.kind == Kind::State ? std::string_view("state ")
                                        : std::string_view("input");
    if (value.kind == Kind::State) text += gguf::name(value.dtype);
    return text;
}

}  // namespace

std::string signature(const Node& node) {
    Rule rule = node.op->rule(node);
    auto axes = [&](const Shape& shape) {
        std::string text;
        for (Axis axis : shape) {
            if (!text.empty()) text += ' ';
            text += role(axis);
            if (contains(rule.whole, axis)) text += '!';
        }
        return text;
    };
    std::string text;
    for (const Tensor& input : node.inputs) {
        if (!input) continue;
        if (!text.empty()) text += ", ";
        text += axes(input.shape());
    }
    return text + " -> " + axes(node.output.shape());
}

std::string to_string(const Graph& graph) {
    std::string text;
    for (const Value& value : graph.values())
        if (value.kind != Kind::Activation) text += outside(value) + "\n";
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (i == graph.head_begin()) text += "head:\n";
        text += node.output->name + " = " + std::string(node.op->name) + "(";
        for (size_t j = 0; j < node.inputs.size(); ++j)
            text += (j > 0 ? ", " : "") + operand(node.inputs[j]);
        text += ")";
        for (const auto& [name, value] : node.attributes.entries()) {
            text += " " + std::string(name) + "=";
            if (auto* word = std::get_if<std::string_view>(&value))
                text += *word;
            else
                text += number(std::get<double>(value));
        }
        text += "  " + signature(node) + "\n";
    }
    return text;
}

}  // namespace tandem::graph
