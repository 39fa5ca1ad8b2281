#include "parallel/memory.h"

#include <algorithm>
#include <numeric>

namespace tandem::parallel {

// Largest first, each at the lowest offset that is free throughout its life.
int64_t place(std::vector<Lifetime>& values, int64_t base) {
    std::vector<size_t> order(values.size()), placed;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return values[a].bytes > values[b].bytes; });
    int64_t end = base;
    for (size_t number : order) {
        Lifetime& value = values[number];
        std::vector<const Lifetime*> neighbours;
        for (size_t other : placed)
            if (values[other].first <= value.last && value.first <= values[other].last)
                neighbours.push_back(&values[other]);
        std::sort(neighbours.begin(), neighbours.end(),
                  [](const Lifetime* a, const Lifetime* b) { return a->offset < b->offset; });
        value.offset = base;
        for (const Lifetime* neighbour : neighbours) {
            if (value.offset + value.bytes <= neighbour->offset) break;
            value.offset = std::max(value.offset, neighbour->offset + aligned(neighbour->bytes));
        }
        placed.push_back(number);
        end = std::max(end, value.offset + aligned(value.bytes));
    }
    return end;
}

}  // namespace tandem::parallel
