// Ranges of tensors in memory, and conversion to and from the types in which they travel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/op.h"
#include "parallel/communicator.h"

namespace tandem::parallel {

// Extents with the live counts filled in.
std::vector<int64_t> live_extents(const graph::View& view, Counts counts);

// Bytes in the type of the wire, of as many elements as `bytes` are in f32.
int64_t wire_bytes(Wire wire, int64_t bytes);

// Elements [first, end) of a dense value, converted to the wire's type.
void to_wire(Wire wire, const float* from, std::byte* to, int64_t first, int64_t end);
// Elements [first, end) of the sum of addends, which are added in their order.
void add_up(Wire wire, std::span<const std::byte* const> addends, float* sum, int64_t first,
            int64_t end);

// Copies a dense local range into the dense whole of which it is a part.
void place_range(const graph::View& range, const std::vector<int64_t>& range_extents,
                 const std::byte* from, const graph::View& whole, float* to);

}  // namespace tandem::parallel
