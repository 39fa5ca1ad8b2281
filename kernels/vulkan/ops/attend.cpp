// attend, with what becomes of its operands before: rows of the caches are written, then blocks of
// queries meet the caches, perhaps in parts. For a few tokens each by itself, for many on matrix
// units where the device has them.
#include <bit>

#include "gguf/error.h"
#include "kernels/vulkan/cache.h"
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/heads.h"
#include "kernels/vulkan/matrix_units.h"
#include "kernels/vulkan/planes.h"
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

// How the work is divided into blocks.
struct Blocks {
    int64_t d, dv, d2, kv_heads, q_per_kv, tokens;  // tokens: as many as the program has room for
    int64_t q_at_once, tokens_at_once, parts, cells_at_once, stride;
    bool joined = false;  // at the end, which a single part may be, too

    explicit Blocks(const Operation& operation);
    int64_t q_blocks() const { return (q_per_kv + q_at_once - 1) / q_at_once; }
    int64_t queries() const { return q_at_once * tokens_at_once; }
    int64_t partial_bytes() const {
        return !joined ? 0 : tokens * kv_heads * q_per_kv * parts * ((dv + 3) / 4 * 4 + 4) * 4;
    }
};

constexpr int64_t most_queries = 16, most_parts = 32;
// Fewer workgroups than these leave a GPU idle.
constexpr int64_t enough_groups = 512, enough_on_matrices = 256;

// As many parts as workgroups ask for, with so many cells in each.
int64_t parts_of(const graph::View& cache, int64_t groups, int64_t least_cells,
                 int64_t enough = enough_groups) {
    const int64_t cells = cells_of(cache);
    return std::clamp<int64_t>(std::min(enough / groups, cells / least_cells), 1, most_parts);
}

Blocks::Blocks(const Operation& operation) {
    const graph::View& q = operation.inputs[graph::ops::queries].view;
    tokens = q.extents[0];
    kv_heads = q.extents[1];
    q_per_kv = q.extents[2];
    d = q.extents[3];
    dv = operation.output.view.extents[3];
    d2 = operation.inputs[second_cache] ? operation.inputs[second_queries].view.extents[3] : 0;
    // Half of the shared memory for the tile, less than a third for the queries.
    const int64_t vectors = shared_bytes / 16;
    const int64_t longest = (std::max({d, dv, d2}) + 3) / 4;
    const int64_t q_vectors = (d + 3) / 4 + (d2 + 3) / 4 + 1;
    const int64_t room = std::clamp<int64_t>(vectors * 5 / 16 / q_vectors, 1, most_queries);
    q_at_once = std::min(q_per_kv, room);
    tokens_at_once = std::clamp<int64_t>(room / q_at_once, 1, tokens);
    stride = longest + 1;
    cells_at_once = std::clamp<int64_t>(vectors / 2 / stride, 1, 32);
    check((stride + q_vectors) * 16 <= shared_bytes * 3 / 4,
          "a key and a query fit into shared memory");
    // A cache that few workgroups would read is read in parts.
    const int64_t groups = (tokens + tokens_at_once - 1) / tokens_at_once * q_blocks() * kv_heads;
    parts = parts_of(operation.inputs[keys_cache].view, groups, 4 * cells_at_once);
}

// What puts the parts of few tokens together can round them to whole int8 blocks, too.
const Form* gives(std::span<const Operation> claimed) {
    const graph::View& y = claimed.back().output.view;
    return y.extents[0] <= few_tokens && y.extents[3] % 32 == 0 ? &int8_blocks() : nullptr;
}

// The same where a workgroup takes one token, and about so many cells at a time.
constexpr int cells_of_few = 256, least_subgroup = 4;
constexpr int64_t enough_of_few = 256;
Blocks blocks_of_few(const Operation& operation) {
    Blocks blocks(operation);
    constexpr int64_t most_at_once = 8;
    const int64_t vectors = (blocks.d + 31) / 32 * 8 + (blocks.dv + 31) / 32 * 8;
    // Addends of one query, and what makes int8 blocks of it.
    constexpr int64_t of_all = 8192 + 8 * cells_of_few + 1024;
    const int64_t room = (shared_bytes - of_all) / (vectors * 16 + cells_of_few * 4 +
                                                    8 * (cells_of_few / least_subgroup) + 8);
    blocks.tokens_at_once = 1;
    blocks.q_at_once = std::min({blocks.q_per_kv, room, most_at_once});
    blocks.parts = parts_of(operation.inputs[keys_cache].view,
                            blocks.tokens * blocks.q_blocks() * blocks.kv_heads, cells_of_few);
    // With fewer at once a cache is read more often, which costs less than workgroups that wait.
    while (blocks.q_at_once > 1 &&
           blocks.tokens * blocks.q_blocks() * blocks.kv_heads * blocks.parts < enough_of_few)
        blocks.q_at_once = (blocks.q_at_once + 1) / 2;
    return blocks;
}

// Elements of a value, by eights.
int64_t value_eights(const Operation& operation) {
    const int64_t block = planes_of(operation.inputs[values_cache].view.dtype).block;
    return (operation.output.view.extents[3] + block - 1) / block * (block / 8);
}

bool may_be_few(const Blocks& few) {
    return few.tokens <= few_tokens && few.d2 == 0 && few.q_at_once > 0;
}
// A subgroup takes a value at a time.
bool are_few(const Operation& operation, const Features& features) {
    return may_be_few(blocks_of_few(operation)) && features.steady_subgroups &&
           value_eights(operation) <= features.subgroup;
}

// The same on matrix units, where blocks are rows of queries, token by token.
constexpr int64_t matrix_rows = MatrixTile::subgroups * 16;  // at most
constexpr int64_t longest_of_matrices = 256;
Blocks blocks_of_matrices(const Operation& operation) {
    Blocks blocks(operation);
    const int64_t groups =
        (blocks.tokens * blocks.q_per_kv + matrix_rows - 1) / matrix_rows * blocks.kv_heads;
    // Tiles of keys and values, and the scores of all rows; rows have a vector between them.
    auto bytes = [&](int64_t cells) {
        return (cells * (blocks.d / 8 + 1 + blocks.dv / 8 + 1) + matrix_rows * (cells / 4 + 1)) *
               16;
    };
    constexpr int64_t of_maxima = 1024;
    blocks.cells_at_once = bytes(32) <= shared_bytes - of_maxima ? 32 : 16;
    blocks.parts = parts_of(operation.inputs[keys_cache].view, groups, 4 * blocks.cells_at_once,
                            enough_on_matrices);
    return blocks;
}

bool may_be_on_matrices(const Blocks& blocks) {
    return blocks.tokens >= MatrixTile::least_tokens && blocks.d2 == 0 && blocks.d % 16 == 0 &&
           blocks.dv % 16 == 0 && std::max(blocks.d, blocks.dv) <= longest_of_matrices;
}
// Whole fragments, and in the softmax whole vectors of shares for every invocation.
bool are_on_matrices(const Operation& operation, const Features& features) {
    const MatrixUnits& units = features.matrix_units;
    if (!units || !features.steady_subgroups) return false;
    const Blocks blocks = blocks_of_matrices(operation);
    const int64_t cells = blocks.cells_at_once, subgroup = features.subgroup;
    const int64_t sharers = std::max<int64_t>(1, subgroup / units.rows);
    return may_be_on_matrices(blocks) && 16 % units.rows == 0 && blocks.d % units.depth == 0 &&
           blocks.dv % units.tokens == 0 && cells % units.depth == 0 && cells % units.tokens == 0 &&
           cells % (8 * sharers) == 0 && std::has_single_bit(uint32_t(subgroup));
}

size_t claim(std::span<const Operation> ahead) { return attend_chain(ahead).length; }

int64_t partial_bytes(const Operation& operation) {
    int64_t most = 0;
    auto note = [&](Blocks blocks) {
        blocks.joined = blocks.parts > 1 || gives({&operation, 1});
        most = std::max(most, blocks.partial_bytes());
    };
    note(Blocks(operation));
    const Blocks few = blocks_of_few(operation), matrices = blocks_of_matrices(operation);
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
Extent groups_of(const Blocks& blocks, const Operation& operation) {
    return {.units = 1,
            .per_group = blocks.tokens_at_once,
            .live = live(operation.output.view),
            .times = blocks.q_blocks() * blocks.parts};
}

uint32_t type_of(const Operand& cache) { return cache ? cache_number(cache.view.dtype) : 0; }

Dispatch few(const Blocks& blocks, const Operation& operation, const Site& site, bool capped,
             bool in_blocks, Address kept) {
    const auto subgroup = uint32_t(site.features.subgroup);
    const auto lanes = std::bit_ceil(uint32_t(value_eights(operation)));
    return {.shader = "attend_few",
            .constants = {subgroups(site, std::max(1, cells_of_few / site.features.subgroup)),
                          type_of(operation.inputs[keys_cache]),
                          type_of(operation.inputs[values_cache]), uint32_t(blocks.d),
                          uint32_t(blocks.dv), uint32_t(blocks.q_at_once), subgroup, lanes,
                          blocks.parts > 1, capped, bool(operation.output), in_blocks},
            .parameters = Parameters(kept),
            .x = groups_of(blocks, operation),
            .y = {.units = blocks.kv_heads}};
}

Dispatch many(const Blocks& blocks, const Operation& operation, bool capped, Address kept) {
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

Dispatch on_matrices(const Blocks& blocks, const Operation& operation, const Site& site,
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

Dispatch join(const Blocks& blocks, const Launch& launch, const Site& site, Address kept) {
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

Attention attention_of(const Launch& launch, const Site& site, const Blocks& blocks,
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
    Blocks blocks = each       ? blocks_of_few(operation)
                    : matrices ? blocks_of_matrices(operation)
                               : Blocks(operation);
    blocks.joined = !each && (blocks.parts > 1 || launch.given);
    Attention attention = attention_of(launch, site, blocks, placed);
    if (each && blocks.parts > 1) {
        const std::vector<uint32_t> none(
            size_t(blocks.tokens * blocks.kv_heads * blocks.q_blocks()));
        attention.done = site.keep(std::as_bytes(std::span(none)));
    }
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
