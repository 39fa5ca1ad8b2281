// Some of a text.
#pragma once

#include <cstddef>

namespace tandem::model {

struct ByteRange {  // [begin, end)
    size_t begin = 0;
    size_t end = 0;
    bool operator==(const ByteRange&) const = default;
};

}  // namespace tandem::model
