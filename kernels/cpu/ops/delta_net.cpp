// delta_net on the CPU: runs of rows of the heads' states are shared out, each taken through all
// tokens while it is in the cache. A few tokens go one by one, many in chunks.
#include <cmath>

#include "graph/ops/delta_net.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

using namespace graph::ops;

constexpr int64_t rows_at_a_time = 32;  // of 128 columns: 16 KB, half a first cache
// Of a head's rows, for chunks: each part does again what its rows share.
constexpr int64_t most_parts = 8;
// Tokens: fewer leave most of a chunk's columns, of which there are delta_tokens, empty.
constexpr int64_t worth_a_chunk = 8;

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    if (!is(operation, "delta_net")) return 0;
    for (size_t i : {delta_q, delta_k, delta_v})
        if (!as_rows(operation.inputs[i].view, 1)) return 0;
    const bool per_channel =
        decays_by_channel(operation.inputs[delta_decay].view, operation.inputs[delta_v].view);
    return as_rows(operation.inputs[delta_decay].view, per_channel ? 1 : 0) &&
                   as_rows(operation.inputs[delta_beta].view, 0) &&
                   as_rows(operation.output.view, 1)
               ? 1
               : 0;
}

struct DeltaNet {
    Site site;
    Rows q, k, v, decay, beta, out;  // rows of one head
    DeltaHeads heads;
    float* state = nullptr;
    bool per_channel = false;

    void run(const Worker& worker) const {
        for (const graph::Sequence& sequence : site.inputs().sequences) {
            const bool chunks = sequence.count >= worth_a_chunk;
            const int64_t rows = chunks ? rows_for_chunks(worker.count) : rows_at_a_time;
            const int64_t runs = (v.length + rows - 1) / rows;
            const auto [first, last] = worker.share(heads.count * runs);
            for (int64_t i = first; i < last; ++i) {
                const int64_t row = i % runs * rows, count = std::min(rows, v.length - row);
                if (chunks)
                    run_chunks(sequence, i / runs, row, count, worker);
                else
                    run_tokens(sequence, i / runs, row, count, worker);
            }
        }
    }

    // About a fifth of the work on a head is the same for all its rows, and done again for each
    // part of them. Parts are whole vectors, so that rows get the same bits however they are cut.
    int64_t rows_for_chunks(int64_t workers) const {
        int64_t best = v.length, least = INT64_MAX;
        for (int64_t parts = 1; parts <= most_parts; ++parts) {
            const int64_t step = most_lanes * parts;
            const int64_t rows = (v.length + step - 1) / step * most_lanes;
            const int64_t runs = heads.count * ((v.length + rows - 1) / rows);
            const int64_t time = (runs + workers - 1) / workers * (v.length + 4 * rows);
            if (time < least) best = rows, least = time;
        }
        return best;
    }

    void run_tokens(const graph::Sequence& sequence, int64_t head, int64_t row, int64_t count,
                    const Worker& worker) const {
        run_some(
            {sequence.first, sequence.first + sequence.count}, head, row,
            {.state = state_of(sequence, head, row, count), .count = count, .length = q.length},
            worker.scratch(q.length));
    }

    // Rows of a head's state, zeros where a sequence begins.
    float* state_of(const graph::Sequence& sequence, int64_t head, int64_t row,
                    int64_t count) const {
        float* rows = state + ((sequence.slot * heads.count + head) * v.length + row) * q.length;
        if (sequence.cached == 0) std::fill_n(rows, count * q.length, 0.0f);
        return rows;
    }

    // One by one. `decays`: room for those of all columns.
    void run_some(Range tokens, int64_t head, int64_t row, DeltaStep step, float* decays) const {
        for (int64_t t = tokens.first; t < tokens.last; ++t) {
            const int64_t at = t * heads.count + head, key = t * heads.keys + heads.key_of(head);
            step.q = q.row(key);
            step.k = k.row(key);
            step.v = v.row(at) + row;
            step.beta = *beta.row(at);
            step.out = out.row(at) + row;
            if (per_channel) {
                site.isa.exp(decay.row(at), decays, step.length, 0);
                step.decays = decays;
            } else {
                step.decay = std::exp(*decay.row(at));
            }
            site.isa.delta_step(step);
        }
    }

    void run_chunks(const graph::Sequence& sequence, int64_t head, int64_t row, int64_t count,
                    const Worker& worker) const {
        const float *queries[delta_tokens], *keys[delta_tokens], *values[delta_tokens];
        const float *decays[delta_tokens], *betas[delta_tokens];
        float* results[delta_tokens];
        DeltaChunk chunk{.state = state_of(sequence, head, row, count),
                         .rows = count,
                         .length = q.length,
                         .q = queries,
                         .k = keys,
                         .v = values,
                         .decay = decays,
                         .beta = betas,
                         .per_channel = per_channel,
                         .out = results,
                         .scratch = worker.scratch(delta_scratch(count, q.length))};
        for (int64_t first = 0; first < sequence.count; first += delta_tokens) {
            chunk.tokens = std::min<int64_t>(delta_tokens, sequence.count - first);
            for (int64_t i = 0; i < chunk.tokens; ++i) {
                const int64_t t = sequence.first + first + i, at = t * heads.count + head;
                const int64_t key = t * heads.keys + heads.key_of(head);
                queries[i] = q.row(key);
                keys[i] = k.row(key);
                values[i] = v.row(at) + row;
                decays[i] = decay.row(at);
                betas[i] = beta.row(at);
                results[i] = out.row(at) + row;
            }
            if (never_grows(chunk)) {
                site.isa.delta_chunk(chunk);
                continue;
            }
            const int64_t t = sequence.first + first;
            run_some({t, t + chunk.tokens}, head, row,
                     {.state = chunk.state, .count = count, .length = q.length}, chunk.scratch);
        }
    }

    // Whether all decays are numbers, none above 0: others would get lost where chunks compare
    // them.
    static bool never_grows(const DeltaChunk& chunk) {
        const int64_t count = chunk.per_channel ? chunk.length : 1;
        int others = 0;
        for (int64_t i = 0; i < chunk.tokens; ++i)
            for (int64_t c = 0; c < count; ++c) others += !(chunk.decay[i][c] <= 0);
        return others == 0;
    }
};

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    auto view = [&](size_t operand) { return site.view(operation.inputs[operand]); };
    const bool per_channel = decays_by_channel(view(delta_decay), view(delta_v));
    DeltaNet net{.site = site,
                 .q = *as_rows(view(delta_q), 1),
                 .k = *as_rows(view(delta_k), 1),
                 .v = *as_rows(view(delta_v), 1),
                 .decay = *as_rows(view(delta_decay), per_channel ? 1 : 0),
                 .beta = *as_rows(view(delta_beta), 0),
                 .out = *as_rows(site.view(operation.output), 1),
                 .heads = {view(delta_q), view(delta_v)},
                 .state = reinterpret_cast<float*>(view(delta_state).data),
                 .per_channel = per_channel};
    return [net](const Worker& worker) { net.run(worker); };
}

}  // namespace

extern const CpuKernel delta_net{.name = "delta_net", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::cpu::ops
