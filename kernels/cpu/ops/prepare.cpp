// Preparations of activations in the forms that matrix kernels read (forms.h): for each a kernel,
// which claims nothing, but is launched where somebody reads its form.
#include <algorithm>

#include "kernels/cpu/forms.h"
#include "kernels/cpu/ops/row_parts.h"
#include "kernels/cpu/rows.h"

namespace tandem::kernels::cpu::ops {

namespace {

// The rows of the first axis of a value as dense f32.
class DenseRows {
  public:
    explicit DenseRows(const graph::View& view)
        : view_(view), dense_(as_rows(view, view.axes.size() - 1).has_value()) {
        if (!dense_) copy_.resize(size_t(columns_of(view)));
    }
    // Good until the next call.
    const float* row(int64_t index) {
        const float* at = reinterpret_cast<const float*>(view_.data) + index * view_.strides[0];
        if (dense_) return at;
        graph::View row = view_;
        row.data += index * view_.strides[0] * 4;
        row.extents[0] = 1;
        copy_ = graph::load(row);
        return copy_.data();
    }

  private:
    const graph::View& view_;
    const bool dense_;
    std::vector<float> copy_;
};

// Calls use(row number, dense f32 row) for this worker's share of the rows.
template <typename Use>
void each_dense_row(const graph::View& view, const Site& site, const Worker& worker, Use use) {
    const auto [first, last] = worker.share_rows(live_count(view, site.inputs()), 1);
    DenseRows dense(view);
    for (int64_t r = first; r < last; ++r) use(r, dense.row(r));
}

// Some blocks of a row, made by themselves and put in their places.
void quantize_part(Codes codes, const Isa& isa, const float* row, int64_t length, Range columns,
                   uint8_t* to, const Worker& worker) {
    const int64_t count = columns.count();
    const Q8Row whole = q8_row(length, codes.block), part = q8_row(count, codes.block);
    auto* made = reinterpret_cast<uint8_t*>(worker.scratch(part.bytes / int64_t(sizeof(float))));
    codes.quantize(isa, row + columns.first, count, made);
    // Numbers of `bytes` for every so many columns.
    auto put = [&](int64_t Q8Row::*field, int64_t each, int64_t bytes) {
        const int64_t at = field ? whole.*field : 0, from = field ? part.*field : 0;
        std::copy_n(made + from, count / each * bytes, to + at + columns.first / each * bytes);
    };
    put(nullptr, 1, 1);  // the codes
    put(&Q8Row::scales, codes.block, 4);
    put(&Q8Row::sums16, 16, 4);
    put(&Q8Row::real_sums16, 16, 4);
    put(&Q8Row::sums32, 32, 4);
    put(&Q8Row::real_sums32, 32, 4);
}

template <Codes codes>
Task bind_q8(const Launch& launch, const Site& site) {
    graph::View from = site.view(launch.operations[0].inputs[0]);
    graph::View to = site.view(launch.operations[0].output);
    int64_t columns = columns_of(from), stride = q8_row(columns, codes.block).bytes;
    return [=](const Worker& worker) {
        DenseRows dense(from);
        const int64_t tokens = live_count(from, site.inputs());
        each_row_part(tokens, 1, columns, worker, [&](int64_t r, Range part) {
            const float* row = dense.row(r);
            uint8_t* made = reinterpret_cast<uint8_t*>(to.data) + r * stride;
            if (part.count() == columns)
                codes.quantize(site.isa, row, columns, made);
            else
                quantize_part(codes, site.isa, row, columns, part, made, worker);
        });
    };
}

// Each member makes whole tiles.
Task bind_tiles(const Launch& launch, const Site& site, const TileForm& form) {
    graph::View from = site.view(launch.operations[0].inputs[0]);
    graph::View to = site.view(launch.operations[0].output);
    return [=](const Worker& worker) {
        int64_t rows = live_count(from, site.inputs());
        DenseRows dense(from);
        const auto [first, last] =
            worker.only ? Range{worker.only->first / tile_tokens, tiles_of(worker.only->last)}
                        : worker.share(tiles_of(rows));
        for (int64_t r = first * tile_tokens; r < last * tile_tokens; ++r)
            form.place(r < rows ? dense.row(r) : nullptr,
                       reinterpret_cast<uint8_t*>(to.data) + r / tile_tokens * form.bytes(),
                       int(r % tile_tokens));
    };
}

// The tiles of which one field says all: &TileForm::parts and 2.
template <auto field, auto value>
Task bind_tiles_of(const Launch& launch, const Site& site) {
    TileForm form{.isa = &site.isa, .columns = columns_of(launch.operations[0].inputs[0].view)};
    form.*field = value;
    return bind_tiles(launch, site, form);
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

extern const CpuKernel prepare_q8_of_32{
    .name = "prepare.q8_of_32", .claim = never, .bind = bind_q8<Codes{32}>, .by_tokens = true};
extern const CpuKernel prepare_q8_of_256{
    .name = "prepare.q8_of_256", .claim = never, .bind = bind_q8<Codes{256}>, .by_tokens = true};
extern const CpuKernel prepare_small_q8_of_32{.name = "prepare.small_q8_of_32",
                                              .claim = never,
                                              .bind = bind_q8<Codes{32, true}>,
                                              .by_tokens = true};
extern const CpuKernel prepare_small_q8_of_256{.name = "prepare.small_q8_of_256",
                                               .claim = never,
                                               .bind = bind_q8<Codes{256, true}>,
                                               .by_tokens = true};
extern const CpuKernel prepare_q8_of_32_tiles{.name = "prepare.q8_of_32_tiles",
                                              .claim = never,
                                              .bind = bind_tiles_of<&TileForm::codes, Codes{32}>,
                                              .by_tokens = true};
extern const CpuKernel prepare_q8_of_256_tiles{.name = "prepare.q8_of_256_tiles",
                                               .claim = never,
                                               .bind = bind_tiles_of<&TileForm::codes, Codes{256}>,
                                               .by_tokens = true};
extern const CpuKernel prepare_small_q8_of_32_tiles{
    .name = "prepare.small_q8_of_32_tiles",
    .claim = never,
    .bind = bind_tiles_of<&TileForm::codes, Codes{32, true}>,
    .by_tokens = true};
extern const CpuKernel prepare_small_q8_of_256_tiles{
    .name = "prepare.small_q8_of_256_tiles",
    .claim = never,
    .bind = bind_tiles_of<&TileForm::codes, Codes{256, true}>,
    .by_tokens = true};
extern const CpuKernel prepare_f32_tiles{.name = "prepare.f32_tiles",
                                         .claim = never,
                                         .bind = bind_tiles_of<&TileForm::codes, Codes{}>,
                                         .by_tokens = true};
extern const CpuKernel prepare_bf16{.name = "prepare.bf16",
                                    .claim = never,
                                    .bind = bind_tiles_of<&TileForm::parts, 1>,
                                    .needs = Reduced::AllTypes,
                                    .by_tokens = true};
extern const CpuKernel prepare_bf16_pair{.name = "prepare.bf16_pair",
                                         .claim = never,
                                         .bind = bind_tiles_of<&TileForm::parts, 2>,
                                         .needs = Reduced::AllTypes,
                                         .by_tokens = true};
extern const CpuKernel prepare_q16{.name = "prepare.q16_tiles",
                                   .claim = never,
                                   .bind = bind_tiles_of<&TileForm::q16_block, 32>,
                                   .by_tokens = true};
extern const CpuKernel prepare_q16_of_128{.name = "prepare.q16_of_128_tiles",
                                          .claim = never,
                                          .bind = bind_tiles_of<&TileForm::q16_block, 128>,
                                          .needs = Reduced::LongBlocks,
                                          .by_tokens = true};
extern const CpuKernel prepare_dense{
    .name = "prepare.dense", .claim = never, .bind = bind_dense, .by_tokens = true};

}  // namespace tandem::kernels::cpu::ops
