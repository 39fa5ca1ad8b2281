// Rows of attention on the CPU: those that are written to caches, and queries and results of one
// call.
#pragma once

#include "graph/ops/attend.h"
#include "kernels/cpu/cache.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

// New rows of a cache: of each token, those of its heads.
struct WrittenRows {
    Rows rows;
    CacheRows cache;

    void write(const graph::Standing& standing, int32_t slot, int64_t token, int64_t head,
               const Isa& isa) const {
        std::byte* cell = cache.row(slot, head, standing.positions[size_t(token)]);
        isa.encode(int(cache.view.dtype), rows.row(token * cache.heads + head), rows.length,
                   reinterpret_cast<uint8_t*>(cell));
    }

    // A member's share of those of all sequences.
    void write_share(const graph::Standing& standing, const Worker& worker, const Isa& isa) const {
        for (const graph::Sequence& sequence : standing.sequences) {
            const auto [first, last] = worker.share(sequence.count * cache.heads);
            for (int64_t i = first; i < last; ++i)
                write(standing, sequence.slot, sequence.first + i / cache.heads, i % cache.heads,
                      isa);
        }
    }
};

// How an attend operation makes weights of scores.
struct Weighing {
    float scale = 1, soft_cap = 0;
    const float* sinks = nullptr;  // of each head of queries; null: none

    Weighing(const Operation& operation, const Site& site)
        : scale(float(operation.node->attributes.number("scale"))),
          soft_cap(float(operation.node->attributes.number("soft_cap"))),
          sinks(
              reinterpret_cast<const float*>(site.view(operation.inputs[graph::ops::sinks]).data)) {
    }

    const float* sink(int64_t head) const { return sinks ? sinks + head : nullptr; }
};

// Behind the last position that a token sees, which is its own.
inline int64_t seen_to(const graph::Standing& standing, int64_t token) {
    return standing.positions[size_t(token)] + 1;
}

// Queries of one call, in ascending order of what they see, and what it finds for each.
struct QueryRows {
    const Weighing& weighing;
    int64_t count = 0;
    const float *q[attention_queries], *q2[attention_queries], *sink[attention_queries];
    float *out[attention_queries], most[attention_queries], total[attention_queries];
    int32_t first[attention_queries], last[attention_queries];

    explicit QueryRows(const Weighing& how) : weighing(how) {}

    // One more, of a head of queries, which sees some positions; no `second`: keys have one part.
    void add(int64_t head, const float* row, const float* second, float* result, Range seen) {
        q[count] = row;
        q2[count] = second;
        sink[count] = weighing.sink(head);
        out[count] = result;
        first[count] = int32_t(seen.first);
        last[count++] = int32_t(seen.last);
    }

    // The call over positions [begin, end); keys with one part have no k2.
    Attention over(int64_t begin, int64_t end, const CacheHead& k, const CacheHead& k2,
                   const CacheHead& v, const Worker& worker) {
        return {.k = k,
                .v = v,
                .k2 = k2,
                .begin = begin,
                .end = end,
                .queries = count,
                .q = q,
                .q2 = q2,
                .first = first,
                .last = last,
                .scale = weighing.scale,
                .soft_cap = weighing.soft_cap,
                .out = out,
                .most = most,
                .total = total,
                .scratch = worker.scratch(attention_scratch(k.length + k2.length, v.length))};
    }

    // Makes results, `length` floats each, of what the call found, where that was all they see.
    void join(int64_t length, const Isa& isa) {
        for (int64_t i = 0; i < count; ++i)
            isa.attend_join({.parts = 1,
                             .length = length,
                             .out = out[i],
                             .most = &most[i],
                             .total = &total[i],
                             .sink = sink[i],
                             .y = out[i]});
    }
};

}  // namespace tandem::kernels::cpu::ops
