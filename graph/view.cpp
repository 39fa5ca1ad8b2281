// Reading and writing the elements of a View, whatever its type and strides. Plain, not fast.
#include <cstring>

#include "gguf/error.h"
#include "graph/op.h"

namespace tandem::graph {

namespace {

// Calls visit(offset in elements, running number) for every element, in the order of the axes.
template <typename Visit>
void for_each_element(const View& view, Visit visit) {
    std::vector<int64_t> index(view.extents.size(), 0);
    int64_t count = view.elements();
    for (int64_t number = 0; number < count; ++number) {
        int64_t offset = 0;
        for (size_t i = 0; i < index.size(); ++i) offset += index[i] * view.strides[i];
        visit(offset, number);
        for (size_t i = index.size(); i-- > 0;) {
            if (++index[i] < view.extents[i]) break;
            index[i] = 0;
        }
    }
}

std::byte* row_address(const View& view, int64_t row) {
    return view.data + row * gguf::row_bytes(view.dtype, view.row_length());
}

}  // namespace

int64_t View::elements() const {
    int64_t product = 1;
    for (int64_t extent : extents) product *= extent;
    return product;
}

int64_t View::row_length() const {
    int64_t product = 1;
    for (size_t i = extents.size() - columns; i < extents.size(); ++i) product *= extents[i];
    return product;
}

int64_t View::rows() const {
    int64_t product = 1;
    for (size_t i = 0; i + columns < extents.size(); ++i) product *= extents[i];
    return product;
}

std::vector<float> load_row(const View& view, int64_t row) {
    check(view.strides.empty(), "rows are what weights and states have");
    std::vector<float> values(size_t(view.row_length()));
    gguf::decode_row(view.dtype, row_address(view, row), values);
    return values;
}

void store_row(const View& view, int64_t row, std::span<const float> values) {
    gguf::encode_row(view.dtype, values, row_address(view, row));
}

std::vector<float> load(const View& view) {
    std::vector<float> values(size_t(view.elements()));
    if (view.strides.empty()) {
        int64_t length = view.row_length();
        for (int64_t row = 0; row < view.rows(); ++row)
            gguf::decode_row(view.dtype, row_address(view, row),
                             std::span(values).subspan(size_t(row * length), size_t(length)));
    } else {
        auto* data = reinterpret_cast<const float*>(view.data);
        for_each_element(
            view, [&](int64_t offset, int64_t number) { values[size_t(number)] = data[offset]; });
    }
    return values;
}

std::vector<int32_t> load_ids(const View& view) {
    std::vector<int32_t> values(size_t(view.elements()));
    auto* data = reinterpret_cast<const int32_t*>(view.data);
    for_each_element(
        view, [&](int64_t offset, int64_t number) { values[size_t(number)] = data[offset]; });
    return values;
}

void store(const View& view, std::span<const float> values) {
    check(int64_t(values.size()) == view.elements(), "a result has the extents of its view");
    auto* data = reinterpret_cast<float*>(view.data);
    for_each_element(
        view, [&](int64_t offset, int64_t number) { data[offset] = values[size_t(number)]; });
}

void store_ids(const View& view, std::span<const int32_t> values) {
    check(int64_t(values.size()) == view.elements(), "a result has the extents of its view");
    auto* data = reinterpret_cast<int32_t*>(view.data);
    for_each_element(
        view, [&](int64_t offset, int64_t number) { data[offset] = values[size_t(number)]; });
}

}  // namespace tandem::graph
