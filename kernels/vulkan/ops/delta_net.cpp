// delta_net: short runs of tokens go one after the other, a subgroup for some rows of a head's
// state; long ones go in chunks (shaders/delta_chunk.glsl).
#include "graph/ops/delta_net.h"

#include "gguf/error.h"
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/planes.h"
#include "kernels/vulkan/runs.h"
#include "kernels/vulkan/shaders.h"

namespace tandem::kernels::vulkan::ops {

namespace {

using namespace graph::ops;

struct DeltaParameters {
    Address count, sequence_count, sequences, sequence_of;
    Address q, k, v, decay, beta, state, y, scratch;
    uint32_t q_stride, k_stride, v_stride, decay_stride, beta_stride, y_stride;
    uint32_t row_bytes, few;
};

// As delta_chunk.glsl has them.
constexpr int64_t chunk = 32, channels = 32, chunk_rows = 32;
constexpr uint32_t chunk_group = 128;
// Tokens of a sequence: below that a chunk would be mostly empty.
constexpr uint32_t worth_a_chunk = 16;

int64_t padded(int64_t length) { return (length + channels - 1) / channels * channels; }

// Some channels of a number per token, as they lie in shared memory. To solve takes four of them,
// two numbers per token and one per channel, to go on two and the rows of the state.
constexpr int64_t tile_bytes = chunk * (channels + 4) * 4;

bool has_room_for_chunks(int64_t length) {
    const int64_t state_bytes = chunk_rows * (padded(length) + 4) * 4;
    return std::max(4 * tile_bytes + (2 * chunk + channels) * 4, 2 * tile_bytes + state_bytes) <=
           shared_bytes;
}

bool may_be_long(const Operation& operation) {
    return operation.output.view.extents[0] > int64_t(worth_a_chunk);
}

size_t claim(std::span<const Operation> ahead) { return is(ahead[0], "delta_net") ? 1 : 0; }

// What belongs to a token lies together.
bool tokens_lie_together(const graph::View& view) {
    return lies_together(view, view.axes.size() - 1);
}

const Form* form(const Operation& operation, size_t input) {
    return input == delta_state || tokens_lie_together(operation.inputs[input].view) ? nullptr
                                                                                     : &dense();
}

int64_t scratch_bytes(std::span<const Operation> claimed) {
    const graph::View &q = claimed[0].inputs[delta_q].view, &v = claimed[0].inputs[delta_v].view;
    if (!may_be_long(claimed[0])) return 0;
    const int64_t solution = 2 * padded(q.extents.back()) + chunk;
    return v.extents[0] * DeltaHeads(q, v).count * solution * 4;
}

uint32_t token_stride(const graph::View& view) {
    return uint32_t((tokens_lie_together(view) ? view : dense_view(view)).strides[0]);
}

bool per_channel(const Operation& operation) {
    return decays_by_channel(operation.inputs[delta_decay].view, operation.inputs[delta_v].view);
}

// Keys, queries and decays of channels can be read four at a time.
bool in_fours(const Operation& operation, const Site& site) {
    bool fours = operation.inputs[delta_q].view.extents.back() % 4 == 0;
    for (size_t i : {delta_q, delta_k, delta_decay}) {
        const Operand& operand = operation.inputs[i];
        if (i != delta_decay || per_channel(operation))
            fours = fours && site.address(operand) % 16 == 0 && token_stride(operand.view) % 4 == 0;
    }
    return fours;
}

DeltaParameters parameters_of(const Launch& launch, const Site& site, bool chunked) {
    const Operation& operation = launch.operations[0];
    auto address = [&](size_t input) { return site.address(operation.inputs[input]); };
    auto stride = [&](size_t input) { return token_stride(operation.inputs[input].view); };
    const int64_t length = operation.inputs[delta_q].view.extents.back();
    const graph::View& y = operation.output.view;
    const StandingAddresses standing = site.standing(y);
    return {.count = site.count(y),
            .sequence_count = site.sequence_count(y),
            .sequences = standing.sequences,
            .sequence_of = standing.sequence_of,
            .q = address(delta_q),
            .k = address(delta_k),
            .v = address(delta_v),
            .decay = address(delta_decay),
            .beta = address(delta_beta),
            .state = address(delta_state),
            .y = site.address(operation.output),
            .scratch = site.scratch(launch),
            .q_stride = stride(delta_q),
            .k_stride = stride(delta_k),
            .v_stride = stride(delta_v),
            .decay_stride = stride(delta_decay),
            .beta_stride = stride(delta_beta),
            .y_stride = uint32_t(y.strides[0]),
            .row_bytes = uint32_t(plane_row_bytes(gguf::DType::F32, length)),
            .few = chunked ? worth_a_chunk : UINT32_MAX};
}

std::vector<Dispatch> bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    const graph::View &q = operation.inputs[delta_q].view, &v = operation.inputs[delta_v].view;
    const graph::View& y = operation.output.view;
    check(tokens_lie_together(y), "what a delta net gives of a token lies together");
    const DeltaHeads heads(q, v);
    const int64_t length = q.extents.back(), rows = v.extents.back();
    const bool chunked = may_be_long(operation) && has_room_for_chunks(length);
    const Parameters parameters(parameters_of(launch, site, chunked));
    const std::vector<uint32_t> constants = {uint32_t(length),         uint32_t(rows),
                                             uint32_t(heads.count),    uint32_t(heads.keys),
                                             uint32_t(heads.stride),   per_channel(operation),
                                             in_fours(operation, site)};
    auto dispatch = [&](const char* shader, uint32_t group, Extent x, Extent y) {
        Dispatch result{
            .shader = shader, .constants = {group}, .parameters = parameters, .x = x, .y = y};
        result.constants.insert(result.constants.end(), constants.begin(), constants.end());
        return result;
    };
    const auto subgroup = uint32_t(site.features.subgroup);
    const uint32_t group = subgroups(site, 4), rows_at_once = 2;
    const int64_t runs = (rows + rows_at_once - 1) / rows_at_once;
    const Extent sequences{.units = std::min<int64_t>(y.extents[0], sequences_at_once)};
    Dispatch steps =
        dispatch("delta_steps", group, {.units = heads.count * runs, .per_group = group / subgroup},
                 sequences);
    steps.constants.push_back((uint32_t(length) + subgroup - 1) / subgroup);
    steps.constants.push_back(rows_at_once);
    if (!chunked) return {steps};
    Dispatch solve = dispatch("delta_solve", chunk_group, {.per_group = chunk, .live = live(y)},
                              {.units = heads.count});
    solve.after_previous = false;
    const int64_t chunk_runs = (rows + chunk_rows - 1) / chunk_rows;
    return {steps, solve,
            dispatch("delta_chunks", chunk_group, {.units = heads.count * chunk_runs}, sequences)};
}

}  // namespace

extern const VulkanKernel delta_net{.name = "delta_net",
                                    .claim = claim,
                                    .bind = bind,
                                    .form = form,
                                    .scratch_bytes = scratch_bytes};

}  // namespace tandem::kernels::vulkan::ops
