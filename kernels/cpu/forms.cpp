#include "kernels/cpu/forms.h"

#include <algorithm>

#include "kernels/cpu/rows.h"
#include "kernels/cpu/variants.h"

namespace tandem::kernels::cpu {

namespace ops {
extern const CpuKernel prepare_q8_of_32, prepare_q8_of_256, prepare_small_q8_of_32,
    prepare_small_q8_of_256, prepare_q8_of_32_tiles, prepare_q8_of_256_tiles,
    prepare_small_q8_of_32_tiles, prepare_small_q8_of_256_tiles, prepare_f32_tiles, prepare_bf16,
    prepare_bf16_pair, prepare_q16, prepare_q16_of_128, prepare_dense;
}

namespace {

template <int64_t block>
int64_t q8_bytes(const graph::View& view) {
    return view.extents[0] * q8_row(columns_of(view), block).bytes;
}

// Of blocks, or of f32.
template <int64_t block>
int64_t tiles_bytes(const graph::View& view) {
    const int64_t columns = columns_of(view);
    return tiles_of(view.extents[0]) *
           (block > 0 ? q8_tile_bytes(columns) : f32_tile_bytes(columns));
}

template <int parts>
int64_t bf16_bytes(const graph::View& view) {
    return tiles_of(view.extents[0]) * bf16_tile_bytes(columns_of(view), parts);
}

int64_t q16_bytes(const graph::View& view) {
    return tiles_of(view.extents[0]) * q16_tile_bytes(columns_of(view));
}

// int8 codes in rows or in tiles.
const Form& q8_form(Codes codes, bool tiles) {
    static const Form forms[2][2][2] = {
        {{{"q8_of_32", q8_bytes<32>, &claim_of(ops::prepare_q8_of_32)},
          {"q8_of_256", q8_bytes<256>, &claim_of(ops::prepare_q8_of_256)}},
         {{"small_q8_of_32", q8_bytes<32>, &claim_of(ops::prepare_small_q8_of_32)},
          {"small_q8_of_256", q8_bytes<256>, &claim_of(ops::prepare_small_q8_of_256)}}},
        {{{"q8_of_32_tiles", tiles_bytes<32>, &claim_of(ops::prepare_q8_of_32_tiles)},
          {"q8_of_256_tiles", tiles_bytes<256>, &claim_of(ops::prepare_q8_of_256_tiles)}},
         {{"small_q8_of_32_tiles", tiles_bytes<32>, &claim_of(ops::prepare_small_q8_of_32_tiles)},
          {"small_q8_of_256_tiles", tiles_bytes<256>,
           &claim_of(ops::prepare_small_q8_of_256_tiles)}}}};
    return forms[tiles][codes.small][codes.block == 256];
}

const Form& f32_tiles() {
    static const Form form{"f32_tiles", tiles_bytes<0>, &claim_of(ops::prepare_f32_tiles)};
    return form;
}

}  // namespace

int64_t columns_of(const graph::View& view) {
    int64_t columns = 1;
    for (size_t i = 1; i < view.extents.size(); ++i) columns *= view.extents[i];
    return columns;
}

const Form& dense() {
    static const Form form{"dense", [](const graph::View& view) { return view.elements() * 4; },
                           &claim_of(ops::prepare_dense)};
    return form;
}

const Form& bf16_form(int parts) {
    static const Form one{"bf16", bf16_bytes<1>, &claim_of(ops::prepare_bf16)};
    static const Form two{"bf16_pair", bf16_bytes<2>, &claim_of(ops::prepare_bf16_pair)};
    return parts == 1 ? one : two;
}

const Form& q16_tiles(int64_t block) {
    static const Form of_32{"q16_tiles", q16_bytes, &claim_of(ops::prepare_q16)};
    static const Form of_128{"q16_of_128_tiles", q16_bytes, &claim_of(ops::prepare_q16_of_128)};
    return block == 32 ? of_32 : of_128;
}

int64_t TileForm::bytes() const {
    if (q16_block > 0) return q16_tile_bytes(columns);
    if (parts > 0) return bf16_tile_bytes(columns, parts);
    return codes.block > 0 ? q8_tile_bytes(columns) : f32_tile_bytes(columns);
}

int64_t TileForm::groups() const {
    if (parts > 0 && isa->reduced == Reduced::AllTypes) return 1;
    const bool are_codes = codes.block > 0 || q16_block > 0;
    return are_codes && !adding ? isa->most_panel_groups : isa->panel_groups;
}

Multiply TileForm::product_of(const MatrixKernels& kernels) const {
    if (adding && kernels.multiply_adding) return kernels.multiply_adding;
    if (q16_block > 0) return kernels.multiply_q16;
    return parts > 0 ? kernels.multiply_bf16 : kernels.multiply_tiles;
}

void TileForm::place(const float* row, uint8_t* tile, int token) const {
    if (q16_block > 0) return isa->place_q16(row, columns, q16_block, tile, token);
    if (parts > 0) return isa->place_bf16(row, columns, parts, tile, token);
    if (codes.block > 0) {
        Place* place = codes.small && isa->place_small ? isa->place_small : isa->place;
        return place(row, columns, codes.block, tile, token);
    }
    for (int64_t k = 0; k < columns; k += 16) {
        float* to = reinterpret_cast<float*>(tile) + (k + token) * 16;
        const int64_t count = row ? std::min<int64_t>(16, columns - k) : 0;
        if (count > 0) std::copy_n(row + k, count, to);
        std::fill(to + count, to + 16, 0.0f);
    }
}

TileForm tile_form_for(const Isa& isa, gguf::DType dtype, int64_t columns, bool adding) {
    const MatrixKernels& kernels = *isa.kernels(int(dtype));
    const bool q16 =
        kernels.q16_block > 0 && (kernels.multiply_q16 || (adding && kernels.multiply_adding));
    const int parts = kernels.multiply_bf16 && !q16 ? bf16_parts(dtype) : 0;
    return {.isa = &isa,
            .parts = parts,
            .q16_block = q16 ? kernels.q16_block : 0,
            .codes = {.block = parts > 0 || q16 ? 0 : codes_for(dtype).block,
                      .small = adding && kernels.crosses_small_codes},
            .columns = columns,
            .adding = adding};
}

int64_t most_tile_bytes(gguf::DType dtype, int64_t columns) {
    const int64_t block = codes_for(dtype).block;
    const bool q16 = dtype == gguf::DType::F16 || dtype == gguf::DType::BF16 ||
                     signed_bytes(dtype) || has_few_levels(dtype);
    return std::max({bf16_tile_bytes(columns, bf16_parts(dtype)), q16 ? q16_tile_bytes(columns) : 0,
                     block > 0 ? q8_tile_bytes(columns) : f32_tile_bytes(columns)});
}

bool signed_bytes(gguf::DType dtype) {
    return dtype == gguf::DType::Q8_0 || dtype == gguf::DType::IQ4_NL;
}

bool has_few_levels(gguf::DType dtype) {
    return dtype == gguf::DType::TQ1_0 || dtype == gguf::DType::TQ2_0 ||
           dtype == gguf::DType::Q1_0 || dtype == gguf::DType::Q2_0;
}

int bf16_parts(gguf::DType dtype) {
    if (dtype == gguf::DType::F32 || has_few_levels(dtype)) return 0;
    return dtype == gguf::DType::F16 ? 2 : 1;  // bf16 has 8 bits of a number, F16 11
}

Codes codes_for(gguf::DType dtype) {
    const int64_t block = gguf::traits(dtype).block;
    if (block == 1) return {};
    static const Isa& best = find_variant()->isa();
    const MatrixKernels* kernels = best.kernels(int(dtype));
    return {.block = block == 256 ? 256 : 32,  // rows of smaller ones need not be multiples of 256
            .small = adds_cheaply() && kernels && kernels->crosses_small_codes};
}

void Codes::quantize(const Isa& isa, const float* row, int64_t columns, uint8_t* to) const {
    Quantize* quantize = small && isa.quantize_small ? isa.quantize_small : isa.quantize;
    quantize(row, columns, block, to);
}

const Form* form_for(gguf::DType dtype, const graph::View& x) {
    const Codes codes = codes_for(dtype);
    if (codes.block > 0) return &q8_form(codes, in_tiles(x));
    if (in_tiles(x)) return &f32_tiles();
    return as_rows(x, x.axes.size() - 1) ? nullptr : &dense();
}

}  // namespace tandem::kernels::cpu
