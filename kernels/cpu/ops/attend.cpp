// attend on the CPU: writes the new keys and values, then flash attention over kv heads and blocks
// of their queries.
#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

bool cache_type(gguf::DType dtype) {
    using gguf::DType;
    return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16 ||
           dtype == DType::Q8_0;
}

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    if (!is(operation, "attend")) return 0;
    for (size_t i : {0, 1, 2})
        if (!as_rows(operation.inputs[i].view, 1)) return 0;
    return as_rows(operation.output.view, 1) && cache_type(operation.inputs[3].view.dtype) &&
                   cache_type(operation.inputs[4].view.dtype)
               ? 1
               : 0;
}

// One cache [slots kv_heads cells | d].
struct CacheRows {
    graph::View view;
    int64_t row_bytes = 0;

    explicit CacheRows(graph::View cache)
        : view(std::move(cache)), row_bytes(gguf::row_bytes(view.dtype, view.extents[3])) {}
    std::byte* row(int64_t slot, int64_t head, int64_t cell) const {
        return view.data + ((slot * view.extents[1] + head) * view.extents[2] + cell) * row_bytes;
    }
};

struct Attend {
    Site site;
    Rows q, k, v, out;  // rows of one head
    CacheRows k_cache, v_cache;
    int64_t kv_heads, q_per_kv;
    float scale;

    void write(const Worker& worker) const {
        const graph::StepInputs& inputs = site.inputs();
        for (const graph::Sequence& sequence : inputs.sequences) {
            int64_t first, last;
            worker.share(sequence.count * kv_heads, first, last);
            for (int64_t i = first; i < last; ++i) {
                int64_t token = sequence.first + i / kv_heads, head = i % kv_heads;
                int64_t cell = inputs.positions[size_t(token)];
                write_row(k, k_cache, token, sequence.slot, head, cell);
                write_row(v, v_cache, token, sequence.slot, head, cell);
            }
        }
    }

    void write_row(const Rows& from, const CacheRows& cache, int64_t token, int64_t slot,
                   int64_t head, int64_t cell) const {
        gguf::encode_row(cache.view.dtype, {from.row(token * kv_heads + head), size_t(from.length)},
                         cache.row(slot, head, cell));
    }

    void read(const Worker& worker) const {
        int64_t number = 0;
        for (const graph::Sequence& sequence : site.inputs().sequences)
            for (int64_t head = 0; head < kv_heads; ++head)
                for (int64_t first = 0; first < sequence.count * q_per_kv;
                     first += attention_queries)
                    if (number++ % worker.count == worker.index)
                        read_block(sequence, head, first, worker);
    }

    // Queries [first, first + attention_queries) of a kv head, counted over tokens and its queries.
    void read_block(const graph::Sequence& sequence, int64_t head, int64_t first,
                    const Worker& worker) const {
        const float* queries[attention_queries];
        float* results[attention_queries];
        int32_t cells[attention_queries];
        int64_t count = std::min<int64_t>(attention_queries, sequence.count * q_per_kv - first);
        for (int64_t i = 0; i < count; ++i) {
            int64_t token = sequence.first + (first + i) / q_per_kv;
            int64_t row = (token * kv_heads + head) * q_per_kv + (first + i) % q_per_kv;
            queries[i] = q.row(row);
            results[i] = out.row(row);
            cells[i] = site.inputs().positions[size_t(token)] + 1;
        }
        site.isa.attend({.k = reinterpret_cast<const uint8_t*>(k_cache.row(sequence.slot, head, 0)),
                         .v = reinterpret_cast<const uint8_t*>(v_cache.row(sequence.slot, head, 0)),
                         .k_stride = k_cache.row_bytes,
                         .v_stride = v_cache.row_bytes,
                         .key_type = int(k_cache.view.dtype),
                         .value_type = int(v_cache.view.dtype),
                         .d = q.length,
                         .dv = out.length,
                         .queries = count,
                         .q = queries,
                         .out = results,
                         .cells = cells,
                         .scale = scale,
                         .scratch = worker.scratch(attention_scratch(q.length, out.length))});
    }
};

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    graph::View q = site.view(operation.inputs[0]);
    Attend attend{.site = site,
                  .q = *as_rows(q, 1),
                  .k = *as_rows(site.view(operation.inputs[1]), 1),
                  .v = *as_rows(site.view(operation.inputs[2]), 1),
                  .out = *as_rows(site.view(operation.output), 1),
                  .k_cache = CacheRows(site.view(operation.inputs[3])),
                  .v_cache = CacheRows(site.view(operation.inputs[4])),
                  .kv_heads = q.extents[1],
                  .q_per_kv = q.extents[2],
                  .scale = float(operation.node->attributes.number("scale"))};
    return [attend](const Worker& worker) {
        attend.write(worker);
        worker.barrier->wait();
        attend.read(worker);
    };
}

}  // namespace

extern const CpuKernel attend{.name = "attend", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::cpu::ops
