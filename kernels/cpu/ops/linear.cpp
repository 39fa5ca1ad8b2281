// linear on the CPU: y = W x of packed matrices. Up to most_tokens_in_rows tokens are rows; more
// are tiles, in bf16 or 16-bit integers where a variant has such products.
#include <algorithm>

#include "gguf/error.h"
#include "kernels/cpu/forms.h"
#include "kernels/cpu/matrix.h"
#include "kernels/cpu/packing.h"
#include "kernels/cpu/rows.h"

namespace tandem::kernels::cpu::ops {

namespace {

// x [tokens k...] with exactly the weight's columns, none of its rows.
bool plain_product(const Operation& operation) {
    if (!is(operation, "linear")) return false;
    const graph::View &x = operation.inputs[0].view, &w = operation.inputs[1].view;
    if (x.axes.size() != w.columns + 1) return false;
    for (size_t i = 0; i < w.columns; ++i)
        if (x.axes[i + 1] != w.axes[w.axes.size() - w.columns + i]) return false;
    return find({w.axes.begin(), w.axes.end()}, x.axes[0]) < 0;
}

// Whether `next` adds one row for all tokens to the product, which nobody else reads.
bool adds_bias(const Operation& product, const Operation& next) {
    if (!is(next, "add") || product.outlives_segment || product.readers != std::vector<int>{1} ||
        next.node->inputs[0].value != product.node->output.value)
        return false;
    const graph::View &y = product.output.view, &bias = next.inputs[1].view;
    return next.output.view.axes == y.axes && next.output.view.extents == y.extents &&
           bias.axes == graph::Shape(y.axes.begin() + 1, y.axes.end()) &&
           std::equal(bias.extents.begin(), bias.extents.end(), y.extents.begin() + 1) &&
           as_rows(bias, bias.axes.size()) &&
           as_rows(next.output.view, next.output.view.axes.size() - 1);
}

// Several linears in a row that read one value in one form, each with its bias, are one launch: the
// value stays in the cache, and the team meets once. Where form_of(operation) is the same, so is
// the form.
template <typename FormOf>
size_t claim_siblings(std::span<const Operation> ahead, FormOf form_of) {
    size_t count = 0;
    while (count < ahead.size()) {
        const Operation& operation = ahead[count];
        if (!plain_product(operation)) break;
        const Operand& weight = operation.inputs[1];
        if (!is_packed(weight.view.dtype, weight.use)) break;
        if (form_of(operation) != form_of(ahead[0])) break;
        if (operation.node->inputs[0].value != ahead[0].node->inputs[0].value) break;
        ++count;
        if (count < ahead.size() && adds_bias(operation, ahead[count])) ++count;
    }
    return count;
}

// The same codes mean one form. Of many tokens, floats, types of few levels, and signed codes
// of 8 bits where sums are kept in halves of lanes may be read in others, so that each of those
// types is alone: no form may depend on who reads the value beside it.
template <bool halves>
size_t claim_packed(std::span<const Operation> ahead) {
    return claim_siblings(ahead, [](const Operation& operation) {
        const gguf::DType dtype = operation.inputs[1].view.dtype;
        const Codes codes = codes_for(dtype);
        const bool by_codes =
            codes.block > 0 && !has_few_levels(dtype) && !(halves && signed_bytes(dtype));
        const bool alone = in_tiles(operation.inputs[0].view) && !by_codes;
        return std::pair(codes, alone ? int(dtype) : -1);
    });
}

bool reads_tokens(const Operation& operation, size_t input) {
    return input == 0 && is(operation, "linear");
}

const Form* form_packed(const Operation& operation, size_t input) {
    return reads_tokens(operation, input)
               ? form_for(operation.inputs[1].view.dtype, operation.inputs[0].view)
               : nullptr;
}

// claim_siblings() of many tokens, where form_of() is neither 0 nor false.
template <typename FormOf>
size_t claim_many(std::span<const Operation> ahead, FormOf form_of) {
    const bool many = plain_product(ahead[0]) && in_tiles(ahead[0].inputs[0].view);
    return many && form_of(ahead[0]) ? claim_siblings(ahead, form_of) : 0;
}

size_t claim_units(std::span<const Operation> ahead) {
    return claim_many(ahead, [](const Operation& operation) {
        return bf16_parts(operation.inputs[1].view.dtype);
    });
}

template <gguf::DType dtype>
size_t claim_type(std::span<const Operation> ahead) {
    return claim_many(
        ahead, [](const Operation& operation) { return operation.inputs[1].view.dtype == dtype; });
}

size_t claim_codes(std::span<const Operation> ahead) {
    return claim_many(ahead, [](const Operation& operation) {
        return signed_bytes(operation.inputs[1].view.dtype);
    });
}

size_t claim_few_levels(std::span<const Operation> ahead) {
    return claim_many(ahead, [](const Operation& operation) {
        return has_few_levels(operation.inputs[1].view.dtype);
    });
}

const Form* form_bf16(const Operation& operation, size_t input) {
    return reads_tokens(operation, input) ? &bf16_form(bf16_parts(operation.inputs[1].view.dtype))
                                          : nullptr;
}

template <int64_t block>
const Form* form_q16(const Operation& operation, size_t input) {
    return reads_tokens(operation, input) ? &q16_tiles(block) : nullptr;
}

// One of the products of a launch.
struct Piece {
    HeldMatrix matrix;
    TileForm form;     // of x, if it is in tiles
    Product product;   // of all groups and tokens
    int64_t step = 1;  // groups that are dealt together
    const float* bias = nullptr;

    int64_t steps() const { return (matrix.groups() + step - 1) / step; }

    // The part of some of its steps, as far as it has them, and of some tokens, which are all where
    // x is in rows.
    void multiply_part(Range some, Range tokens, const Isa& isa, const Worker& worker) const {
        Product part = product;
        part.first_group = std::max<int64_t>(0, some.first) * step;
        part.last_group = std::min(matrix.groups(), some.last * step);
        if (part.first_group >= part.last_group) return;
        part.tokens = tokens.count();
        if (form) {
            part.x += tokens.first / tile_tokens * form.bytes();
            part.y += tokens.first * part.y_stride;
            multiply_tiles(matrix, form, 0, part, worker);
        } else {
            multiply(matrix, isa, 0, part, worker);
        }
        if (bias) add_bias(part, isa);
    }
    void add_bias(const Product& part, const Isa& isa) const {
        const int64_t first = part.first_group * matrix.lanes;
        const int64_t last = std::min(part.last_group * matrix.lanes, matrix.rows);
        for (int64_t t = 0; t < part.tokens; ++t) {
            float* row = part.y + t * part.y_stride + first;
            isa.add(row, bias + first, row, last - first);
        }
    }
};

// From one token's row to the next, in bytes.
int64_t row_stride(const graph::View& x, const MatrixKernels& kernel, int64_t columns) {
    if (kernel.block > 0) return q8_row(columns, kernel.block).bytes;
    const bool as_it_lies = as_rows(x, x.axes.size() - 1).has_value();
    return (as_it_lies ? x.strides[0] : columns) * int64_t(sizeof(float));
}

// Reads x in the form that the kernels of this file ask for: with tiles that of tile_form_for().
// `addition` is that of its bias; null: it has none.
Piece piece_of(const Operation& operation, const Operation* addition, const Site& site) {
    const HeldMatrix matrix = held_matrix(operation.inputs[1], site);
    const MatrixKernels& kernel = *site.isa.kernels(int(matrix.dtype));
    const graph::View x = site.view(operation.inputs[0]);
    const graph::View result = site.view(addition ? addition->output : operation.output);
    const Rows y = *as_rows(result, result.axes.size() - 1);
    Piece piece{.matrix = matrix,
                .product = {.x = reinterpret_cast<const uint8_t*>(x.data),
                            .x_stride = row_stride(x, kernel, matrix.columns),
                            .y = y.data,
                            .y_stride = y.stride}};
    if (addition) piece.bias = reinterpret_cast<const float*>(site.view(addition->inputs[1]).data);
    if (!in_tiles(x)) return piece;
    piece.form = tile_form_for(site.isa, matrix.dtype, matrix.columns);
    piece.step = piece.form.groups();
    check(piece.form.product_of(kernel),
          "a type has products of the form in which it asks for tokens");
    return piece;
}

// A step of more tokens takes so long that members would wait for the one that has a step more: it
// is dealt in two parts. Short steps are dealt two at a time.
constexpr int64_t most_whole_tokens = 256, most_short_tokens = 128;

// Calls run(steps, tokens) for some parts of steps, of which each has `parts`; parts of whole steps
// together.
template <typename Run>
void each_part(Range some, int64_t parts, int64_t tokens, Run run) {
    auto begin_of = [&](int64_t part) {
        return std::min(tokens, tiles_of(tokens) * part / parts * tile_tokens);
    };
    for (int64_t at = some.first; at < some.last;) {
        const int64_t step = at / parts, part = at % parts;
        const int64_t whole = part == 0 ? (some.last - at) / parts : 0;
        if (whole > 0)
            run(Range{step, step + whole}, Range{0, tokens});
        else
            run(Range{step, step + 1}, Range{begin_of(part), begin_of(part + 1)});
        at += whole > 0 ? whole * parts : 1;
    }
}

// The groups of all pieces together are dealt to the team.
Task bind(const Launch& launch, const Site& site) {
    const graph::View x = site.view(launch.operations[0].inputs[0]);
    std::vector<Piece> pieces;
    int64_t all_steps = 0;
    const std::vector<Operation>& operations = launch.operations;
    for (size_t i = 0; i < operations.size(); ++i) {
        const bool has_bias = i + 1 < operations.size() && is(operations[i + 1], "add");
        pieces.push_back(piece_of(operations[i], has_bias ? &operations[i + 1] : nullptr, site));
        all_steps += pieces.back().steps();
        if (has_bias) ++i;
    }
    return [=, pieces = std::move(pieces)](const Worker& worker) {
        const int64_t tokens = live_count(x, site.inputs());
        const int64_t parts = tokens > most_whole_tokens ? 2 : 1;
        const int64_t grain = tokens > most_short_tokens ? 1 : 2;
        auto multiply_parts = [&](const Worker& member, Range some) {
            each_part(some, parts, tokens, [&](Range steps, Range of_tokens) {
                for (const Piece& piece : pieces) {
                    piece.multiply_part(steps, of_tokens, site.isa, member);
                    const int64_t own = piece.steps();
                    steps = {steps.first - own, steps.last - own};
                }
            });
        };
        worker.deal(all_steps * parts, grain, multiply_parts, parts_for(tokens));
    };
}

}  // namespace

extern const CpuKernel linear_units{.name = "linear.units",
                                    .claim = claim_units,
                                    .bind = bind,
                                    .form = form_bf16,
                                    .needs = Reduced::AllTypes};
extern const CpuKernel linear_q16_of_128{.name = "linear.q16_of_128",
                                         .claim = claim_type<gguf::DType::BF16>,
                                         .bind = bind,
                                         .form = form_q16<128>,
                                         .needs = Reduced::LongBlocks};
extern const CpuKernel linear_q16_of_f16{.name = "linear.q16_of_f16",
                                         .claim = claim_type<gguf::DType::F16>,
                                         .bind = bind,
                                         .form = form_q16<32>,
                                         .needs = Reduced::Int16};
extern const CpuKernel linear_q16_of_bf16{.name = "linear.q16_of_bf16",
                                          .claim = claim_type<gguf::DType::BF16>,
                                          .bind = bind,
                                          .form = form_q16<32>,
                                          .needs = Reduced::Int16};
extern const CpuKernel linear_q16_of_codes{.name = "linear.q16_of_codes",
                                           .claim = claim_codes,
                                           .bind = bind,
                                           .form = form_q16<32>,
                                           .needs = Reduced::Int16,
                                           .sums_in_halves = true};
extern const CpuKernel linear_q16_of_few_levels{.name = "linear.q16_of_few_levels",
                                                .claim = claim_few_levels,
                                                .bind = bind,
                                                .form = form_q16<32>};
extern const CpuKernel linear_packed{.name = "linear.packed",
                                     .claim = claim_packed<false>,
                                     .bind = bind,
                                     .form = form_packed,
                                     .sums_in_halves = false};
extern const CpuKernel linear_packed_in_halves{.name = "linear.packed",
                                               .claim = claim_packed<true>,
                                               .bind = bind,
                                               .form = form_packed,
                                               .sums_in_halves = true};

}  // namespace tandem::kernels::cpu::ops
