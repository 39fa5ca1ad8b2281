// moe_ffn on the CPU: tokens gathered by expert, each chosen expert run once over all its tokens.
//
// A `choice` is one expert for one token; choices are ordered by expert. Three products and what
// lies between them are phases of one launch, between which the team meets.
#include "graph/ops/moe_ffn.h"

#include "kernels/cpu/forms.h"
#include "kernels/cpu/matrix.h"
#include "kernels/cpu/rows.h"

namespace tandem::kernels::cpu::ops {

namespace {

using namespace graph::ops;

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// Where the launch keeps what, in its scratch memory.
struct Room {
    int64_t choices = 0, tokens = 0, embd = 0, ffn = 0, experts = 0;
    int64_t gate_x = 0, up_x = 0;               // inputs in the forms of gate and up
    int64_t hidden_gate = 0, hidden_up = 0;     // f32 [choices ffn]
    int64_t hidden = 0;                         // in the form of down
    int64_t token = 0, weight = 0, offset = 0;  // of each choice; where each expert's begin
    int64_t expert = 0;                         // of each choice, counted over those held here
    int64_t bytes = 0;

    explicit Room(const Operation& operation) {
        const graph::View &x = operation.inputs[moe_x].view, &ids = operation.inputs[moe_ids].view;
        const graph::View& gate = operation.inputs[moe_gate].view;
        tokens = x.extents[0];
        embd = x.extents[1];
        choices = tokens * ids.extents[1];
        experts = gate.extents[0];
        ffn = gate.extents[1];
        gate_x = take(form_bytes(gate.dtype, tokens, embd));
        up_x = take(form_bytes(operation.inputs[moe_up].view.dtype, tokens, embd));
        hidden_gate = take(choices * ffn * 4);
        hidden_up = take(choices * ffn * 4);
        hidden = take(form_bytes(operation.inputs[moe_down].view.dtype, choices, ffn));
        token = take(choices * 4);
        weight = take(choices * 4);
        offset = take((experts + 1) * 4);
        expert = take(choices * 4);
    }
    static int64_t form_bytes(gguf::DType dtype, int64_t rows, int64_t columns) {
        int64_t block = form_block(dtype);
        return block == 0 ? 0 : rows * q8_row(columns, block).bytes;
    }
    int64_t take(int64_t size) {
        int64_t at = bytes;
        bytes += aligned(size);
        return at;
    }
};

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    return is(operation, "moe_ffn") && as_rows(operation.inputs[moe_x].view, 1) &&
                   as_rows(operation.output.view, 1)
               ? 1
               : 0;
}

int64_t scratch_bytes(std::span<const Operation> claimed) { return Room(claimed[0]).bytes; }

struct MoeFfn {
    Site site;
    Room room;
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
    // The block of the form in which a matrix reads its operand; 0: f32 rows.
    static int64_t block_read_by(const HeldMatrix& matrix) {
        return matrix.packed ? form_block(matrix.dtype) : 0;
    }
    bool one_form_for_both() const { return block_read_by(up) == block_read_by(gate); }

    void run(const Worker& worker) const {
        if (worker.index == 0) order_choices();
        prepare(x, tokens(), gate, room.gate_x, worker);
        if (!one_form_for_both()) prepare(x, tokens(), up, room.up_x, worker);
        worker.barrier->wait();
        each_expert([&](int64_t expert, int64_t first, int64_t count) {
            hidden_product(gate, room.gate_x, room.hidden_gate, expert, first, count, worker);
            hidden_product(up, one_form_for_both() ? room.gate_x : room.up_x, room.hidden_up,
                           expert, first, count, worker);
        });
        worker.barrier->wait();
        activate(worker);
        worker.barrier->wait();
        clear(worker);
        each_expert([&](int64_t expert, int64_t first, int64_t count) {
            down_product(expert, first, count, worker);
        });
    }

    // Counting sort of the choices that fall to experts held here.
    void order_choices() const {
        auto *token = at<int32_t>(room.token), *offset = at<int32_t>(room.offset);
        auto* weight = at<float>(room.weight);
        auto* id = reinterpret_cast<const int32_t*>(ids.data);
        auto* w = reinterpret_cast<const float*>(weights.data);
        int64_t used = ids.extents[1], choices = tokens() * used;
        std::fill_n(offset, room.experts + 1, 0);
        auto expert = [&](int64_t i) {
            return int64_t(id[i / used * ids.strides[0] + i % used * ids.strides[1]]) -
                   first_expert;
        };
        auto held = [&](int64_t e) { return e >= 0 && e < room.experts; };
        for (int64_t i = 0; i < choices; ++i)
            if (held(expert(i))) ++offset[expert(i) + 1];
        for (int64_t e = 0; e < room.experts; ++e) offset[e + 1] += offset[e];
        std::vector<int32_t> next(offset, offset + room.experts);
        for (int64_t i = 0; i < choices; ++i) {
            if (!held(expert(i))) continue;
            int32_t to = next[size_t(expert(i))]++;
            token[to] = int32_t(i / used);
            weight[to] = w[i / used * weights.strides[0] + i % used * weights.strides[1]];
            at<int32_t>(room.expert)[to] = int32_t(expert(i));
            if (down_scale) weight[to] *= down_scale[first_expert + expert(i)];
        }
    }

    template <typename Each>
    void each_expert(Each each) const {
        auto* offset = at<const int32_t>(room.offset);
        for (int64_t e = 0; e < room.experts; ++e)
            if (offset[e + 1] > offset[e]) each(e, offset[e], offset[e + 1] - offset[e]);
    }

    // Rows in the form that a matrix reads; nothing to do for f32.
    void prepare(const Rows& rows, int64_t count, const HeldMatrix& reader, int64_t to,
                 const Worker& worker) const {
        int64_t block = block_read_by(reader);
        if (block == 0) return;
        int64_t first, last, bytes = q8_row(rows.length, block).bytes;
        worker.share(count, first, last);
        for (int64_t r = first; r < last; ++r)
            site.isa.quantize(rows.row(r), rows.length, block, at<uint8_t>(to) + r * bytes);
    }

    // gate or up: all tokens of an expert against this worker's groups of its rows.
    void hidden_product(const HeldMatrix& matrix, int64_t form, int64_t to, int64_t expert,
                        int64_t first, int64_t count, const Worker& worker) const {
        Product product{.tokens = count,
                        .x_rows = at<const int32_t>(room.token) + first,
                        .y = at<float>(to) + first * room.ffn,
                        .y_stride = room.ffn};
        int64_t block = block_read_by(matrix);
        product.x = block ? at<const uint8_t>(form) : reinterpret_cast<const uint8_t*>(x.data);
        product.x_stride = block ? q8_row(room.embd, block).bytes : x.stride * 4;
        worker.share(matrix.groups(), product.first_group, product.last_group);
        multiply(matrix, site.isa, expert, product, worker);
    }

    void scale_and_shift(float* row, const float* scales, const float* biases,
                         int64_t expert) const {
        if (scales)
            for (int64_t f = 0; f < room.ffn; ++f) row[f] *= scales[first_expert + expert];
        if (biases) site.isa.add(row, biases + expert * room.ffn, row, room.ffn);
    }

    void activate(const Worker& worker) const {
        int64_t first, last, choices = at<const int32_t>(room.offset)[room.experts];
        worker.share(choices, first, last);
        int64_t block = block_read_by(down);
        int64_t bytes = block ? q8_row(room.ffn, block).bytes : 0;
        for (int64_t i = first; i < last; ++i) {
            float* row = at<float>(room.hidden_gate) + i * room.ffn;
            float* up_row = at<float>(room.hidden_up) + i * room.ffn;
            int64_t expert = at<const int32_t>(room.expert)[i];
            scale_and_shift(row, gate_scale, gate_bias, expert);
            scale_and_shift(up_row, up_scale, up_bias, expert);
            unit(row, up_row, row, room.ffn);
            if (block)
                site.isa.quantize(row, room.ffn, block, at<uint8_t>(room.hidden) + i * bytes);
        }
    }

    // This worker's groups of down's rows: nobody else touches those elements of y.
    void clear(const Worker& worker) const {
        int64_t first, last;
        worker.share(down.groups(), first, last);
        first *= down.lanes;
        last = std::min(last * down.lanes, room.embd);
        for (int64_t t = 0; t < tokens(); ++t)
            std::fill(y.row(t) + first, y.row(t) + std::max(first, last), 0.0f);
    }

    void down_product(int64_t expert, int64_t first, int64_t count, const Worker& worker) const {
        int64_t block = block_read_by(down);
        int64_t stride = block ? q8_row(room.ffn, block).bytes : room.ffn * 4;
        Product product{
            .x = at<const uint8_t>(block ? room.hidden : room.hidden_gate) + first * stride,
            .x_stride = stride,
            .tokens = count,
            .y = y.data,
            .y_stride = y.stride,
            .y_rows = at<const int32_t>(room.token) + first,
            .weights = at<const float>(room.weight) + first};
        worker.share(down.groups(), product.first_group, product.last_group);
        multiply(down, site.isa, expert, product, worker);
    }
};

auto gated_unit(const Isa& isa, std::string_view name) {
    if (name == "clamped_swiglu") return isa.clamped_swiglu;
    return name == "silu" ? isa.silu_mul : isa.gelu_mul;
}

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    graph::View x = site.view(operation.inputs[moe_x]);
    auto vector = [&](size_t operand) -> const float* {
        return reinterpret_cast<const float*>(site.view(operation.inputs[operand]).data);
    };
    MoeFfn moe{.site = site,
               .room = Room(operation),
               .x = *as_rows(x, 1),
               .y = *as_rows(site.view(operation.output), 1),
               .x_view = x,
               .ids = site.view(operation.inputs[moe_ids]),
               .weights = site.view(operation.inputs[moe_weights]),
               .gate = held_matrix(operation.inputs[moe_gate], site, true),
               .up = held_matrix(operation.inputs[moe_up], site, true),
               .down = held_matrix(operation.inputs[moe_down], site, true),
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
