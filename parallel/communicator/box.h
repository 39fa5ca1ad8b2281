// Ranges of tensors in memory, and conversion to and from the types in which they travel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/op.h"
#include "parallel/communicator.h"

namespace tandem::parallel {

// Extents with the live counts filled in.
std::vector<int64_t> live_extents(const graph::View& view, Counts counts);

int64_t wire_bytes(Wire wire);  // of one element

// Converts `count` elements of a dense value to the wire's type.
void to_wire(Wire wire, const float* from, std::byte* to, int64_t count);
// to = from, or to += from.
void from_wire(Wire wire, const std::byte* from, float* to, int64_t count);
void add_from_wire(Wire wire, const std::byte* from, float* to, int64_t count);

// Copies a dense local range into the dense whole of which it is a part.
void place_range(const graph::View& range, const std::vector<int64_t>& range_extents,
                 const std::byte* from, const graph::View& whole, float* to);

}  // namespace tandem::parallel
