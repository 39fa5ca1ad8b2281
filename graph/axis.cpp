#include "graph/axis.h"

#include "gguf/error.h"

namespace tandem::graph {

std::string_view role(Axis axis) {
    std::string_view name = axis->name;
    size_t dot = name.rfind('.');
    return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

int find(const Shape& shape, Axis axis) {
    for (size_t i = 0; i < shape.size(); ++i)
        if (shape[i] == axis) return int(i);
    return -1;
}

Shape operator+(const Shape& left, const Shape& right) {
    Shape joined = left;
    joined.insert(joined.end(), right.begin(), right.end());
    return joined;
}

int64_t elements(const Shape& shape) {
    int64_t product = 1;
    for (Axis axis : shape) {
        check(!axis->live(), "only a shape without live axes has a fixed number of elements");
        product *= axis->extent;
    }
    return product;
}

std::string to_string(const Shape& shape) {
    std::string text = "[";
    for (Axis axis : shape) {
        if (text.size() > 1) text += ' ';
        text += role(axis);
    }
    return text + "]";
}

}  // namespace tandem::graph
