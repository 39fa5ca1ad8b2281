#include "kernels/vulkan/heads.h"

#include "graph/rope.h"
#include "kernels/vulkan/cache.h"
#include "kernels/vulkan/chain.h"
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/runs.h"
#include "kernels/vulkan/shaders.h"
#include "kernels/vulkan/turns.h"

namespace tandem::kernels::vulkan {

using namespace graph::ops;

namespace {

// As in shaders/heads.comp.
struct HeadsParameters {
    Address count, x, weight, angles, positions, sequence_of, sequences, y;
    uint32_t per_live, cells, dims;
    float epsilon, magnitude;
    Runs rows;
};

bool is_of_heads(const Operation& operation) {
    if (is(operation, "rope")) return true;
    return is(operation, "rms_norm") &&
           (!operation.inputs[1] || operation.inputs[1].view.axes.size() == 1);
}

// The only reader of an operation's result among those `ahead`; null where there is none.
const Operation* reader_of(std::span<const Operation> ahead, size_t number) {
    const Operation& operation = ahead[number];
    if (operation.readers.size() != 1 || !read_only_by(operation, operation.readers[0]))
        return nullptr;
    const size_t reader = number + size_t(operation.readers[0]);
    return reader < ahead.size() ? &ahead[reader] : nullptr;
}

// As which operand it reads all of the result; -1 where there are several or it reads a part.
int operand_of(const Operation& reader, const Operation& writer) {
    int found = -1;
    for (size_t i = 0; i < reader.inputs.size(); ++i) {
        if (!reads(reader, i, writer)) continue;
        const bool whole =
            reads_all(reader, i, writer) && reader.inputs[i].view.axes == writer.output.view.axes;
        if (found >= 0 || !whole) return -1;
        found = int(i);
    }
    return found;
}

bool takes_heads(int operand) {
    return operand == queries || operand == keys || operand == values ||
           operand == second_queries || operand == second_keys;
}

// `ahead` ends with the attend.
bool find_ways(std::span<const Operation> ahead, std::array<Way, operands>& ways) {
    const Operation& attend = ahead.back();
    std::vector<const Operation*> normed(ahead.size());  // by the rotation that reads it
    for (size_t i = 0; i + 1 < ahead.size(); ++i) {
        const Operation &operation = ahead[i], *reader = reader_of(ahead, i);
        const int operand = reader ? operand_of(*reader, operation) : -1;
        if (operand < 0 || !lies_together(operation.inputs[0].view, 1)) return false;
        const bool norm = is(operation, "rms_norm");
        if (norm && operand == 0 && is(*reader, "rope")) {
            normed[size_t(reader - ahead.data())] = &operation;
        } else if (reader == &attend && takes_heads(operand)) {
            Way& way = ways[size_t(operand)];
            way = norm ? Way{.norm = &operation} : Way{.norm = normed[i], .rope = &operation};
        } else {
            return false;
        }
    }
    return true;
}

Dispatch heads(const Operand& x, const Way& way, const Operand* cache, Address y,
               const Site& site) {
    const StandingAddresses standing = site.standing(x.view);
    const Rows rows = rows_of(x.view, dense_view(x.view), 1);
    HeadsParameters parameters{.count = site.count(x.view),
                               .x = site.address(x),
                               .positions = standing.positions,
                               .sequence_of = standing.sequence_of,
                               .sequences = standing.sequences,
                               .y = y,
                               .per_live = rows.per_live,
                               .cells = cache ? cells_of(cache->view) : 0,
                               .rows = rows.runs};
    uint32_t norm = 0, turning = 0;
    if (way.norm) {
        norm = way.norm->inputs[1] ? 2 : 1;
        parameters.weight = site.address(way.norm->inputs[1]);
        parameters.epsilon = float(way.norm->node->attributes.number("epsilon"));
    }
    if (way.rope) {
        const graph::Rope rope = graph::rope_of(*way.rope->node);
        turning = rope.halves ? 2 : 1;
        parameters.angles = keep_turns(*way.rope, site);
        parameters.dims = uint32_t(rope.dims);
        parameters.magnitude = float(rope.magnitude);
    }
    bool aligned = rows.length % 4 == 0;
    for (Address address : {parameters.x, parameters.weight})
        aligned = aligned && address % 16 == 0;
    for (uint32_t stride : rows.runs.from) aligned = aligned && stride % 4 == 0;
    // As many rows as there is shared memory for.
    const int64_t room = int64_t(rows.length + 3) / 4 * 16;
    const uint32_t group = subgroups(site, int(std::clamp<int64_t>(shared_bytes / room, 1, 4)));
    const uint32_t rows_at_once = group / uint32_t(site.features.subgroup);
    return {.shader = "heads",
            .constants = {group, rows.length, norm, turning, cache != nullptr,
                          cache ? cache_number(cache->view.dtype) : 0, aligned, rows_at_once},
            .parameters = Parameters(parameters),
            .x = {.units = rows.per_live, .per_group = rows_at_once, .live = live(x.view)}};
}

}  // namespace

AttendChain attend_chain(std::span<const Operation> ahead) {
    size_t before = 0;
    while (before < ahead.size() && is_of_heads(ahead[before])) ++before;
    if (before == ahead.size() || !is(ahead[before], "attend")) return {};
    AttendChain chain{.length = before + 1};
    return find_ways(ahead.first(chain.length), chain.ways) ? chain : AttendChain{};
}

Dispatch to_rows(const Operand& x, const Way& way, Address y, const Site& site) {
    return heads(x, way, nullptr, y, site);
}

Dispatch to_cells(const Operand& x, const Way& way, const Operand& cache, const Site& site) {
    return heads(x, way, &cache, site.address(cache), site);
}

uint32_t cells_of(const graph::View& cache) {
    return uint32_t(cache.extents[cache.axes.size() == 4 ? 2 : 1]);
}

}  // namespace tandem::kernels::vulkan
