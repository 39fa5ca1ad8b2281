#include "parallel/communicator/box.h"

#include <algorithm>
#include <cstring>

#include "gguf/error.h"
#include "gguf/half.h"

namespace tandem::parallel {

std::vector<int64_t> live_extents(const graph::View& view, Counts counts) {
    std::vector<int64_t> extents = view.extents;
    for (size_t i = 0; i < extents.size(); ++i)
        if (view.axes[i]->live())
            extents[i] = view.axes[i]->name == "rows" ? counts.rows : counts.tokens;
    return extents;
}

int64_t wire_bytes(Wire wire, int64_t bytes) { return wire == Wire::F32 ? bytes : bytes / 2; }

void to_wire(Wire wire, const float* from, std::byte* to, int64_t first, int64_t end) {
    auto* half = reinterpret_cast<uint16_t*>(to);
    switch (wire) {
        case Wire::F32:
            std::memcpy(to + first * 4, from + first, size_t(end - first) * 4);
            return;
        case Wire::F16:
            for (int64_t i = first; i < end; ++i) half[i] = gguf::f32_to_f16(from[i]);
            return;
        case Wire::BF16:
            for (int64_t i = first; i < end; ++i) half[i] = gguf::f32_to_bf16(from[i]);
            return;
    }
}

namespace {

// Elements of a sum that stay in the nearest cache while all addends come by.
constexpr int64_t piece = 2048;

// Calls use(element), where element(from, i) is a number of the wire.
template <typename Use>
void with_elements(Wire wire, Use use) {
    auto half = [](const std::byte* from, int64_t i) {
        return reinterpret_cast<const uint16_t*>(from)[i];
    };
    switch (wire) {
        case Wire::F32:
            return use([](const std::byte* from, int64_t i) {
                return reinterpret_cast<const float*>(from)[i];
            });
        case Wire::F16:
            return use(
                [=](const std::byte* from, int64_t i) { return gguf::f16_to_f32(half(from, i)); });
        case Wire::BF16:
            return use(
                [=](const std::byte* from, int64_t i) { return gguf::bf16_to_f32(half(from, i)); });
    }
}

// Calls visit(index) for every index of all axes but the last.
template <typename Visit>
void each_row(const std::vector<int64_t>& extents, Visit visit) {
    for (int64_t extent : extents)
        if (extent == 0) return;
    std::vector<int64_t> index(extents.size(), 0);
    while (true) {
        visit(index);
        size_t i = extents.size() - 1;
        while (i > 0 && ++index[i - 1] == extents[i - 1]) index[--i] = 0;
        if (i == 0) return;
    }
}

}  // namespace

void add_up(Wire wire, std::span<const std::byte* const> addends, float* sum, int64_t first,
            int64_t end) {
    const size_t together = std::min<size_t>(2, addends.size());
    const std::byte *one = addends[0], *other = addends[together - 1];
    with_elements(wire, [&](auto element) {
        for (; first < end; first += piece) {
            const int64_t last = std::min(first + piece, end);
            if (together == 2)  // most sums have no more: they are made in one pass
                for (int64_t i = first; i < last; ++i) sum[i] = element(one, i) + element(other, i);
            else
                for (int64_t i = first; i < last; ++i) sum[i] = element(one, i);
            for (const std::byte* addend : addends.subspan(together))
                for (int64_t i = first; i < last; ++i) sum[i] += element(addend, i);
        }
    });
}

void place_range(const graph::View& range, const std::vector<int64_t>& range_extents,
                 const std::byte* from, const graph::View& whole, float* to) {
    if (range_extents.empty()) {
        std::memcpy(to, from, 4);
        return;
    }
    size_t length = size_t(range_extents.back()) * 4;
    each_row(range_extents, [&](const std::vector<int64_t>& index) {
        int64_t at = 0;
        for (size_t i = 0; i < index.size(); ++i)
            at += (index[i] + range.begins[i] - whole.begins[i]) * whole.strides[i];
        std::memcpy(to + at, from, length);
        from += length;
    });
}

}  // namespace tandem::parallel
