// Axes: the named extents that tensors share. Tensors that mention the same axis are divided
// together or not at all, which is all a split mode needs to know about a model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::graph {

struct AxisDefinition {
    std::string name;    // "blk.3.kv_heads"; unique within a graph
    int64_t extent = 0;  // 0 for a live axis, whose extent is counted anew in every step
    bool live() const { return extent == 0; }
};

// A handle, compared by identity; the graph owns the definition.
using Axis = const AxisDefinition*;

// What a policy names: the part after the last dot, "kv_heads" of "blk.3.kv_heads".
std::string_view role(Axis axis);

// A list of axes, row-major: the last varies fastest. Regrouping the names is how reshapes and
// views are said; they are not ops.
using Shape = std::vector<Axis>;

// Position of the axis in the shape, -1 where it is absent.
int find(const Shape& shape, Axis axis);
inline bool contains(const Shape& shape, Axis axis) { return find(shape, axis) >= 0; }
Shape operator+(const Shape& left, const Shape& right);
// Elements of a shape without live axes; std::logic_error where it has one.
int64_t elements(const Shape& shape);
std::string to_string(const Shape& shape);  // "[tokens kv_heads d]", roles only

}  // namespace tandem::graph
