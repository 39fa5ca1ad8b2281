// attend, with what becomes of its operands before: rows of the caches are written, then blocks of
// queries meet the caches, perhaps in parts. For a few tokens each by itself, for many on matrix
// units where the device has them.
#include <bit>

#include "kernels/vulkan/attend_blocks.h"
#include "kernels/vulkan/cache.h"
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/heads.h"
#include "kernels/vulkan/matrix_units.h"
#include "kernels/vulkan/shaders.h"

namespace tandem::kernels::vulkan::ops {

namespace {

using namespace graph::ops;

// As in shaders/attend.glsl.
struct Heads {
    Address at = 0;
    uint32_t token = 0, kv_head = 0, query = 0, unused = 0;
};
struct Attention {
    Heads q, q2, y;
    Address keys, values, second_keys, sinks;
    Address count, positions, sequence_of, sequences;
    Address partial, blocks, done;
    uint32_t kv_heads, q_per_kv, key_cells, value_cells, second_cells, second_heads;
    uint32_t window, parts, q_blocks;
    float scale, cap;
};

// What finishes the results of few tokens can round them to whole int8 blocks, too.
const Form* gives(std::span<const Operation> claimed) {
    const graph::View& y = claimed.back().output.view;
    return y.extents[0] <= few_tokens && y.extents[3] % 32 == 0 ? &int8_blocks() : nullptr;
}

size_t claim(std::span<const Operation> ahead) { return attend_chain(ahead).length; }

int64_t partial_bytes(const Operation& operation) {
    int64_t most = 0;
    auto note = [&](AttendBlocks blocks) {
        blocks.joined = blocks.parts > 1 || gives({&operation, 1});
        most = std::max(most, blocks.partial_bytes());
    };
    note(AttendBlocks(operation));
    const AttendBlocks few = blocks_of_few(operation), matrices = blocks_of_matrices(operation);
    if (may_be_few(few)) note(few);
    if (may_be_on_matrices(matrices)) note(matrices);
    return most;
}

int64_t bytes_of_rows(const graph::View& queries) {
    return (queries.elements() * 4 + 15) / 16 * 16;
}

// Queries that have come a way, and then what the parts of a cache give.
int64_t scratch_bytes(std::span<const Operation> claimed) {
    const AttendChain chain = attend_chain(claimed);
    int64_t bytes = partial_bytes(claimed.back());
    for (const size_t each : {queries, second_queries})
        if (chain.ways[each]) bytes += bytes_of_rows(claimed.back().inputs[each].view);
    return bytes;
}

Heads heads_of(const graph::View& view, Address at) {
    const std::vector<int64_t>& strides = view.strides;
    return {at, uint32_t(strides[0]), uint32_t(strides[1]), uint32_t(strides[2])};
}

// Groups of blocks, and their parts.
Extent groups_of(const AttendBlocks& blocks, const Operation& operation) {
    return {.units = 1,
            .per_group = blocks.tokens_at_once,
            .live = live(operation.output.view),
            .times = blocks.q_blocks() * blocks.parts};
}

uint32_t type_of(const Operand& cache) { return cache ? cache_number(cache.view.dtype) : 0; }

Dispatch few(const AttendBlocks& blocks, const Operation& operation, const Site& site, bool capped,
             bool in_blocks, Address kept) {
    const auto subgroup = uint32_t(site.features.subgroup);
    const auto lanes = std::bit_ceil(uint32_t(value_eights(operation)));
    // As many as there are cells, in eights, which make a block of results together.
    const int64_t eights = (cells_of(operation.inputs[keys_cache].view) - int64_t{1}) / 8 + 1;
    const int cells = int(std::min<int64_t>(8 * eights, cells_of_few));
    return {.shader = "attend_few",
            .constants = {subgroups(site, (cells - 1) / site.features.subgroup + 1),
                          type_of(operation.inputs[keys_cache]),
                          type_of(operation.inputs[values_cache]), uint32_t(blocks.d),
                          uint32_t(blocks.dv), uint32_t(blocks.q_at_once), subgroup, lanes,
                          blocks.parts > 1, capped, bool(operation.output), in_blocks},
            .parameters = Parameters(kept),
            .x = groups_of(blocks, operation),
            .y = {.units = blocks.kv_heads}};
}

Dispatch many(const AttendBlocks& blocks, const Operation& operation, bool capped, Address kept) {
    const auto group = uint32_t(least_invocations);
    const int64_t items = blocks.queries() * ((blocks.dv + 3) / 4);
    // Invocations without a result of their own take some of the cells of another's.
    const int64_t subsets = std::clamp<int64_t>(
        std::min(int64_t(group) / items, blocks.cells_at_once * blocks.stride / group), 1,
        blocks.cells_at_once);
    const int64_t slots = (items + group - 1) / group;
    return {.shader = "attend",
            .constants = {group, type_of(operation.inputs[keys_cache]),
                          type_of(operation.inputs[values_cache]),
                          type_of(operation.inputs[second_cache]), uint32_t(blocks.d),
                          uint32_t(blocks.dv), uint32_t(blocks.d2), uint32_t(blocks.tokens_at_once),
                          uint32_t(blocks.q_at_once), uint32_t(blocks.cells_at_once),
                          uint32_t(blocks.stride), uint32_t(subsets), uint32_t(slots),
                          blocks.joined, capped},
            .parameters = Parameters(kept),
            .x = groups_of(blocks, operation),
            .y = {.units = blocks.kv_heads}};
}

// Rows of queries can be read four numbers at a time.
bool are_aligned(const Heads& q) {
    return q.at % 16 == 0 && q.token % 4 == 0 && q.kv_head % 4 == 0 && q.query % 4 == 0;
}

Dispatch on_matrices(const AttendBlocks& blocks, const Operation& operation, const Site& site,
                     const Attention& attention, bool capped, Address kept) {
    const MatrixUnits& units = site.features.matrix_units;
    const auto subgroup = uint32_t(site.features.subgroup);
    const uint32_t group = subgroups(site, MatrixTile::subgroups);
    return {.shader = of_units("attend_matrices", units),
            .constants = {group, type_of(operation.inputs[keys_cache]),
                          type_of(operation.inputs[values_cache]), uint32_t(blocks.d),
                          uint32_t(blocks.dv), units.rows, units.tokens, units.depth,
                          uint32_t(blocks.cells_at_once), subgroup, are_aligned(attention.q),
                          blocks.joined, capped},
            .parameters = Parameters(kept),
            .x = {.units = blocks.q_per_kv,
                  .per_group = group / subgroup * units.rows,
                  .live = live(operation.output.view),
                  .times = blocks.parts},
            .y = {.units = blocks.kv_heads}};
}

Dispatch join(const AttendBlocks& blocks, const Launch& launch, const Site& site, Address kept) {
    const Operand& y = launch.operations.back().output;
    return {.shader = "attend_join",
            .constants = {group_for(site, blocks.dv / 4), uint32_t(blocks.dv),
                          uint32_t(blocks.parts), bool(y), bool(launch.given)},
            .parameters = Parameters(kept),
            .x = {.units = blocks.kv_heads * blocks.q_per_kv, .live = live(y.view)}};
}

// Where attention finds its queries, and what puts them there, and keys and values into the caches.
struct PlacedHeads {
    Heads q, q2;
    std::vector<Dispatch> dispatches;  // side by side
    Address room = 0;                  // scratch memory that is left
};

PlacedHeads place_heads(const Launch& launch, const Site& site) {
    const AttendChain chain = attend_chain(launch.operations);
    const Operation& operation = launch.operations.back();
    auto input = [&](size_t i) -> const Operand& { return operation.inputs[i]; };
    PlacedHeads placed{.room = site.scratch(launch)};
    auto write = [&](size_t rows, size_t cache) {
        const Way& way = chain.ways[rows];
        const Operand& first = way.first(input(rows));
        if (first) placed.dispatches.push_back(to_cells(first, way, input(cache), site));
    };
    auto read = [&](size_t rows) {
        const Way& way = chain.ways[rows];
        const graph::View& view = input(rows).view;
        if (!way) return heads_of(view, site.address(input(rows)));
        const Address at = std::exchange(placed.room, placed.room + Address(bytes_of_rows(view)));
        placed.dispatches.push_back(to_rows(way.first(input(rows)), way, at, site));
        return heads_of(dense_view(view), at);
    };
    write(keys, keys_cache);
    write(values, values_cache);
    placed.q = read(queries);
    if (input(second_cache)) {
        write(second_keys, second_cache);
        placed.q2 = read(second_queries);
    }
    for (Dispatch& dispatch : placed.dispatches) dispatch.after_previous = false;
    return placed;
}

Attention attention_of(const Launch& launch, const Site& site, const AttendBlocks& blocks,
                       const PlacedHeads& placed) {
    const Operation& operation = launch.operations.back();
    auto input = [&](size_t i) -> const Operand& { return operation.inputs[i]; };
    const Operand& y = operation.output;
    const graph::Attributes& attributes = operation.node->attributes;
    const StandingAddresses standing = site.standing(y.view);
    Attention attention{.q = placed.q,
                        .q2 = placed.q2,
                        .y = heads_of(y.view, site.address(y)),
                        .keys = site.address(input(keys_cache)),
                        .values = site.address(input(values_cache)),
                        .sinks = site.address(input(sinks)),
                        .count = site.count(y.view),
                        .positions = standing.positions,
                        .sequence_of = standing.sequence_of,
                        .sequences = standing.sequences,
                        .partial = placed.room,
                        .blocks = site.address(launch.given),
                        .kv_heads = uint32_t(blocks.kv_heads),
                        .q_per_kv = uint32_t(blocks.q_per_kv),
                        .key_cells = cells_of(input(keys_cache).view),
                        .value_cells = cells_of(input(values_cache).view),
                        .window = uint32_t(attributes.number("window")),
                        .parts = uint32_t(blocks.parts),
                        .q_blocks = uint32_t(blocks.q_blocks()),
                        .scale = float(attributes.number("scale")),
                        .cap = float(attributes.number("soft_cap"))};
    if (const Operand& cache = input(second_cache)) {
        attention.second_keys = site.address(cache);
        attention.second_cells = cells_of(cache.view);
        attention.second_heads = cache.view.axes.size() == 4 ? uint32_t(cache.view.extents[1]) : 1;
    }
    return attention;
}

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations.back();
    PlacedHeads placed = place_heads(launch, site);
    const bool each = are_few(operation, site.features);
    const bool matrices = are_on_matrices(operation, site.features);
    AttendBlocks blocks = each       ? blocks_of_few(operation)
                          : matrices ? blocks_of_matrices(operation)
                                     : AttendBlocks(operation);
    blocks.joined = !each && (blocks.parts > 1 || launch.given);
    Attention attention = attention_of(launch, site, blocks, placed);
    if (each && blocks.parts > 1)
        attention.done = site.cleared(blocks.tokens * blocks.kv_heads * blocks.q_blocks() * 4);
    const Address kept = site.keep(std::as_bytes(std::span(&attention, 1)));
    const bool capped = attention.cap > 0;
    std::vector<Dispatch> dispatches = std::move(placed.dispatches);
    dispatches.push_back(each       ? few(blocks, operation, site, capped, bool(launch.given), kept)
                         : matrices ? on_matrices(blocks, operation, site, attention, capped, kept)
                                    : many(blocks, operation, capped, kept));
    if (blocks.joined) dispatches.push_back(join(blocks, launch, site, kept));
    return dispatches;
}

}  // namespace

extern const VulkanKernel attend{
    .name = "attend", .claim = claim, .bind = bind, .gives = gives, .scratch_bytes = scratch_bytes};

}  // namespace tandem::kernels::vulkan::ops
