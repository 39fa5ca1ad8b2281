#include "kernels/cpu/ops/latent_heads.h"

#include <cstring>

#include "kernels/cpu/short_bf16.h"

namespace tandem::kernels::cpu::ops {

namespace {

// Of the most cells that a member takes at a time.
constexpr int64_t chunk_tiles = 8;
// To transpose an element of k_b takes as long as so many products. Measured with 16 heads of
// DeepSeek on a Zen 4: 0.6 ns an element of Q8_0 and 1.2 ns of F16, against 45 products in a
// nanosecond that heads save in prompts of 64 to 128 tokens. From 64 and from 80 tokens on, heads
// were faster; this says from 74 on.
constexpr int64_t transposing_products = 32;

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
        if (!positions.empty()) cells += positions.back() + 1;
    }
    const int64_t of_latents = 2 * shape.latent + shape.rotary;
    const int64_t of_heads = shape.plain + shape.rotary + shape.value;
    const int64_t to_make = shape.latent * (shape.plain + shape.value);
    const int64_t to_transpose = transposing_products * shape.latent * shape.plain;
    return seen * of_heads + cells * to_make + to_transpose < seen * of_latents + tokens * to_make;
}

LatentHeads::LatentHeads(const LatentShape& extents, const Operation& to_latent,
                         const Operation& mix, const Operation& to_values, std::byte* memory,
                         const Site& site)
    : shape(extents),
      latents(site.view(mix.inputs[graph::ops::keys_cache])),
      isa_(site.isa),
      k_b_(held_matrix(to_latent.inputs[1], site, shape.heads)),
      v_b_(held_matrix(to_values.inputs[1], site, shape.heads)),
      transposed_{.dtype = shape.made_dtype,
                  .packed = true,
                  .data = memory,
                  .matrices = shape.heads,
                  .rows = shape.plain,
                  .columns = shape.latent,
                  .lanes = isa_.lanes,
                  .group_bytes = group_bytes(shape.made_dtype, isa_.lanes, shape.latent)},
      k_form_(tile_form_for(isa_, transposed_.dtype, shape.latent)),
      v_form_(tile_form_for(isa_, v_b_.dtype, shape.latent)),
      memory_(memory) {}

void LatentHeads::transpose(const Worker& worker) const {
    const int64_t groups = k_b_.groups();
    const auto [first, last] = worker.share(shape.heads * groups);
    for (int64_t i = first; i < last; ++i) transpose_group(i / groups, i % groups, worker);
}

// Packed, an element of the rows of a group stands side by side (packing.h): these are neighbours
// in a row of k_b.
void LatentHeads::transpose_group(int64_t head, int64_t group, const Worker& worker) const {
    const int64_t lanes = k_b_.lanes, stored_bytes = gguf::row_bytes(k_b_.dtype, shape.plain);
    const int64_t row_bytes = shape.plain * shape.made_bytes, some_bytes = lanes * shape.made_bytes;
    const int64_t floats_bytes = shape.aligned(lanes * shape.plain * 4);
    uint8_t* const own = own_memory(floats_bytes + lanes * (row_bytes + stored_bytes), worker);
    auto* const floats = reinterpret_cast<float*>(own);
    uint8_t* const rows = own + floats_bytes;
    decode_rows(k_b_.dtype, k_b_.lanes, shape.plain,
                reinterpret_cast<const std::byte*>(k_b_.group(head, group)), 0, k_b_.lanes,
                reinterpret_cast<std::byte*>(rows + lanes * row_bytes), floats);
    for (int64_t i = 0; i < lanes; ++i)
        isa_.encode(int(shape.made_dtype), floats + i * shape.plain, shape.plain,
                    rows + i * row_bytes);
    std::byte* to = memory_ + head * transposed_.matrix_bytes();
    for (int64_t from = 0; from < row_bytes; from += some_bytes, to += transposed_.group_bytes) {
        if (group == 0) begin_plain(transposed_.dtype, k_b_.lanes, shape.latent, to);
        std::byte* const columns = to + sizeof(FloatHead) + group * lanes * some_bytes;
        for (int64_t i = 0; i < lanes; ++i)
            std::memcpy(columns + i * some_bytes, rows + i * row_bytes + from, size_t(some_bytes));
    }
}

// The members share the products of chunks of cells with matrices of heads, of a chunk first those
// that make keys: no member makes much more than others, and most of them place a chunk once.
void LatentHeads::make(const HeadsAtWork& work, const Worker& worker) const {
    const int64_t heads = work.count(), tiles = tiles_of(work.cells);
    const int64_t for_all = (worker.count + 2 * heads - 1) / (2 * heads);
    const int64_t chunks = std::clamp(for_all, (tiles + chunk_tiles - 1) / chunk_tiles, tiles);
    auto [first, last] = worker.share(chunks * 2 * heads);
    for (int64_t chunk = first / (2 * heads); first < last; ++chunk) {
        const int64_t before = chunk * 2 * heads, end = std::min(last, before + 2 * heads);
        Piece piece{.begin = tiles * chunk / chunks * tile_tokens,
                    .end = std::min(work.cells, tiles * (chunk + 1) / chunks * tile_tokens)};
        piece.first = first - before;
        piece.last = std::min(end - before, heads);
        make_rows(transposed_, k_form_, work, piece, key_rows(work, 0), worker);
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
