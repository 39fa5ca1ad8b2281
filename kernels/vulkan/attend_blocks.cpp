#include "kernels/vulkan/attend_blocks.h"

#include <algorithm>
#include <bit>

#include "gguf/error.h"
#include "kernels/vulkan/heads.h"
#include "kernels/vulkan/planes.h"
#include "kernels/vulkan/shaders.h"

namespace tandem::kernels::vulkan {

using namespace graph::ops;

namespace {

constexpr int64_t most_queries = 16, most_parts = 32;
constexpr int64_t least_subgroup = 4;
constexpr int64_t matrix_rows = MatrixTile::subgroups * 16;  // at most
constexpr int64_t longest_of_matrices = 256;
// Fewer workgroups than these leave a GPU idle.
constexpr int64_t enough_groups = 512, enough_of_few = 256, enough_on_matrices = 256;

// As many parts as workgroups ask for, with so many cells in each.
int64_t parts_of(const graph::View& cache, int64_t groups, int64_t least_cells,
                 int64_t enough = enough_groups) {
    const int64_t cells = cells_of(cache);
    return std::clamp<int64_t>(std::min(enough / groups, cells / least_cells), 1, most_parts);
}

}  // namespace

AttendBlocks::AttendBlocks(const Operation& operation) {
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
    // A row of the tile and a query, at least.
    if (const int64_t most = vectors * 3 / 4; stride + q_vectors > most)
        throw Error("Vulkan devices have room for a query and a key or value of " +
                    std::to_string((most - 2) * 4) + " elements together, not of " +
                    std::to_string((stride + q_vectors - 2) * 4) + "; use the CPU (-dev cpu)");
    // A cache that few workgroups would read is read in parts.
    const int64_t groups = (tokens + tokens_at_once - 1) / tokens_at_once * q_blocks() * kv_heads;
    parts = parts_of(operation.inputs[keys_cache].view, groups, 4 * cells_at_once);
}

AttendBlocks blocks_of_few(const Operation& operation) {
    AttendBlocks blocks(operation);
    constexpr int64_t most_at_once = 8;
    const int64_t vectors = (blocks.d + 31) / 32 * 8 + (blocks.dv + 31) / 32 * 8;
    // Addends of one query, an eight of an invocation, and what makes int8 blocks of it.
    constexpr int64_t of_all = 32 * cells_of_few + 8 * cells_of_few + 1024;
    const int64_t room = (shared_bytes - of_all) / (vectors * 16 + cells_of_few * 4 +
                                                    8 * (cells_of_few / least_subgroup) + 8);
    blocks.fits = room > 0;
    blocks.tokens_at_once = 1;
    blocks.q_at_once = std::min(blocks.q_per_kv, std::clamp<int64_t>(room, 1, most_at_once));
    blocks.parts = parts_of(operation.inputs[keys_cache].view,
                            blocks.tokens * blocks.q_blocks() * blocks.kv_heads, cells_of_few);
    // With fewer at once a cache is read more often, which costs less than workgroups that wait.
    while (blocks.q_at_once > 1 &&
           blocks.tokens * blocks.q_blocks() * blocks.kv_heads * blocks.parts < enough_of_few)
        blocks.q_at_once = (blocks.q_at_once + 1) / 2;
    blocks.q_at_once = (blocks.q_per_kv - 1) / blocks.q_blocks() + 1;
    return blocks;
}

int64_t value_eights(const Operation& operation) {
    const int64_t block = planes_of(operation.inputs[values_cache].view.dtype).block;
    return (operation.output.view.extents[3] + block - 1) / block * (block / 8);
}

bool may_be_few(const AttendBlocks& few) {
    return few.tokens <= few_tokens && few.d2 == 0 && few.fits;
}
// A subgroup takes a value at a time.
bool are_few(const Operation& operation, const Features& features) {
    return may_be_few(blocks_of_few(operation)) && features.steady_subgroups &&
           value_eights(operation) <= features.subgroup;
}

AttendBlocks blocks_of_matrices(const Operation& operation) {
    AttendBlocks blocks(operation);
    const int64_t groups =
        (blocks.tokens * blocks.q_per_kv + matrix_rows - 1) / matrix_rows * blocks.kv_heads;
    // Tiles of keys and values, and the scores of all rows; rows have a vector between them.
    auto bytes = [&](int64_t cells) {
        return (cells * (blocks.d / 8 + 1 + blocks.dv / 8 + 1) + matrix_rows * (cells / 4 + 1)) *
               16;
    };
    constexpr int64_t of_maxima = 1024, of_spoiled = 16;
    blocks.cells_at_once = bytes(32) <= shared_bytes - of_maxima - of_spoiled ? 32 : 16;
    blocks.parts = parts_of(operation.inputs[keys_cache].view, groups, 4 * blocks.cells_at_once,
                            enough_on_matrices);
    return blocks;
}

bool may_be_on_matrices(const AttendBlocks& blocks) {
    return blocks.tokens >= MatrixTile::least_tokens && blocks.d2 == 0 && blocks.d % 16 == 0 &&
           blocks.dv % 16 == 0 && std::max(blocks.d, blocks.dv) <= longest_of_matrices;
}
// Who has a cache of f32 does not want its numbers rounded. Else whole fragments, and in the
// softmax whole vectors of shares for every invocation.
bool are_on_matrices(const Operation& operation, const Features& features) {
    const MatrixUnits& units = features.matrix_units;
    if (!units || !features.steady_subgroups) return false;
    for (const auto cache : {keys_cache, values_cache})
        if (operation.inputs[cache].view.dtype == gguf::DType::F32) return false;
    const AttendBlocks blocks = blocks_of_matrices(operation);
    const int64_t cells = blocks.cells_at_once, subgroup = features.subgroup;
    const int64_t sharers = std::max<int64_t>(1, subgroup / units.rows);
    return may_be_on_matrices(blocks) && 16 % units.rows == 0 && blocks.d % units.depth == 0 &&
           blocks.dv % units.tokens == 0 && cells % units.depth == 0 && cells % units.tokens == 0 &&
           cells % (8 * sharers) == 0 && std::has_single_bit(uint32_t(subgroup));
}

}  // namespace tandem::kernels::vulkan
