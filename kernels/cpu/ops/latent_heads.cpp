#include "kernels/cpu/ops/latent_heads.h"

namespace tandem::kernels::cpu::ops {

namespace {

// Of the most cells that a member takes at a time.
constexpr int64_t chunk_tiles = 8;

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

// The members share the products of chunks of cells with matrices of heads, of a chunk first those
// that make keys: no member makes much more than others, and most of them place a chunk once.
void LatentHeads::make(const HeadsAtWork& work, const Worker& worker) const {
    const int64_t heads = work.count(), tiles = tiles_of(work.cells);
    const int64_t for_all = (worker.count + 2 * heads - 1) / (2 * heads);
    const int64_t chunks = std::clamp(for_all, (tiles + chunk_tiles - 1) / chunk_tiles, tiles);
    int64_t first, last;
    worker.share(chunks * 2 * heads, first, last);
    for (int64_t chunk = first / (2 * heads); first < last; ++chunk) {
        const int64_t before = chunk * 2 * heads, end = std::min(last, before + 2 * heads);
        Piece piece{.begin = tiles * chunk / chunks * tile_tokens,
                    .end = std::min(work.cells, tiles * (chunk + 1) / chunks * tile_tokens)};
        piece.first = first - before;
        piece.last = std::min(end - before, heads);
        make_rows(turned_, k_form_, work, piece, key_rows(work, 0), worker);
        piece.first = std::max<int64_t>(0, first - before - heads);
        piece.last = end - before - heads;
        make_rows(v_b_, v_form_, work, piece, value_rows(work, 0), worker);
        first = end;
    }
}

// The products of heads' matrices with the latents of some cells, as rows of the cells. `rows`: of
// the head of number 0.
void LatentHeads::make_rows(const HeldMatrix& matrix, const TileForm& form, const HeadsAtWork& work,
                            const Piece& piece, uint8_t* rows, const Worker& worker) const {
    if (piece.first >= piece.last) return;
    const int64_t count = piece.end - piece.begin, row_bytes = matrix.rows * shape.made_bytes;
    const int64_t tiles_bytes = shape.aligned(tiles_of(count) * form.bytes());
    uint8_t* const tiles =
        own_memory(tiles_bytes + std::max(shape.latent, count * matrix.rows) * 4, worker);
    auto* const y = reinterpret_cast<float*>(tiles + tiles_bytes);
    place(form, work.slot, piece, y, tiles);
    for (int64_t number = piece.first; number < piece.last; ++number) {
        multiply_tiles(matrix, form, work.first + number,
                       {.first_group = 0,
                        .last_group = matrix.groups(),
                        .x = tiles,
                        .tokens = count,
                        .y = y,
                        .y_stride = matrix.rows},
                       worker);
        uint8_t* to = rows + number * shape.head_bytes(work.cells) + piece.begin * row_bytes;
        for (int64_t c = 0; c < count; ++c, to += row_bytes)
            isa_.encode(int(shape.made_dtype), y + c * matrix.rows, matrix.rows, to);
    }
}

// Latents of the piece's cells as tiles. `row`: memory for one.
void LatentHeads::place(const TileForm& form, int32_t slot, const Piece& piece, float* row,
                        uint8_t* tiles) const {
    const int64_t count = piece.end - piece.begin;
    for (int64_t c = 0; c < tiles_of(count) * tile_tokens; ++c) {
        const bool exists = c < count;
        if (exists)
            gguf::decode_row(latents.view.dtype, latents.row(slot, 0, piece.begin + c),
                             {row, size_t(shape.latent)});
        form.place(exists ? row : nullptr, tiles + c / tile_tokens * form.bytes(),
                   int(c % tile_tokens));
    }
}

}  // namespace tandem::kernels::cpu::ops
