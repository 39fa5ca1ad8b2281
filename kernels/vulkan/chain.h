// What every chain of operations that becomes one launch asks of its links.
#pragma once

#include "kernels/vulkan/site.h"

namespace tandem::kernels::vulkan {

// True where nothing but the operation `distance` further on reads the result.
inline bool read_only_by(const Operation& operation, int distance) {
    return !operation.outlives_segment && operation.readers == std::vector<int>{distance};
}

inline bool reads(const Operation& reader, size_t input, const Operation& writer) {
    return reader.node->inputs[input].value == writer.node->output.value;
}

// A device may read a range of what it has computed.
inline bool reads_all(const Operation& reader, size_t input, const Operation& writer) {
    return reads(reader, input, writer) &&
           reader.inputs[input].view.extents == writer.output.view.extents;
}

// What the addition `next` adds to the result of `ahead`, which stands `distance` before it and
// whose result it reads whole and alone: a number of an operand; -1 where that is not so.
int addend_of(const Operation& ahead, const Operation& next, int distance = 1);
// Whether it lies as the sum does.
bool lies_alike(const graph::View& addend, const graph::View& sum);
bool is_dense(const graph::View& view);

}  // namespace tandem::kernels::vulkan
