// linear on the CPU where x has W's first row axes as well: x [tokens heads... k...] and
// W [heads... n... k...] make y [tokens heads... n...], a product for each head.
//
// W is packed as one matrix of all its rows. Where whole groups make up a head's rows, that is the
// same as a stack of matrices. Every head's x is brought to the form in which the matrices read it,
// and the members share the groups of all heads.
#include "kernels/cpu/forms.h"
#include "kernels/cpu/matrix.h"
#include "kernels/cpu/packing.h"
#include "kernels/cpu/rows.h"

namespace tandem::kernels::cpu::ops {

namespace {

// Where a member has that many heads, it brings x of one after the other to its form, just before
// their products: it is still in a near cache then, and nobody waits.
constexpr int64_t heads_for_one = 4;

// How many axes the heads have; 0: x and W are not of the shapes above.
size_t head_axes(const Operation& operation) {
    const graph::View &x = operation.inputs[0].view, &w = operation.inputs[1].view;
    const size_t row_axes = w.axes.size() - w.columns;
    if (x.axes.size() <= w.columns + 1) return 0;
    const size_t heads = x.axes.size() - w.columns - 1;
    if (heads >= row_axes || contains(w.axes, x.axes[0])) return 0;
    for (size_t i = 1; i < x.axes.size(); ++i)
        if (x.axes[i] != w.axes[i <= heads ? i - 1 : row_axes + i - heads - 1]) return 0;
    return heads;
}

int64_t heads_of(const Operation& operation) {
    const graph::View& w = operation.inputs[1].view;
    int64_t heads = 1;
    for (size_t i = 0; i < head_axes(operation); ++i) heads *= w.extents[i];
    return heads;
}

// The rows of all tokens, each with all its heads.
std::optional<Rows> whole_rows(const graph::View& view) {
    return as_rows(view, view.axes.size() - 1);
}

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    if (!is(operation, "linear") || head_axes(operation) == 0) return 0;
    const Operand& weight = operation.inputs[1];
    const int64_t heads = heads_of(operation);
    if (heads == 0 || weight.view.rows() / heads % most_lanes != 0) return 0;
    bool rows = whole_rows(operation.inputs[0].view) && whole_rows(operation.output.view);
    return rows && is_packed(weight.view.dtype, weight.use) ? 1 : 0;
}

int64_t scratch_bytes(std::span<const Operation> claimed) {
    const graph::View &x = claimed[0].inputs[0].view, &w = claimed[0].inputs[1].view;
    const int64_t columns = w.row_length(), block = codes_for(w.dtype).block;
    int64_t head = 0;
    if (in_tiles(x))
        head = tiles_of(x.extents[0]) * most_tile_bytes(w.dtype, columns);
    else if (block > 0)
        head = x.extents[0] * q8_row(columns, block).bytes;
    return heads_of(claimed[0]) * head;
}

struct Batched {
    Site site;
    graph::View x_view;
    Rows x, y;
    HeldMatrix matrix;            // of each head
    TileForm form;                // of x, if it is in tiles
    Codes codes;                  // else of its rows, which without are read as they lie
    int64_t capacity = 0;         // tokens
    uint8_t* prepared = nullptr;  // [heads] of tiles or rows

    const float* row(int64_t token, int64_t head) const {
        return x.row(token) + head * matrix.columns;
    }
    // Bytes of a tile of tokens, or of one token's row.
    int64_t piece_bytes() const {
        if (form) return form.bytes();
        return codes.block > 0 ? q8_row(matrix.columns, codes.block).bytes : x.stride * 4;
    }
    // Of a head; none where x is read as it lies.
    int64_t pieces(int64_t tokens) const {
        if (form) return tiles_of(tokens);
        return codes.block > 0 ? tokens : 0;
    }
    int64_t head_bytes() const { return pieces(capacity) * piece_bytes(); }

    void run(const Worker& worker) const {
        const int64_t tokens = live_count(x_view, site.inputs()), groups = matrix.groups();
        const bool alone = matrix.matrices >= heads_for_one * worker.count;
        if (!alone && pieces(tokens) > 0) prepare_together(tokens, worker);
        const auto [first, last] = worker.share(matrix.matrices * groups);
        for (int64_t head = first / groups; head * groups < last; ++head) {
            uint8_t* head_x = prepared + (alone ? worker.index : head) * head_bytes();
            for (int64_t piece = 0; alone && piece < pieces(tokens); ++piece)
                prepare(head, piece, tokens, head_x);
            multiply_head(head, head_x,
                          {.first_group = std::max<int64_t>(0, first - head * groups),
                           .last_group = std::min(groups, last - head * groups),
                           .tokens = tokens,
                           .y = y.data + head * matrix.rows,
                           .y_stride = y.stride},
                          worker);
        }
    }

    void prepare_together(int64_t tokens, const Worker& worker) const {
        const auto [first, last] = worker.share(pieces(tokens) * matrix.matrices);
        for (int64_t i = first; i < last; ++i) {
            const int64_t head = i % matrix.matrices, piece = i / matrix.matrices;
            prepare(head, piece, tokens, prepared + head * head_bytes());
        }
        worker.barrier->wait();
    }

    void prepare(int64_t head, int64_t piece, int64_t tokens, uint8_t* head_x) const {
        if (!form)
            return codes.quantize(site.isa, row(piece, head), matrix.columns,
                                  head_x + piece * piece_bytes());
        for (int place = 0; place < tile_tokens; ++place) {
            const int64_t token = piece * tile_tokens + place;
            form.place(token < tokens ? row(token, head) : nullptr, head_x + piece * piece_bytes(),
                       place);
        }
    }

    // `product` lacks x.
    void multiply_head(int64_t head, const uint8_t* head_x, Product product,
                       const Worker& worker) const {
        product.x = head_x;
        if (form) return multiply_tiles(matrix, form, head, product, worker);
        product.x_stride = piece_bytes();
        if (codes.block == 0) product.x = reinterpret_cast<const uint8_t*>(row(0, head));
        multiply(matrix, site.isa, head, product, worker);
    }
};

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::View x = site.view(operation.inputs[0]);
    const HeldMatrix matrix = held_matrix(operation.inputs[1], site, heads_of(operation));
    Batched batched{.site = site,
                    .x_view = x,
                    .x = *whole_rows(x),
                    .y = *whole_rows(site.view(operation.output)),
                    .matrix = matrix,
                    .codes = codes_for(matrix.dtype),
                    .capacity = x.extents[0],
                    .prepared = reinterpret_cast<uint8_t*>(site.scratch(launch))};
    if (in_tiles(x)) batched.form = tile_form_for(site.isa, matrix.dtype, matrix.columns);
    return [batched](const Worker& worker) { batched.run(worker); };
}

}  // namespace

extern const CpuKernel linear_batched{
    .name = "linear.batched", .claim = claim, .bind = bind, .scratch_bytes = scratch_bytes};

}  // namespace tandem::kernels::cpu::ops
