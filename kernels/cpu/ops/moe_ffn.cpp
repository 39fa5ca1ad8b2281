// moe_ffn on the CPU: tokens gathered by expert, each chosen expert run once over all its tokens.
//
//   for each token t, for each expert e of ids[t]:
//     gate = gate_scale[e] Wgate[e] x[t] + gate_bias[e]        up likewise
//     y[t] += weights[t, e] down_scale[e] Wdown[e] unit(gate, up)
//
// A `choice` is one expert for one token; choices are ordered by expert. Three products and what
// lies between them are phases of one launch, between which the team meets. Experts with many
// choices read them in tiles, of which none belongs to two experts; the others read rows.
#include "graph/ops/moe_ffn.h"

#include <algorithm>

#include "gguf/error.h"
#include "kernels/cpu/forms.h"
#include "kernels/cpu/matrix.h"
#include "kernels/cpu/ops/moe_room.h"
#include "kernels/cpu/rows.h"

namespace tandem::kernels::cpu::ops {

namespace {

using namespace graph::ops;

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    return is(operation, "moe_ffn") && as_rows(operation.inputs[moe_x].view, 1) &&
                   as_rows(operation.output.view, 1)
               ? 1
               : 0;
}

int64_t scratch_bytes(std::span<const Operation> claimed) { return MoeRoom(claimed[0]).bytes; }

// Gate or up: the offsets in scratch memory of what it reads and writes.
struct Projection {
    const HeldMatrix& matrix;
    int64_t rows = 0, tiles = 0;  // its operands
    int64_t hidden = 0;           // f32 [choices ffn]
};

struct MoeFfn {
    Site site;
    MoeRoom room;
    Rows x, y;
    graph::View x_view, ids, weights;
    HeldMatrix gate, up, down;
    const float *gate_scale = nullptr, *up_scale = nullptr, *down_scale = nullptr;  // by expert
    const float *gate_bias = nullptr, *up_bias = nullptr;  // [experts held here, ffn]
    int64_t first_expert = 0;
    void (*unit)(const float* gate, const float* up, float* y, int64_t count) = nullptr;
    std::byte* scratch = nullptr;

    template <typename T>
    T* at(int64_t offset) const {
        return reinterpret_cast<T*>(scratch + offset);
    }
    int64_t tokens() const { return live_count(x_view, site.inputs()); }
    // Of the rows in which a matrix reads its operand; f32 where it is not packed, too.
    static Codes codes_read_by(const HeldMatrix& matrix) {
        return matrix.packed ? codes_for(matrix.dtype) : Codes{};
    }
    bool one_form_for_both() const {
        return codes_read_by(up) == codes_read_by(gate) &&
               (!room.tiled || tile_form(up, room.embd) == tile_form(gate, room.embd));
    }
    TileForm tile_form(const HeldMatrix& reader, int64_t columns) const {
        return reader.packed ? tile_form_for(site.isa, reader.dtype, columns) : TileForm{};
    }
    // Choices are numbered in the order of their experts; those of experts held elsewhere are not.
    int64_t first_choice(int64_t expert) const {
        return at<const int32_t>(room.first_choice)[expert];
    }
    int64_t choices_of(int64_t expert) const {
        return first_choice(expert + 1) - first_choice(expert);
    }
    int64_t all_choices() const { return first_choice(room.experts); }
    int64_t expert_of(int64_t choice) const {
        return at<const int32_t>(room.expert_of_choice)[choice];
    }
    int64_t first_tile(int64_t expert) const { return at<const int32_t>(room.first_tile)[expert]; }
    // Whether an expert with so many reads them in tiles, in all of its matrices. Tiles pay off
    // with fewer on matrix units, where sums in halves of lanes make them much faster than rows,
    // and where rows would round more.
    bool many(int64_t choices) const {
        constexpr int64_t most_unpacked_in_rows = 16;  // twice as many as pass at a time
        const bool early = site.isa.reduced == Reduced::AllTypes || site.isa.sums_in_halves ||
                           has_few_levels(gate.dtype) || has_few_levels(up.dtype) ||
                           has_few_levels(down.dtype);
        return room.tiled && choices > (early ? most_tokens_in_rows : most_unpacked_in_rows);
    }
    bool reads_tiles(int64_t expert) const { return many(choices_of(expert)); }

    void run(const Worker& worker) const {
        if (worker.index == 0) order_choices();
        if (room.tiled) worker.barrier->wait();  // only tiles follow the order
        const bool one = one_form_for_both();
        const Projection to_gate{gate, room.gate_x, room.gate_tiles, room.hidden_gate};
        const Projection to_up{up, one ? room.gate_x : room.up_x,
                               one ? room.gate_tiles : room.up_tiles, room.hidden_up};
        prepare(to_gate, worker);
        if (!one) prepare(to_up, worker);
        worker.barrier->wait();
        deal_experts(gate, worker, [&](const Worker& member, int64_t expert, Range groups) {
            hidden_product(to_gate, expert, groups, groups_of(up, expert, groups.first), member);
            const bool ends = groups.last == gate.groups();
            hidden_product(to_up, expert, groups,
                           ends ? groups_of(gate, next_expert(expert), 0)
                                : groups_of(gate, expert, groups.last),
                           member);
        });
        worker.barrier->wait();
        activate(worker);
        worker.barrier->wait();
        // The experts add up in y, so its rows are dealt: nobody else touches those of a member.
        const int64_t step = step_of(down);
        const int64_t steps = (down.groups() + step - 1) / step;
        auto multiply_rows = [&](const Worker& member, Range part) {
            const Range groups{part.first * step, std::min(part.last * step, down.groups())};
            clear(groups);
            each_expert([&](int64_t expert) { down_product(expert, groups, member); });
        };
        worker.deal(steps, 2, multiply_rows, parts_for(tokens()));
    }

    // Counting sort of the choices that fall to experts held here.
    void order_choices() const {
        auto *token = at<int32_t>(room.token), *begin = at<int32_t>(room.first_choice);
        auto* weight = at<float>(room.weight);
        auto* id = reinterpret_cast<const int32_t*>(ids.data);
        auto* w = reinterpret_cast<const float*>(weights.data);
        int64_t used = ids.extents[1], choices = tokens() * used;
        std::fill_n(begin, room.experts + 1, 0);
        auto expert = [&](int64_t i) {
            return int64_t(id[i / used * ids.strides[0] + i % used * ids.strides[1]]) -
                   first_expert;
        };
        auto held = [&](int64_t e) { return e >= 0 && e < room.experts; };
        for (int64_t i = 0; i < choices; ++i)
            if (held(expert(i))) ++begin[expert(i) + 1];
        auto* tile = at<int32_t>(room.first_tile);
        tile[0] = 0;
        for (int64_t e = 0; e < room.experts; ++e) {
            int64_t tiles = many(begin[e + 1]) ? tiles_of(begin[e + 1]) : 0;
            tile[e + 1] = tile[e] + int32_t(tiles);
            begin[e + 1] += begin[e];
        }
        for (int64_t i = 0; i < choices; ++i) {
            if (!held(expert(i))) continue;
            int32_t to = begin[expert(i)]++;
            token[to] = int32_t(i / used);
            weight[to] = w[i / used * weights.strides[0] + i % used * weights.strides[1]];
            at<int32_t>(room.expert_of_choice)[to] = int32_t(expert(i));
            if (down_scale) weight[to] *= down_scale[first_expert + expert(i)];
        }
        // Each now stands where the next one begins.
        std::copy_backward(begin, begin + room.experts, begin + room.experts + 1);
        begin[0] = 0;
    }

    // The one after `expert` that has choices; at the end the last.
    int64_t next_expert(int64_t expert) const {
        int64_t next = expert + 1;
        while (next < room.experts && choices_of(next) == 0) ++next;
        return next < room.experts ? next : expert;
    }
    // Those from the group `first` on, for products to ask for; null: none.
    static const uint8_t* groups_of(const HeldMatrix& matrix, int64_t expert, int64_t first) {
        return matrix.packed ? matrix.group(expert, first) : nullptr;
    }

    template <typename Each>
    void each_expert(Each each) const {
        for (int64_t e = 0; e < room.experts; ++e)
            if (choices_of(e) > 0) each(e);
    }

    // Groups of a matrix that are dealt together.
    int64_t step_of(const HeldMatrix& matrix) const {
        const TileForm form = tile_form(matrix, matrix.columns);
        return room.tiled && form ? form.groups() : 1;
    }
    // What a step of an expert's groups costs, in products with one choice: to bring the weights
    // there is about as much work as to multiply them by a tile.
    int64_t cost_of(int64_t expert) const {
        constexpr int64_t bringing = tile_tokens;
        return choices_of(expert) + bringing;
    }
    // Calls each(member, expert, some of its groups) so that the groups of all experts are dealt to
    // the team by what they cost: experts are chosen unequally often.
    template <typename Each>
    void deal_experts(const HeldMatrix& matrix, const Worker& worker, Each each) const {
        const int64_t step = step_of(matrix), steps = (matrix.groups() + step - 1) / step;
        int64_t all = 0, chosen = 0;
        each_expert([&](int64_t expert) { all += steps * cost_of(expert), ++chosen; });
        const int64_t two_steps =
            std::max<int64_t>(1, 2 * all / std::max<int64_t>(1, chosen * steps));
        auto run_steps = [&](const Worker& member, Range part) {
            int64_t begin = 0;
            each_expert([&](int64_t expert) {
                const int64_t cost = cost_of(expert);
                // Steps that begin before `at`.
                auto before = [&](int64_t at) {
                    return std::clamp<int64_t>((at - begin + cost - 1) / cost, 0, steps);
                };
                const Range groups{before(part.first) * step,
                                   std::min(matrix.groups(), before(part.last) * step)};
                begin += steps * cost;
                if (groups.first < groups.last) each(member, expert, groups);
            });
        };
        worker.deal(all, two_steps, run_steps, parts_for(tokens()));
    }

    // Puts a row in the place of a choice; the last choice of an expert clears the places behind
    // its own.
    void place(const TileForm& form, const float* row, int64_t choice, int64_t tiles) const {
        int64_t expert = expert_of(choice);
        int64_t rank = choice - first_choice(expert);
        int64_t number = first_tile(expert) + rank / tile_tokens;
        uint8_t* tile = at<uint8_t>(tiles) + number * form.bytes();
        int place = int(rank % tile_tokens);
        form.place(row, tile, place);
        if (rank + 1 < choices_of(expert)) return;
        while (++place < tile_tokens) form.place(nullptr, tile, place);
    }

    // The tokens in the forms that a matrix reads; rows of f32 are read as they lie.
    void prepare(const Projection& reader, const Worker& worker) const {
        const Codes codes = codes_read_by(reader.matrix);
        bool rows = !room.tiled;
        if (room.tiled) each_expert([&](int64_t expert) { rows = rows || !reads_tiles(expert); });
        const Range own_tokens = worker.share(tokens());
        for (int64_t r = own_tokens.first; rows && codes.block > 0 && r < own_tokens.last; ++r)
            codes.quantize(site.isa, x.row(r), x.length,
                           at<uint8_t>(reader.rows) + r * q8_row(x.length, codes.block).bytes);
        const TileForm form = tile_form(reader.matrix, room.embd);
        if (!room.tiled || !form) return;
        const auto [first, last] = worker.share(all_choices());
        for (int64_t i = first; i < last; ++i)
            if (reads_tiles(expert_of(i)))
                place(form, x.row(at<const int32_t>(room.token)[i]), i, reader.tiles);
    }

    // A product of all choices of an expert and some groups of its rows, whose operand is in tiles
    // where it has many and the matrix reads them. Else `rows` are its own.
    void multiply_choices(const HeldMatrix& matrix, int64_t tiles, int64_t expert, Range groups,
                          Product rows, const Worker& worker) const {
        rows.tokens = choices_of(expert);
        rows.first_group = groups.first;
        rows.last_group = groups.last;
        const TileForm form = tile_form(matrix, matrix.columns);
        if (!form || !reads_tiles(expert)) return multiply(matrix, site.isa, expert, rows, worker);
        rows.x = at<const uint8_t>(tiles) + first_tile(expert) * form.bytes();
        rows.x_rows = nullptr;
        multiply_tiles(matrix, form, expert, rows, worker);
    }

    // Asks for the groups at `then` behind its own.
    void hidden_product(const Projection& projection, int64_t expert, Range groups,
                        const uint8_t* then, const Worker& worker) const {
        const HeldMatrix& matrix = projection.matrix;
        int64_t first = first_choice(expert), block = codes_read_by(matrix).block;
        multiply_choices(matrix, projection.tiles, expert, groups,
                         {.then = then,
                          .x = block ? at<const uint8_t>(projection.rows)
                                     : reinterpret_cast<const uint8_t*>(x.data),
                          .x_stride = block ? q8_row(room.embd, block).bytes : x.stride * 4,
                          .x_rows = at<const int32_t>(room.token) + first,
                          .y = at<float>(projection.hidden) + first * room.ffn,
                          .y_stride = room.ffn},
                         worker);
    }

    void scale_and_shift(float* row, const float* scales, const float* biases,
                         int64_t expert) const {
        if (scales)
            for (int64_t f = 0; f < room.ffn; ++f) row[f] *= scales[first_expert + expert];
        if (biases) site.isa.add(row, biases + expert * room.ffn, row, room.ffn);
    }

    void activate(const Worker& worker) const {
        const auto [first, last] = worker.share(all_choices());
        const Codes codes = codes_read_by(down);
        int64_t bytes = codes.block > 0 ? q8_row(room.ffn, codes.block).bytes : 0;
        const TileForm form = tile_form(down, room.ffn);
        for (int64_t i = first; i < last; ++i) {
            float* row = at<float>(room.hidden_gate) + i * room.ffn;
            float* up_row = at<float>(room.hidden_up) + i * room.ffn;
            int64_t expert = expert_of(i);
            scale_and_shift(row, gate_scale, gate_bias, expert);
            scale_and_shift(up_row, up_scale, up_bias, expert);
            unit(row, up_row, row, room.ffn);
            if (form && reads_tiles(expert))
                place(form, row, i, room.hidden_tiles);
            else if (codes.block > 0)
                codes.quantize(site.isa, row, room.ffn, at<uint8_t>(room.hidden) + i * bytes);
        }
    }

    void clear(Range groups) const {
        const int64_t first = groups.first * down.lanes;
        const int64_t last = std::min(groups.last * down.lanes, room.embd);
        for (int64_t t = 0; t < tokens(); ++t) std::fill(y.row(t) + first, y.row(t) + last, 0.0f);
    }

    void down_product(int64_t expert, Range groups, const Worker& worker) const {
        int64_t first = first_choice(expert), block = codes_read_by(down).block;
        int64_t stride = block ? q8_row(room.ffn, block).bytes : room.ffn * 4;
        multiply_choices(
            down, room.hidden_tiles, expert, groups,
            {.then = groups_of(down, next_expert(expert), groups.first),
             .x = at<const uint8_t>(block ? room.hidden : room.hidden_gate) + first * stride,
             .x_stride = stride,
             .y = y.data,
             .y_stride = y.stride,
             .y_rows = at<const int32_t>(room.token) + first,
             .weights = at<const float>(room.weight) + first},
            worker);
    }
};

auto gated_unit(const Isa& isa, std::string_view name) {
    if (name == "clamped_swiglu") return isa.clamped_swiglu;
    if (name == "silu") return isa.silu_mul;
    check(name == "gelu", "a gated unit is silu, gelu or clamped_swiglu");
    return isa.gelu_mul;
}

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    graph::View x = site.view(operation.inputs[moe_x]);
    auto vector = [&](size_t operand) -> const float* {
        return reinterpret_cast<const float*>(site.view(operation.inputs[operand]).data);
    };
    auto stack = [&](size_t operand) {
        const Operand& experts = operation.inputs[operand];
        return held_matrix(experts, site, experts.view.extents[0]);
    };
    MoeFfn moe{.site = site,
               .room = MoeRoom(operation),
               .x = *as_rows(x, 1),
               .y = *as_rows(site.view(operation.output), 1),
               .x_view = x,
               .ids = site.view(operation.inputs[moe_ids]),
               .weights = site.view(operation.inputs[moe_weights]),
               .gate = stack(moe_gate),
               .up = stack(moe_up),
               .down = stack(moe_down),
               .gate_scale = vector(moe_gate_scale),
               .up_scale = vector(moe_up_scale),
               .down_scale = vector(moe_down_scale),
               .gate_bias = vector(moe_gate_bias),
               .up_bias = vector(moe_up_bias),
               .first_expert = operation.inputs[moe_gate].view.begins[0],
               .unit = gated_unit(site.isa, operation.node->attributes.word("activation")),
               .scratch = site.scratch(launch)};
    return [moe](const Worker& worker) { moe.run(worker); };
}

}  // namespace

extern const CpuKernel moe_ffn{
    .name = "moe_ffn", .claim = claim, .bind = bind, .scratch_bytes = scratch_bytes};

}  // namespace tandem::kernels::cpu::ops
