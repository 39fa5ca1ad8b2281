#include "kernels/cpu/forms.h"

#include "gguf/error.h"
#include "kernels/cpu/rows.h"

namespace tandem::kernels::cpu {

namespace {

// A row of a prepared value runs over all axes but the first.
int64_t columns_of(const graph::View& view) {
    int64_t columns = 1;
    for (size_t i = 1; i < view.extents.size(); ++i) columns *= view.extents[i];
    return columns;
}

template <int64_t block>
int64_t q8_bytes(const graph::View& view) {
    return view.extents[0] * q8_row(columns_of(view), block).bytes;
}

// Copies row `index` of the first axis, whatever its strides, to dense memory.
void gather_row(const graph::View& view, int64_t index, float* to) {
    graph::View row = view;
    row.data += index * view.strides[0] * 4;
    row.extents[0] = 1;
    std::vector<float> values = graph::load(row);
    std::copy(values.begin(), values.end(), to);
}

// Calls use(row number, dense f32 row) for this worker's share of the rows.
template <typename Use>
void each_dense_row(const graph::View& view, const Site& site, const Worker& worker, Use use) {
    int64_t first, last, columns = columns_of(view);
    worker.share(live_count(view, site.inputs()), first, last);
    bool dense = as_rows(view, view.axes.size() - 1).has_value();
    std::vector<float> copy(dense ? 0 : size_t(columns));
    for (int64_t r = first; r < last; ++r) {
        const float* row = reinterpret_cast<const float*>(view.data) + r * view.strides[0];
        if (!dense) gather_row(view, r, copy.data()), row = copy.data();
        use(r, row);
    }
}

template <int64_t block>
Task bind_q8(const Launch& launch, const Site& site) {
    graph::View from = site.view(launch.operations[0].inputs[0]);
    graph::View to = site.view(launch.operations[0].output);
    int64_t columns = columns_of(from), stride = q8_row(columns, block).bytes;
    return [=](const Worker& worker) {
        each_dense_row(from, site, worker, [&](int64_t r, const float* row) {
            site.isa.quantize(row, columns, block,
                              reinterpret_cast<uint8_t*>(to.data) + r * stride);
        });
    };
}

Task bind_dense(const Launch& launch, const Site& site) {
    graph::View from = site.view(launch.operations[0].inputs[0]);
    graph::View to = site.view(launch.operations[0].output);
    int64_t columns = columns_of(from);
    return [=](const Worker& worker) {
        each_dense_row(from, site, worker, [&](int64_t r, const float* row) {
            std::copy(row, row + columns, reinterpret_cast<float*>(to.data) + r * columns);
        });
    };
}

size_t never(std::span<const Operation>) { return 0; }

}  // namespace

namespace ops {
extern const CpuKernel prepare_q8_of_32{
    .name = "prepare.q8_of_32", .claim = never, .bind = bind_q8<32>};
extern const CpuKernel prepare_q8_of_256{
    .name = "prepare.q8_of_256", .claim = never, .bind = bind_q8<256>};
extern const CpuKernel prepare_dense{.name = "prepare.dense", .claim = never, .bind = bind_dense};
}  // namespace ops

const Form& q8_of_32() {
    static const Form form{"q8_of_32", q8_bytes<32>, &claim_of(ops::prepare_q8_of_32)};
    return form;
}

const Form& q8_of_256() {
    static const Form form{"q8_of_256", q8_bytes<256>, &claim_of(ops::prepare_q8_of_256)};
    return form;
}

const Form& dense() {
    static const Form form{"dense", [](const graph::View& view) { return view.elements() * 4; },
                           &claim_of(ops::prepare_dense)};
    return form;
}

int64_t form_block(gguf::DType dtype) {
    int64_t block = gguf::traits(dtype).block;
    return block == 1 ? 0 : block;
}

const Form* form_for(gguf::DType dtype, const graph::View& x) {
    switch (form_block(dtype)) {
        case 32:
            return &q8_of_32();
        case 256:
            return &q8_of_256();
        default:
            return as_rows(x, x.axes.size() - 1) ? nullptr : &dense();
    }
}

}  // namespace tandem::kernels::cpu
