// Rows of attention on the CPU: those that are written to caches, and queries and results of one
// call.
#pragma once

#include "kernels/cpu/cache.h"
#include "kernels/cpu/rows.h"

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
            int64_t first, last;
            worker.share(sequence.count * cache.heads, first, last);
            for (int64_t i = first; i < last; ++i)
                write(standing, sequence.slot, sequence.first + i / cache.heads, i % cache.heads,
                      isa);
        }
    }
};

// Queries of one call, in ascending order of what they see, and what it finds for each.
struct QueryRows {
    int64_t count = 0;
    const float *q[attention_queries], *q2[attention_queries];
    float *out[attention_queries], most[attention_queries], total[attention_queries];
    int32_t first[attention_queries], last[attention_queries];

    // One more, which sees positions [from, to); no `second`: keys have one part.
    void add(const float* row, const float* second, float* result, int64_t from, int64_t to) {
        q[count] = row;
        q2[count] = second;
        out[count] = result;
        first[count] = int32_t(from);
        last[count++] = int32_t(to);
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
                .out = out,
                .most = most,
                .total = total,
                .scratch = worker.scratch(attention_scratch(k.length + k2.length, v.length))};
    }
};

}  // namespace tandem::kernels::cpu::ops
