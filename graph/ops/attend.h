// The operands of an attend node by number.
#pragma once

#include <cstddef>

namespace tandem::graph::ops {

enum AttendOperand : size_t {
    queries,
    keys,
    values,
    keys_cache,
    values_cache,
    sinks,
    second_queries,
    second_keys,
    second_cache,
    operands  // how many there are
};

}  // namespace tandem::graph::ops
