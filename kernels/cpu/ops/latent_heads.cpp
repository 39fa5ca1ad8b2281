#include "kernels/cpu/ops/latent_heads.h"

namespace tandem::kernels::cpu::ops {

namespace {

// Cells that a member takes at a time.
constexpr int64_t chunk_cells = 128;

// Memory of a member behind what products use.
uint8_t* own_memory(int64_t bytes, const Worker& worker) {
    return reinterpret_cast<uint8_t*>(worker.scratch((product_scratch + bytes) / 4)) +
           product_scratch;
}

}  // namespace

bool heads_pay_off(const LatentShape& shape, const graph::Standing& step) {
    int64_t seen = 0, cells = 0, tokens = 0;
    for (const graph::Sequence& sequence : step.sequences) {
        const auto positions =
            step.positions.subspan(size_t(sequence.first), size_t(sequence.count));
        for (int32_t position : positions) seen += position + 1;
        tokens += sequence.count;
        cells += positions.back() + 1;
    }
    const int64_t of_latents = 2 * shape.latent + shape.rotary;
    const int64_t of_heads = shape.plain + shape.rotary + shape.value;
    const int64_t to_make = shape.latent * (shape.plain + shape.value);
    return seen * of_heads + cells * to_make < seen * of_latents + tokens * to_make;
}

LatentHeads::LatentHeads(const LatentShape& extents, const Operation& to_latent,
                         const Operation& mix, const Operation& to_values, std::byte* memory,
                         const Site& site)
    : shape(extents),
      latents(site.view(mix.inputs[graph::ops::keys_cache])),
      isa_(site.isa),
      k_b_(held_matrix(to_latent.inputs[1], site, shape.heads)),
      v_b_(held_matrix(to_values.inputs[1], site, shape.heads)),
      turned_{.dtype = shape.made_dtype,
              .packed = true,
              .data = memory,
              .matrices = shape.heads,
              .rows = shape.plain,
              .columns = shape.latent,
              .lanes = isa_.lanes,
              .group_bytes = group_bytes(shape.made_dtype, isa_.lanes, shape.latent)},
      k_form_(tile_form_for(isa_, turned_.dtype, shape.latent)),
      v_form_(tile_form_for(isa_, v_b_.dtype, shape.latent)),
      memory_(memory) {}

void LatentHeads::turn(const Worker& worker) const {
    int64_t first, last;
    worker.share(shape.heads, first, last);
    const int64_t row_bytes = shape.aligned(shape.plain * 4);
    uint8_t* const own =
        own_memory(row_bytes + (1 + shape.latent) * shape.plain * shape.made_bytes, worker);
    auto* const row = reinterpret_cast<float*>(own);
    auto* const halves = reinterpret_cast<uint16_t*>(own + row_bytes);
    uint16_t* const columns = halves + shape.plain;
    for (int64_t head = first; head < last; ++head) {
        for (int64_t l = 0; l < shape.latent; ++l) {
            k_b_.row(head, l, row, worker);
            isa_.encode(int(shape.made_dtype), row, shape.plain, own + row_bytes);
            for (int64_t e = 0; e < shape.plain; ++e) columns[e * shape.latent + l] = halves[e];
        }
        for (int64_t group = 0; group < turned_.groups(); ++group) {
            const std::byte* rows[LatentShape::most_lanes] = {};
            int64_t e = group * turned_.lanes;
            for (int i = 0; i < turned_.lanes && e < shape.plain; ++i, ++e)
                rows[i] = reinterpret_cast<const std::byte*>(columns + e * shape.latent);
            pack_group(turned_.dtype, turned_.lanes, shape.latent, rows,
                       memory_ + head * turned_.matrix_bytes() + group * turned_.group_bytes);
        }
    }
}

void LatentHeads::make(int32_t slot, int64_t cells, int64_t first, int64_t last,
                       const Worker& worker) const {
    int64_t chunk, last_chunk;
    worker.share((cells + chunk_cells - 1) / chunk_cells, chunk, last_chunk);
    for (int64_t begin = chunk * chunk_cells; chunk < last_chunk; ++chunk, begin += chunk_cells)
        make_chunk(slot, begin, std::min(chunk_cells, cells - begin), first, last, worker);
}

void LatentHeads::make_chunk(int32_t slot, int64_t begin, int64_t count, int64_t first,
                             int64_t last, const Worker& worker) const {
    const int64_t tiles = tiles_of(count), row_bytes = shape.aligned(shape.latent * 4);
    const int64_t k_bytes = shape.aligned(tiles * k_form_.bytes());
    const int64_t v_bytes = shape.aligned(tiles * v_form_.bytes());
    const int64_t y_bytes = chunk_cells * std::max(shape.plain, shape.value) * 4;
    uint8_t* const k_tiles = own_memory(k_bytes + v_bytes + row_bytes + y_bytes, worker);
    uint8_t* const v_tiles = k_tiles + k_bytes;
    auto* const row = reinterpret_cast<float*>(v_tiles + v_bytes);
    float* const y = row + row_bytes / 4;
    for (int64_t c = 0; c < tiles * tile_tokens; ++c) {
        const bool exists = c < count;
        if (exists)
            gguf::decode_row(latents.view.dtype, latents.row(slot, 0, begin + c),
                             {row, size_t(shape.latent)});
        const int64_t tile = c / tile_tokens;
        const int place = int(c % tile_tokens);
        k_form_.place(exists ? row : nullptr, k_tiles + tile * k_form_.bytes(), place);
        v_form_.place(exists ? row : nullptr, v_tiles + tile * v_form_.bytes(), place);
    }
    for (int64_t head = first; head < last; ++head) {
        uint8_t* const keys = place_of(head - first);
        make_rows(turned_, k_form_, head, k_tiles, count, y,
                  keys + begin * shape.plain * shape.made_bytes, worker);
        make_rows(v_b_, v_form_, head, v_tiles, count, y,
                  keys + keys_bytes() + begin * shape.value * shape.made_bytes, worker);
    }
}

// The product of a head's matrix with the latents of some cells, as rows of the cells.
void LatentHeads::make_rows(const HeldMatrix& matrix, const TileForm& form, int64_t head,
                            const uint8_t* tiles, int64_t count, float* y, uint8_t* to,
                            const Worker& worker) const {
    multiply_tiles(matrix, form, head,
                   {.first_group = 0,
                    .last_group = matrix.groups(),
                    .x = tiles,
                    .tokens = count,
                    .y = y,
                    .y_stride = matrix.rows},
                   worker);
    for (int64_t c = 0; c < count; ++c)
        isa_.encode(int(shape.made_dtype), y + c * matrix.rows, matrix.rows,
                    to + c * matrix.rows * shape.made_bytes);
}

}  // namespace tandem::kernels::cpu::ops
