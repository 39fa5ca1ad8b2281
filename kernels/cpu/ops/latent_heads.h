// Keys and values of each head of latent attention, made of the cache of latents for the heads that
// are at work:
//
//     k[head][cell] = sum over l of k_b[head][l] latent[cell][l]
//     v[head][cell] = v_b[head] latent[cell]
#pragma once

#include <algorithm>

#include "graph/ops/attend.h"
#include "kernels/cpu/cache.h"
#include "kernels/cpu/matrix.h"
#include "kernels/cpu/packing.h"

namespace tandem::kernels::cpu::ops {

// The extents of a linear to latents, attend, and a linear to values, and memory for heads.
struct LatentShape {
    // Of keys and values made, and of k_b, transposed. What is above 65504 becomes infinite.
    static constexpr auto made_dtype = gguf::DType::F16;
    static constexpr int64_t made_bytes = 2;
    // Memory for heads at work: for one at least, even where that takes more.
    static constexpr int64_t most_bytes = 128 << 20;

    int64_t heads = 0, plain = 0, rotary = 0, latent = 0, value = 0, cells = 0;

    LatentShape() = default;
    // Of operations of which the first and the last two are those.
    explicit LatentShape(std::span<const Operation> all) {
        const Operation &to_latent = all.front(), &mix = all[all.size() - 2];
        const graph::View& q = to_latent.inputs[0].view;
        const graph::View& cache = mix.inputs[graph::ops::keys_cache].view;
        heads = q.extents[2];
        plain = q.extents[3];
        rotary = mix.inputs[graph::ops::second_queries].view.extents[3];
        latent = mix.output.view.extents[3];
        value = all.back().output.view.extents[3];
        cells = cache.extents[cache.axes.size() - 2];
    }
    // Of a head at work, whose keys and values are made for the first `seen` cells.
    int64_t keys_bytes(int64_t seen) const { return aligned(seen * plain * made_bytes); }
    int64_t head_bytes(int64_t seen) const {
        return keys_bytes(seen) + aligned(seen * value * made_bytes);
    }
    // Memory is as much as some heads take that see all cells. Those that see less are more, as
    // many each time.
    int64_t room_bytes() const { return head_bytes(cells) * fitting(most_bytes, cells); }
    int64_t heads_at_once(int64_t seen) const {
        const int64_t most = fitting(room_bytes(), seen), times = (heads + most - 1) / most;
        return (heads + times - 1) / times;
    }
    int64_t transposed_bytes() const {
        auto bytes = [&](int lanes) {
            return packed_bytes(made_dtype, lanes, heads, plain, latent);
        };
        return aligned(std::max(bytes(most_lanes / 2), bytes(most_lanes)));  // of either variant
    }
    int64_t bytes() const { return transposed_bytes() + room_bytes(); }
    static constexpr int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

  private:
    int64_t fitting(int64_t bytes, int64_t seen) const {
        return std::clamp<int64_t>(bytes / head_bytes(seen), 1, heads);
    }
};

// Whether a step has fewer products with keys and values of its heads, which are made for all cells
// that it sees, than with latents: a head's query and a cell have as many as a key and a value are
// long. Sequences of a step share one answer. It follows from the whole step and from extents that
// no cut changes, so all devices and threads give the same.
bool heads_pay_off(const LatentShape& shape, const graph::Standing& step);

// Heads [first, last), for the first `cells` cells of a sequence.
struct HeadsAtWork {
    int32_t slot = 0;
    int64_t cells = 0, first = 0, last = 0;

    int64_t count() const { return last - first; }
};

struct LatentHeads {
    LatentHeads(const LatentShape& shape, const Operation& to_latent, const Operation& mix,
                const Operation& to_values, std::byte* memory, const Site& site);

    LatentShape shape;
    CacheRows latents;

    // Those of the head of that number at work.
    CacheHead keys(const HeadsAtWork& work, int64_t number) const {
        return rows_at(key_rows(work, number), work.cells, shape.plain);
    }
    CacheHead values(const HeadsAtWork& work, int64_t number) const {
        return rows_at(value_rows(work, number), work.cells, shape.value);
    }

    // By all members, with a barrier behind each: first k_b of all heads is transposed, then
    // keys and values of some heads are made.
    void transpose(const Worker& worker) const;
    void make(const HeadsAtWork& work, const Worker& worker) const;

  private:
    const Isa& isa_;
    HeldMatrix k_b_, v_b_, transposed_;  // of each head
    TileForm k_form_, v_form_;
    std::byte* memory_;  // of transposed_, then of heads at work

    uint8_t* key_rows(const HeadsAtWork& work, int64_t number) const {
        return reinterpret_cast<uint8_t*>(memory_) + shape.transposed_bytes() +
               number * shape.head_bytes(work.cells);
    }
    uint8_t* value_rows(const HeadsAtWork& work, int64_t number) const {
        return key_rows(work, number) + shape.keys_bytes(work.cells);
    }
    CacheHead rows_at(const uint8_t* rows, int64_t cells, int64_t length) const {
        return {.rows = rows,
                .stride = length * shape.made_bytes,
                .cells = cells,
                .type = int(shape.made_dtype),
                .length = length};
    }

    // Cells [begin, end) of heads [first, last), by number.
    struct Piece {
        int64_t begin = 0, end = 0, first = 0, last = 0;
    };
    void transpose_group(int64_t head, int64_t group, const Worker& worker) const;
    void make_rows(const HeldMatrix& matrix, const TileForm& form, const HeadsAtWork& work,
                   const Piece& piece, uint8_t* rows, const Worker& worker) const;
    void place(const TileForm& form, int32_t slot, const Piece& piece, float* row,
               uint8_t* tiles) const;
};

}  // namespace tandem::kernels::cpu::ops
