// delta_net on the CPU. A few tokens go one by one: runs of rows of the heads' states are shared
// out, each taken through all tokens while it is in the cache. Many go in chunks: heads are shared
// out.
#include <cmath>

#include "graph/ops/delta_net.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

constexpr int64_t rows_at_a_time = 32;
constexpr int64_t worth_a_chunk = 8;  // tokens

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    if (!is(operation, "delta_net")) return 0;
    for (size_t i = 0; i < 3; ++i)
        if (!as_rows(operation.inputs[i].view, 1)) return 0;
    bool per_channel = operation.inputs[3].view.axes.size() == operation.inputs[2].view.axes.size();
    return as_rows(operation.inputs[3].view, per_channel ? 1 : 0) &&
                   as_rows(operation.inputs[4].view, 0) && as_rows(operation.output.view, 1)
               ? 1
               : 0;
}

struct DeltaNet {
    Site site;
    Rows q, k, v, decay, beta, out;  // rows of one head
    graph::ops::DeltaHeads heads;
    float* state = nullptr;
    bool per_channel = false;

    void run(const Worker& worker) const {
        const int64_t runs = (v.length + rows_at_a_time - 1) / rows_at_a_time;
        for (const graph::Sequence& sequence : site.inputs().sequences) {
            int64_t first, last;
            if (sequence.count >= worth_a_chunk) {
                worker.share(heads.count, first, last);
                for (int64_t head = first; head < last; ++head) run_head(sequence, head, worker);
                continue;
            }
            worker.share(heads.count * runs, first, last);
            for (int64_t i = first; i < last; ++i)
                run_rows(sequence, i / runs, i % runs * rows_at_a_time, worker);
        }
    }

    void run_rows(const graph::Sequence& sequence, int64_t head, int64_t row,
                  const Worker& worker) const {
        DeltaStep step{.count = std::min(rows_at_a_time, v.length - row), .length = q.length};
        step.state = state + ((sequence.slot * heads.count + head) * v.length + row) * step.length;
        if (sequence.cached == 0) std::fill_n(step.state, step.count * step.length, 0.0f);
        float* decays = worker.scratch(step.length);
        for (int64_t t = sequence.first; t < sequence.first + sequence.count; ++t) {
            const int64_t at = t * heads.count + head, key = t * heads.keys + heads.key_of(head);
            step.q = q.row(key);
            step.k = k.row(key);
            step.v = v.row(at) + row;
            step.beta = *beta.row(at);
            step.out = out.row(at) + row;
            if (per_channel) {
                for (int64_t c = 0; c < step.length; ++c) decays[c] = std::exp(decay.row(at)[c]);
                step.decays = decays;
            } else {
                step.decay = std::exp(*decay.row(at));
            }
            site.isa.delta_step(step);
        }
    }

    void run_head(const graph::Sequence& sequence, int64_t head, const Worker& worker) const {
        const float *queries[delta_tokens], *keys[delta_tokens], *values[delta_tokens];
        const float *decays[delta_tokens], *betas[delta_tokens];
        float* results[delta_tokens];
        DeltaChunk chunk{
            .state = state + (sequence.slot * heads.count + head) * v.length * q.length,
            .rows = v.length,
            .length = q.length,
            .q = queries,
            .k = keys,
            .v = values,
            .decay = decays,
            .beta = betas,
            .per_channel = per_channel,
            .out = results,
            .scratch = worker.scratch(delta_scratch(v.length, q.length))};
        if (sequence.cached == 0) std::fill_n(chunk.state, chunk.rows * chunk.length, 0.0f);
        for (int64_t first = 0; first < sequence.count; first += delta_tokens) {
            chunk.tokens = std::min<int64_t>(delta_tokens, sequence.count - first);
            for (int64_t i = 0; i < chunk.tokens; ++i) {
                const int64_t t = sequence.first + first + i, at = t * heads.count + head;
                const int64_t key = t * heads.keys + heads.key_of(head);
                queries[i] = q.row(key);
                keys[i] = k.row(key);
                values[i] = v.row(at);
                decays[i] = decay.row(at);
                betas[i] = beta.row(at);
                results[i] = out.row(at);
            }
            site.isa.delta_chunk(chunk);
        }
    }
};

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    auto view = [&](size_t operand) { return site.view(operation.inputs[operand]); };
    bool per_channel = view(3).axes.size() == view(2).axes.size();
    DeltaNet net{.site = site,
                 .q = *as_rows(view(0), 1),
                 .k = *as_rows(view(1), 1),
                 .v = *as_rows(view(2), 1),
                 .decay = *as_rows(view(3), per_channel ? 1 : 0),
                 .beta = *as_rows(view(4), 0),
                 .out = *as_rows(site.view(operation.output), 1),
                 .heads = {view(0), view(2)},
                 .state = reinterpret_cast<float*>(view(5).data),
                 .per_channel = per_channel};
    return [net](const Worker& worker) { net.run(worker); };
}

}  // namespace

extern const CpuKernel delta_net{.name = "delta_net", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::cpu::ops
