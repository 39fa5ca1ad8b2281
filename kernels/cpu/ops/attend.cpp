// attend on the CPU: writes the new keys and values, then flash attention over kv heads and blocks
// of their queries.
#include "graph/ops/attend.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

using namespace graph::ops;

bool cache_type(gguf::DType dtype) {
    using gguf::DType;
    return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16 ||
           dtype == DType::Q8_0;
}

bool rows_or_nothing(const Operand& operand) {
    return operand.where == Where::Nowhere || as_rows(operand.view, 1).has_value();
}

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    if (!is(operation, "attend") || operation.node->attributes.number("soft_cap") > 0) return 0;
    for (size_t i : {queries, keys, values, second_queries, second_keys})
        if (!rows_or_nothing(operation.inputs[i])) return 0;
    for (size_t i : {keys_cache, values_cache, second_cache})
        if (operation.inputs[i] && !cache_type(operation.inputs[i].view.dtype)) return 0;
    return as_rows(operation.output.view, 1) ? 1 : 0;
}

// One cache [slots kv_heads cells | d], or one that all heads share, [slots cells | d].
struct CacheRows {
    graph::View view;
    int64_t heads = 1, cells = 0, row_bytes = 0;

    CacheRows() = default;
    explicit CacheRows(graph::View cache)
        : view(std::move(cache)), row_bytes(gguf::row_bytes(view.dtype, view.extents.back())) {
        cells = view.extents[view.axes.size() - 2];
        if (view.axes.size() == 4) heads = view.extents[1];
    }
    std::byte* row(int64_t slot, int64_t head, int64_t position) const {
        int64_t at = heads == 1 ? slot : slot * heads + head;
        return view.data + (at * cells + position % cells) * row_bytes;
    }
    CacheHead head(int64_t slot, int64_t head) const {
        return {.rows = reinterpret_cast<const uint8_t*>(row(slot, head, 0)),
                .stride = row_bytes,
                .cells = cells,
                .type = int(view.dtype),
                .length = view.extents.back()};
    }
};

// What is written to a cache: rows of the tokens' heads.
struct Written {
    Rows rows;
    CacheRows cache;
};

struct Attend {
    Site site;
    std::vector<Written> written;
    Rows q, q2, out;  // rows of one head
    CacheRows k_cache, v_cache, k2_cache;
    const float* sinks = nullptr;
    int64_t kv_heads = 0, q_per_kv = 0, window = 0;
    float scale = 1;

    void write(const Worker& worker) const {
        const graph::StepInputs& inputs = site.inputs();
        for (const graph::Sequence& sequence : inputs.sequences)
            for (const Written& to : written) {
                int64_t first, last, heads = to.cache.heads;
                worker.share(sequence.count * heads, first, last);
                for (int64_t i = first; i < last; ++i) {
                    int64_t token = sequence.first + i / heads, head = i % heads;
                    gguf::encode_row(
                        to.cache.view.dtype,
                        {to.rows.row(token * heads + head), size_t(to.rows.length)},
                        to.cache.row(sequence.slot, head, inputs.positions[size_t(token)]));
                }
            }
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
        const float *rows[attention_queries], *second[attention_queries];
        float *results[attention_queries], sink[attention_queries];
        int32_t from[attention_queries], end[attention_queries];
        int64_t count = std::min<int64_t>(attention_queries, sequence.count * q_per_kv - first);
        for (int64_t i = 0; i < count; ++i) {
            int64_t token = sequence.first + (first + i) / q_per_kv;
            int64_t query = head * q_per_kv + (first + i) % q_per_kv;
            int64_t row = token * kv_heads * q_per_kv + query;
            rows[i] = q.row(row);
            if (k2_cache.view) second[i] = q2.row(row);
            if (sinks) sink[i] = sinks[query];
            results[i] = out.row(row);
            end[i] = site.inputs().positions[size_t(token)] + 1;
            from[i] = window > 0 ? int32_t(std::max<int64_t>(0, end[i] - window)) : 0;
        }
        cpu::Attention attention{.k = k_cache.head(sequence.slot, head),
                                 .v = v_cache.head(sequence.slot, head),
                                 .queries = count,
                                 .q = rows,
                                 .q2 = second,
                                 .out = results,
                                 .first = from,
                                 .end = end,
                                 .sinks = sinks ? sink : nullptr,
                                 .scale = scale};
        if (k2_cache.view) attention.k2 = k2_cache.head(sequence.slot, head);
        attention.scratch = worker.scratch(
            attention_scratch(attention.k.length + attention.k2.length, attention.v.length));
        site.isa.attend(attention);
    }
};

Task bind(const Launch& launch, const Site& site) {
    const Operation& operation = launch.operations[0];
    auto view = [&](size_t operand) { return site.view(operation.inputs[operand]); };
    graph::View q = view(queries);
    Attend attend{.site = site,
                  .q = *as_rows(q, 1),
                  .out = *as_rows(site.view(operation.output), 1),
                  .k_cache = CacheRows(view(keys_cache)),
                  .v_cache = CacheRows(view(values_cache)),
                  .kv_heads = q.extents[1],
                  .q_per_kv = q.extents[2],
                  .window = int64_t(operation.node->attributes.number("window")),
                  .scale = float(operation.node->attributes.number("scale"))};
    if (operation.inputs[second_cache]) {
        attend.k2_cache = CacheRows(view(second_cache));
        attend.q2 = *as_rows(view(second_queries), 1);
        attend.written.push_back({*as_rows(view(second_keys), 1), attend.k2_cache});
    }
    if (operation.inputs[keys]) attend.written.push_back({*as_rows(view(keys), 1), attend.k_cache});
    if (operation.inputs[values])
        attend.written.push_back({*as_rows(view(values), 1), attend.v_cache});
    if (operation.inputs[sinks]) attend.sinks = reinterpret_cast<const float*>(view(sinks).data);
    return [attend](const Worker& worker) {
        attend.write(worker);
        worker.barrier->wait();
        attend.read(worker);
    };
}

}  // namespace

extern const CpuKernel attend{.name = "attend", .claim = claim, .bind = bind};

}  // namespace tandem::kernels::cpu::ops
