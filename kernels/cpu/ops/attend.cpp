// attend on the CPU: writes the new keys and values, then divides pieces of work among the team: a
// block of queries of one kv head with all that they see, or where a step has few tokens of a
// sequence, with a part of it, and joins the parts. Parts follow from positions alone, so the size
// of the team changes no bit.
#include "graph/ops/attend.h"

#include <algorithm>

#include "kernels/cpu/forms.h"
#include "kernels/cpu/ops/attend_rows.h"
#include "kernels/cpu/site.h"

namespace tandem::kernels::cpu::ops {

namespace {

using namespace graph::ops;

bool cache_type(gguf::DType dtype) {
    using gguf::DType;
    return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16 ||
           dtype == DType::Q8_0 || dtype == DType::Q4_0;
}

bool rows_or_nothing(const Operand& operand) {
    return operand.where == Where::Nowhere || as_rows(operand.view, 1).has_value();
}

size_t claim(std::span<const Operation> ahead) {
    const Operation& operation = ahead[0];
    if (!is(operation, "attend")) return 0;
    for (size_t i : {queries, keys, values, second_queries, second_keys})
        if (!rows_or_nothing(operation.inputs[i])) return 0;
    for (size_t i : {keys_cache, values_cache, second_cache})
        if (operation.inputs[i] && !cache_type(operation.inputs[i].view.dtype)) return 0;
    return as_rows(operation.output.view, 1) ? 1 : 0;
}

// The most tokens of one sequence for which a cache is read in parts: blocks of more queries make
// work enough. Their queries fit one call, and they are no more than products take in rows.
// `q_per_kv`: on all devices together, as few tokens are rounded otherwise.
int64_t few_tokens(int64_t q_per_kv) {
    return std::clamp<int64_t>(attention_queries / q_per_kv, 1, most_tokens_in_rows);
}

// How results of parts lie in scratch memory: for each token, query and part a row of out, most and
// total.
struct PartRows {
    int64_t parts = 0;   // of one query; 1: none are kept
    int64_t stride = 0;  // floats
    int64_t tokens = 0;  // of all sequences with few tokens

    PartRows() = default;
    explicit PartRows(const Operation& operation) {
        const graph::View &q = operation.inputs[queries].view,
                          &cache = operation.inputs[keys_cache].view;
        const int64_t cells = cache.extents[cache.axes.size() - 2];
        parts = (cells + attention_part - 1) / attention_part;
        if (operation.node->attributes.number("window") > 0) ++parts;  // from any position on
        stride = (operation.output.view.extents[3] + 2 + 15) / 16 * 16;
        tokens = std::min(q.extents[0], cache.extents[0] * few_tokens(q.axes[2]->extent));
    }
};

int64_t scratch_bytes(std::span<const Operation> claimed) {
    const PartRows rows(claimed[0]);
    const graph::View& q = claimed[0].inputs[queries].view;
    return rows.parts == 1 ? 0
                           : rows.tokens * q.extents[1] * q.extents[2] * rows.parts * rows.stride *
                                 int64_t(sizeof(float));
}

// Queries [first, first + count) of a kv head, counted over the tokens of a sequence and the
// queries of a token, and the positions [begin, end) that any of them sees.
struct Block {
    const graph::Sequence* sequence;
    int64_t head, first, count, begin, end;
    bool few;           // tokens, so that positions are divided
    int64_t first_row;  // of the sequence's parts in scratch memory, in tokens

    int64_t first_part() const { return few ? begin / attention_part : 0; }
    int64_t parts() const { return few ? (end - 1) / attention_part - first_part() + 1 : 1; }
};

struct Attend {
    Site site;
    std::vector<WrittenRows> written;
    Rows q, q2, out;  // rows of one head
    CacheRows k_cache, v_cache, k2_cache;
    Weighing weighing;
    int64_t kv_heads = 0, q_per_kv = 0;
    int64_t all_q_per_kv = 0;  // on all devices
    int64_t window = 0;
    bool of_rows = false;  // of the step, which have no new keys
    PartRows part_rows;
    float* partial = nullptr;

    graph::Standing standing() const {
        return of_rows ? site.inputs().of_rows() : site.inputs().of_tokens();
    }

    void write(const Worker& worker) const {
        for (const WrittenRows& to : written) to.write_share(standing(), worker, site.isa);
    }

    // Whether new rows are written by who reads them, with no barrier between: where one piece has
    // all queries of a head that see a position.
    bool readers_write() const {
        for (const WrittenRows& to : written)
            if (to.cache.heads != kv_heads) return false;
        for (const graph::Sequence& sequence : standing().sequences)
            if (sequence.count > few_tokens(all_q_per_kv) ||
                sequence.count * q_per_kv > attention_queries)
                return false;
        return true;
    }
    void write_piece(const Block& piece) const {
        const graph::Sequence& sequence = *piece.sequence;
        for (int64_t token = sequence.first; token < sequence.first + sequence.count; ++token) {
            const int64_t position = standing().positions[size_t(token)];
            if (position < piece.begin || position >= piece.end) continue;
            for (const WrittenRows& to : written)
                to.write(standing(), sequence.slot, token, piece.head, site.isa);
        }
    }

    template <typename Use>
    void each_block(Use use) const {
        int64_t row = 0;
        for (const graph::Sequence& sequence : standing().sequences) {
            const bool few = sequence.count <= few_tokens(all_q_per_kv);
            const int64_t all = sequence.count * q_per_kv;
            for (int64_t head = 0; head < kv_heads; ++head)
                for (int64_t first = 0; first < all; first += attention_queries) {
                    const int64_t count = std::min<int64_t>(attention_queries, all - first);
                    use(Block{.sequence = &sequence,
                              .head = head,
                              .first = first,
                              .count = count,
                              .begin = seen_from(token_of(sequence, first)),
                              .end = seen_to(standing(), token_of(sequence, first + count - 1)),
                              .few = few,
                              .first_row = row});
                }
            if (few) row += sequence.count;
        }
    }

    int64_t token_of(const graph::Sequence& sequence, int64_t query) const {
        return sequence.first + query / q_per_kv;
    }
    int64_t seen_from(int64_t token) const {
        return window > 0 ? std::max<int64_t>(0, seen_to(standing(), token) - window) : 0;
    }
    // A query's number among those of its token.
    int64_t query_of(const Block& block, int64_t i) const {
        return block.head * q_per_kv + (block.first + i) % q_per_kv;
    }
    // The first of its parts.
    float* parts_of(const Block& block, int64_t i) const {
        const int64_t token = block.first_row + (block.first + i) / q_per_kv;
        const int64_t row = token * kv_heads * q_per_kv + query_of(block, i);
        return partial + row * part_rows.parts * part_rows.stride;
    }
    float* result_of(const Block& block, int64_t i) const {
        const int64_t token = token_of(*block.sequence, block.first + i);
        return out.row(token * kv_heads * q_per_kv + query_of(block, i));
    }

    // Blocks that are not in parts, the last ones first: a head's first blocks see little, so that
    // members end together.
    void deal_blocks(const Worker& worker) const {
        int64_t blocks = 0;
        each_block([&](const Block&) { ++blocks; });
        worker.deal(blocks, 1, [&](const Worker& member, Range some) {
            int64_t number = blocks;
            each_block([&](const Block& block) {
                --number;
                if (number >= some.first && number < some.last) read_piece(block, block, 0, member);
            });
        });
    }

    // Pieces in order, each as much work as it has products; a worker's are those whose middle lies
    // in its share. `writing`: it writes the new rows of its pieces, too.
    void read(const Worker& worker, bool writing) const {
        int64_t all = 0, before = 0;
        each_block([&](const Block& block) { all += block.count * (block.end - block.begin); });
        each_block([&](const Block& block) {
            for (int64_t part = 0; part < block.parts(); ++part) {
                Block piece = block;
                if (block.few) {
                    const int64_t at = (block.first_part() + part) * attention_part;
                    piece.begin = std::max(block.begin, at);
                    piece.end = std::min(block.end, at + attention_part);
                }
                const int64_t work = piece.count * (piece.end - piece.begin);
                if ((before + work / 2) * worker.count / all == worker.index) {
                    if (writing) write_piece(piece);
                    read_piece(block, piece, part, worker);
                }
                before += work;
            }
        });
    }

    // The piece of `block` that is its part number `part`.
    void read_piece(const Block& block, const Block& piece, int64_t part,
                    const Worker& worker) const {
        QueryRows taken(weighing);
        for (int64_t i = 0; i < piece.count; ++i) {
            const int64_t token = token_of(*piece.sequence, piece.first + i);
            const int64_t query = query_of(piece, i), row = token * kv_heads * q_per_kv + query;
            taken.add(query, q.row(row), k2_cache.view ? q2.row(row) : nullptr,
                      block.parts() > 1 ? parts_of(piece, i) + part * part_rows.stride
                                        : result_of(piece, i),
                      {seen_from(token), seen_to(standing(), token)});
        }
        const int32_t slot = piece.sequence->slot;
        const CacheHead k2 = k2_cache.view ? k2_cache.head(slot, piece.head) : CacheHead{};
        cpu::Attention attention =
            taken.over(piece.begin, piece.end, k_cache.head(slot, piece.head), k2,
                       v_cache.head(slot, piece.head), worker);
        attention.all_queries = piece.sequence->count * all_q_per_kv;
        const int lanes = site.isa.lanes;
        const bool few = piece.few && attention.all_queries <= attention_few_queries &&
                         !k2_cache.view && attention.k.length % lanes == 0 &&
                         attention.v.length % lanes == 0;
        few ? site.isa.attend_few(attention) : site.isa.attend_block(attention);
        if (block.parts() == 1) return taken.join(out.length, site.isa);
        for (int64_t i = 0; i < piece.count; ++i) {
            taken.out[i][part_rows.stride - 2] = taken.most[i];
            taken.out[i][part_rows.stride - 1] = taken.total[i];
        }
    }

    bool in_parts() const {
        bool any = false;
        each_block([&](const Block& block) { any = any || block.parts() > 1; });
        return any;
    }

    void join_parts(const Worker& worker) const {
        each_block([&](const Block& block) {
            if (block.parts() == 1) return;
            const auto [first, last] = worker.share(block.count);
            for (int64_t i = first; i < last; ++i) {
                const float* row = parts_of(block, i);
                site.isa.attend_join({.parts = block.parts(),
                                      .length = out.length,
                                      .out = row,
                                      .most = row + part_rows.stride - 2,
                                      .total = row + part_rows.stride - 1,
                                      .stride = part_rows.stride,
                                      .sink = weighing.sink(query_of(block, i)),
                                      .y = result_of(block, i)});
            }
        });
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
                  .weighing = Weighing(operation, site),
                  .kv_heads = q.extents[1],
                  .q_per_kv = q.extents[2],
                  .all_q_per_kv = q.axes[2]->extent,
                  .window = int64_t(operation.node->attributes.number("window")),
                  .of_rows = q.axes[0]->name == "rows",
                  .part_rows = PartRows(operation),
                  .partial = reinterpret_cast<float*>(site.scratch(launch))};
    if (operation.inputs[second_cache]) {
        attend.k2_cache = CacheRows(view(second_cache));
        attend.q2 = *as_rows(view(second_queries), 1);
        attend.written.push_back({*as_rows(view(second_keys), 1), attend.k2_cache});
    }
    if (operation.inputs[keys]) attend.written.push_back({*as_rows(view(keys), 1), attend.k_cache});
    if (operation.inputs[values])
        attend.written.push_back({*as_rows(view(values), 1), attend.v_cache});
    return [attend](const Worker& worker) {
        const bool writing = attend.readers_write(), in_parts = attend.in_parts();
        if (!writing) {
            attend.write(worker);
            worker.barrier->wait();
            if (!in_parts) return attend.deal_blocks(worker);
        }
        attend.read(worker, writing);
        if (!in_parts) return;
        worker.barrier->wait();
        attend.join_parts(worker);
    };
}

}  // namespace

extern const CpuKernel attend{
    .name = "attend", .claim = claim, .bind = bind, .scratch_bytes = scratch_bytes};

}  // namespace tandem::kernels::cpu::ops
