// moe_ffn for many tokens: choices are ordered by expert, and each expert's matrices multiply all
// of its tokens, tile by tile. Only the device learns how many tiles there are: there are
// workgroups for as many as there can be, and those without one end at once.
#include "gguf/error.h"
#include "kernels/vulkan/experts.h"
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/matrix_units.h"
#include "kernels/vulkan/planes.h"
#include "kernels/vulkan/shaders.h"
#include "kernels/vulkan/tile.h"

namespace tandem::kernels::vulkan {

using namespace graph::ops;

namespace {

struct SortParameters {
    Address count, ids, sorted, tiles;
    uint32_t ids_stride, used, first_expert;
};

struct TileParameters {
    Address sorted, tiles, w, x, codebook, y;
    uint32_t rows, columns, row_bytes, x_stride, sharers;
};

struct SumParameters {
    Address count, ids, weights, scale, products;
    uint32_t ids_stride, weights_stride, used, first_expert, experts, rows;
    ExpertsResult result;
};

// As many choices as an expert has if all have equally many.
int64_t average_choices(const Operation& operation) {
    return ExpertSizes(operation).choices / operation.inputs[moe_gate].view.axes[0]->extent;
}

Tile tile_of_experts(const Operation& operation) { return tile_of(average_choices(operation)); }

// The same on matrix units, whose tiles are never smaller.
MatrixTile tile_of_experts(const Operation& operation, const MatrixUnits& units) {
    const int64_t tokens = std::max<int64_t>(32, tile_of_experts(operation).tokens());
    const bool larger = average_choices(operation) > tokens;
    return matrix_tile(units, 128, larger ? 2 * tokens : tokens, 1);
}

// What there can be: every expert may leave a tile unfinished.
int64_t most_tiles(const Operation& operation, int64_t tile_tokens) {
    const ExpertSizes sizes(operation);
    return std::min(sizes.choices, sizes.choices / tile_tokens + sizes.experts);
}

// Where a launch keeps what, from the beginning of its scratch memory on.
struct Room {
    int64_t sorted = 0, tiles = 0;
    int64_t gates = 0;   // [choices ffn]
    int64_t ups = 0;     // [choices ffn]; when they are used up, products [choices embd]
    int64_t hidden = 0;  // [choices ffn], in int8 blocks or in the place of the gates
    int64_t bytes = 0;

    Room(const Operation& operation, ExpertProducts how) {
        const ExpertSizes sizes(operation);
        sorted = take(sizes.choices * 4);
        tiles = take((1 + most_tiles(operation, tile_of_experts(operation).tokens())) * 16);
        gates = take(sizes.choices * sizes.ffn * 4);
        ups = take(sizes.choices * std::max(sizes.ffn, sizes.embd) * 4);
        hidden =
            how == ExpertProducts::InDots ? take(int8_bytes(sizes.choices * sizes.ffn)) : gates;
    }
    int64_t take(int64_t size) {
        const int64_t at = bytes;
        bytes += (size + 15) / 16 * 16;
        return at;
    }
};

// A launch's dispatches.
struct ManyExperts {
    const Launch& launch;
    const Site& site;
    ExpertProducts how;
    const Operation& operation = launch.operations[0];
    const Address scratch = site.scratch(launch);
    ExpertSizes sizes{operation};
    Room room{operation, how};
    bool in_dots = how == ExpertProducts::InDots, on_units = how == ExpertProducts::OnMatrixUnits;

    int64_t tile_tokens() const {
        return on_units ? tile_of_experts(operation, site.features.matrix_units).tokens
                        : tile_of_experts(operation).tokens();
    }

    Address at(int64_t offset) const { return scratch + Address(offset); }
    const Operand& input(size_t number) const { return operation.inputs[number]; }
    uint32_t first_expert() const { return uint32_t(input(moe_gate).view.begins[0]); }
    uint32_t ids_stride() const { return uint32_t(input(moe_ids).view.strides[0]); }

    Dispatch sort() const {
        const SortParameters parameters{.count = site.count(input(moe_x).view),
                                        .ids = site.address(input(moe_ids)),
                                        .sorted = at(room.sorted),
                                        .tiles = at(room.tiles),
                                        .ids_stride = ids_stride(),
                                        .used = uint32_t(sizes.used),
                                        .first_expert = first_expert()};
        // One workgroup, as large as there is room for who has chosen what.
        const Features& features = site.features;
        int64_t words = std::min(features.most_invocations, 1024) / 32;
        while (words > 1 && sizes.experts * (2 + words) * 4 > shared_bytes) words /= 2;
        check(sizes.experts <= most_sorted_experts,
              "the counts of a layer's experts fit into shared memory");
        return {.shader = "experts_sort",
                .constants = {uint32_t(32 * words), uint32_t(words), uint32_t(sizes.experts),
                              uint32_t(tile_tokens())},
                .parameters = Parameters(parameters)};
    }

    // A matrix of each expert with the rows of x that its choices have.
    Dispatch product(const Operand& matrix, Address x, int64_t x_stride, int64_t sharers,
                     Address y) const {
        const graph::View& w = matrix.view;
        const int64_t rows = w.extents[1], columns = w.row_length();
        const TileParameters parameters{.sorted = at(room.sorted),
                                        .tiles = at(room.tiles),
                                        .w = site.address(matrix),
                                        .x = x,
                                        .codebook = site.codebook(w.dtype),
                                        .y = y,
                                        .rows = uint32_t(rows),
                                        .columns = uint32_t(columns),
                                        .row_bytes = uint32_t(plane_row_bytes(w.dtype, columns)),
                                        .x_stride = uint32_t(x_stride),
                                        .sharers = uint32_t(sharers)};
        const bool aligned = x % 16 == 0 && columns % 8 == 0 && x_stride % 4 == 0;
        const Extent tiles{.units = most_tiles(operation, tile_tokens())};
        if (on_units) {
            const MatrixUnits& units = site.features.matrix_units;
            const MatrixTile tile = tile_of_experts(operation, units);
            std::vector<uint32_t> shape = constants(tile, site);
            shape.push_back(aligned);
            return {.shader = of_units(typed("experts_matrices", w.dtype), units),
                    .constants = shape,
                    .parameters = Parameters(parameters),
                    .x = tiles,
                    .y = {.units = rows, .per_group = tile.rows}};
        }
        const Tile tile = tile_of_experts(operation);
        return {.shader = typed(in_dots ? "experts_tile_dots" : "experts_tile", w.dtype),
                .constants = constants(tile, aligned),
                .parameters = Parameters(parameters),
                .x = tiles,
                .y = {.units = rows, .per_group = tile.rows()}};
    }

    Dispatch hidden_product(size_t matrix, int64_t to) const {
        const int64_t stride = in_dots ? sizes.embd : input(moe_x).view.strides[0];
        return product(input(matrix), site.address(input(moe_x)), stride, sizes.used, at(to));
    }

    Dispatch units() const {
        return expert_units(operation, site, at(room.gates), at(room.ups), at(room.hidden),
                            in_dots);
    }

    Dispatch down_product() const {
        return product(input(moe_down), at(room.hidden), sizes.ffn, 1, at(room.ups));
    }

    Dispatch sum() const {
        const SumParameters parameters{
            .count = site.count(input(moe_x).view),
            .ids = site.address(input(moe_ids)),
            .weights = site.address(input(moe_weights)),
            .scale = site.address(input(moe_down_scale)),
            .products = at(room.ups),
            .ids_stride = ids_stride(),
            .weights_stride = uint32_t(input(moe_weights).view.strides[0]),
            .used = uint32_t(sizes.used),
            .first_expert = first_expert(),
            .experts = uint32_t(sizes.experts),
            .rows = uint32_t(sizes.embd),
            .result = experts_result(launch, site)};
        return {.shader = "experts_sum",
                .constants = {elements_at_once},
                .parameters = Parameters(parameters),
                .x = {.units = sizes.embd,
                      .per_group = elements_at_once,
                      .live = live(input(moe_x).view)}};
    }
};

}  // namespace

int64_t many_experts_bytes(const Operation& operation, ExpertProducts how) {
    return Room(operation, how).bytes;
}

std::vector<Dispatch> many_experts(const Launch& launch, const Site& site, ExpertProducts how) {
    const ManyExperts experts{launch, site, how};
    std::vector<Dispatch> all = {experts.sort(),
                                 experts.hidden_product(moe_gate, experts.room.gates),
                                 experts.hidden_product(moe_up, experts.room.ups),
                                 experts.units(),
                                 experts.down_product(),
                                 experts.sum()};
    all[2].after_previous = false;  // gates and ups
    return all;
}

}  // namespace tandem::kernels::vulkan
