// Latent attention of many tokens on the CPU (DeepSeek-V2 2024): the linear that brings queries to
// the latent, norms and rotations, attend, and the linear that brings what it mixes to a head's
// values, in one launch.
// All heads share a latent row as key and value, which is far longer than a key and a value of one
// head. So where a step's tokens see enough cells, keys and values of each head are made of the
// latents anew, and attention is that of plain heads:
//
//     q[token][head] attends to k[head], v[head] (latent_heads.h) and the second keys
//
// else the operations run one after the other. Keys and values made are F16, so caches of F32,
// which are for those who want no rounding, are left to those.
#include <algorithm>

#include "kernels/cpu/ops/attend_rows.h"
#include "kernels/cpu/ops/latent_heads.h"

namespace tandem::kernels::cpu::ops {

extern const CpuKernel attend, linear_batched, rms_norm, rope;

namespace {

using namespace graph::ops;

// Programs of fewer tokens leave this to the kernels of the operations.
constexpr int64_t least_tokens = 64;

// A norm or a rotation.
bool may_stand_between(const Operation& operation) {
    const std::span alone(&operation, 1);
    return rms_norm.claim(alone) > 0 || rope.claim(alone) > 0;
}

// Whether operation `to` alone reads all of what operation `from` gives.
bool reads_all(std::span<const Operation> ahead, size_t to, size_t input, size_t from) {
    const Operand &given = ahead[from].output, &read = ahead[to].inputs[input];
    return ahead[from].readers == std::vector{int(to - from)} && !ahead[from].outlives_segment &&
           read.value == given.value && read.view.extents == given.view.extents;
}

size_t claim(std::span<const Operation> ahead) {
    if (!is(ahead[0], "linear")) return 0;
    size_t at = 1;
    while (at < ahead.size() && may_stand_between(ahead[at])) ++at;
    if (at + 1 >= ahead.size() || linear_batched.claim(ahead) == 0 ||
        attend.claim(ahead.subspan(at)) == 0 || linear_batched.claim(ahead.subspan(at + 1)) == 0)
        return 0;
    const Operation &to_latent = ahead[0], &mix = ahead[at], &to_values = ahead[at + 1];
    const graph::View& q = mix.inputs[queries].view;
    const graph::View& cache = mix.inputs[keys_cache].view;
    const bool of_latents = mix.inputs[second_cache] && !mix.inputs[values] &&
                            cache.dtype != gguf::DType::F32 && q.axes.size() == 4 &&
                            q.extents[1] == 1 &&
                            mix.inputs[keys_cache].value == mix.inputs[values_cache].value &&
                            mix.node->attributes.number("window") == 0;
    if (!of_latents || q.axes[0]->name != "tokens" || q.extents[0] < least_tokens) return 0;
    const graph::View &plain = to_latent.inputs[0].view, &value = to_values.output.view;
    if (plain.axes.size() != 4 || value.axes.size() != 4 || !as_rows(plain, 1) ||
        !as_rows(value, 1) || !reads_all(ahead, at, queries, 0) || !reads_all(ahead, at + 1, 0, at))
        return 0;
    const LatentShape shape(ahead.first(at + 2));
    return shape.plain % 32 == 0 && shape.latent % 32 == 0 ? at + 2 : 0;
}

// Of a result that stays inside.
int64_t inner_bytes(const Operation& operation) {
    return LatentShape::aligned(operation.output.view.elements() * 4);
}

// Results in between, which both ways need, and what one of them does.
int64_t scratch_bytes(std::span<const Operation> claimed) {
    const size_t at = claimed.size() - 2;
    int64_t between = 0;
    for (const Operation& operation : claimed.subspan(1, at - 1)) between += inner_bytes(operation);
    const int64_t of_operations =
        inner_bytes(claimed[0]) + inner_bytes(claimed[at]) +
        std::max({linear_batched.scratch_bytes(claimed), attend.scratch_bytes(claimed.subspan(at)),
                  linear_batched.scratch_bytes(claimed.subspan(at + 1))});
    return between + std::max(of_operations, LatentShape(claimed).bytes());
}

struct Expanded {
    Site site;
    LatentShape shape;
    LatentHeads heads;
    Rows q, q2, out;                   // rows of one head
    std::vector<WrittenRows> written;  // none where another layer wrote them
    CacheRows k2_cache;
    Weighing weighing;

    graph::Standing standing() const { return site.inputs().of_tokens(); }

    void run(const Worker& worker) const {
        write(worker);
        heads.transpose(worker);
        worker.barrier->wait();
        for (const graph::Sequence& sequence : standing().sequences)
            if (sequence.count > 0) mix_heads(sequence, worker);
    }

    // Of all heads, those that have room at a time.
    void mix_heads(const graph::Sequence& sequence, const Worker& worker) const {
        HeadsAtWork work{.slot = sequence.slot,
                         .cells = seen_to(standing(), sequence.first + sequence.count - 1)};
        const int64_t most = shape.heads_at_once(work.cells);
        for (; work.first < shape.heads; work.first = work.last) {
            work.last = std::min(work.first + most, shape.heads);
            heads.make(work, worker);
            worker.barrier->wait();
            mix(sequence, work, worker);
            worker.barrier->wait();
        }
    }

    // New rows of both caches.
    void write(const Worker& worker) const {
        for (const WrittenRows& to : written) to.write_share(standing(), worker, site.isa);
    }

    // Blocks of queries, the last ones first: those before see less.
    void mix(const graph::Sequence& sequence, const HeadsAtWork& work, const Worker& worker) const {
        const int64_t blocks = (sequence.count + attention_queries - 1) / attention_queries;
        const int64_t count = work.count();
        worker.deal(blocks * count, 1, [&](const Worker& member, Range some) {
            for (int64_t i = some.first; i < some.last; ++i)
                mix_block(sequence, work, i % count, (blocks - 1 - i / count) * attention_queries,
                          member);
        });
    }
    void mix_block(const graph::Sequence& sequence, const HeadsAtWork& work, int64_t number,
                   int64_t first, const Worker& worker) const {
        QueryRows taken(weighing);
        const int64_t count = std::min<int64_t>(attention_queries, sequence.count - first);
        const int64_t head = work.first + number;
        for (int64_t token = sequence.first + first, i = 0; i < count; ++i, ++token) {
            const int64_t row = token * shape.heads + head;
            taken.add(head, q.row(row), q2.row(row), out.row(row), {0, seen_to(standing(), token)});
        }
        const cpu::Attention attention =
            taken.over(0, taken.last[count - 1], heads.keys(work, number),
                       k2_cache.head(sequence.slot, 0), heads.values(work, number), worker);
        site.isa.attend_block(attention);
        taken.join(shape.value, site.isa);
    }
};

// Puts a result that stays inside at the beginning of the launch's scratch memory, which is what
// lies behind it then.
void place_result(Launch& launch, size_t number) {
    Operand& result = launch.operations[number].output;
    if (result.where != Where::Nowhere) return;
    result.where = Where::Arena;
    result.offset = launch.scratch_offset;
    launch.scratch_offset += inner_bytes(launch.operations[number]);
    for (size_t i = number + 1; i < launch.operations.size(); ++i)
        for (Operand& input : launch.operations[i].inputs)
            if (!input && input.value == result.value) {
                input.where = result.where;
                input.offset += result.offset;  // a range of it begins further on
            }
}

Task bind(const Launch& given, const Site& site) {
    Launch launch = given;
    const std::vector<Operation>& all = launch.operations;
    const size_t at = all.size() - 2;
    for (size_t i = 1; i < at; ++i) place_result(launch, i);
    std::byte* const memory = site.scratch(launch);  // of heads, or of the other way
    for (size_t i : {size_t(0), at}) place_result(launch, i);
    auto task_of = [&](const CpuKernel& kernel, const Operation& operation) {
        Launch one = launch;
        one.operations = {operation};
        return kernel.bind(one, site);
    };
    auto rows_of = [&](const Operand& operand) { return *as_rows(site.view(operand), 1); };
    const LatentShape shape(all);
    const Operation &to_latent = all.front(), &mix = all[at], &to_values = all.back();
    Expanded expanded{.site = site,
                      .shape = shape,
                      .heads = LatentHeads(shape, to_latent, mix, to_values, memory, site),
                      .q = rows_of(to_latent.inputs[0]),
                      .q2 = rows_of(mix.inputs[second_queries]),
                      .out = rows_of(to_values.output),
                      .k2_cache = CacheRows(site.view(mix.inputs[second_cache])),
                      .weighing = Weighing(mix, site)};
    if (mix.inputs[keys])
        expanded.written.push_back({rows_of(mix.inputs[keys]), expanded.heads.latents});
    if (mix.inputs[second_keys])
        expanded.written.push_back({rows_of(mix.inputs[second_keys]), expanded.k2_cache});
    std::vector<Task> between;
    for (const Operation& operation : std::span(all).subspan(1, at - 1))
        between.push_back(task_of(is(operation, "rope") ? rope : rms_norm, operation));
    return [expanded, between, first = task_of(linear_batched, to_latent),
            second = task_of(attend, mix),
            third = task_of(linear_batched, to_values)](const Worker& worker) {
        for (const Task& task : between) {
            task(worker);
            worker.barrier->wait();
        }
        if (heads_pay_off(expanded.shape, expanded.standing())) return expanded.run(worker);
        first(worker);
        worker.barrier->wait();
        second(worker);
        worker.barrier->wait();
        third(worker);
    };
}

}  // namespace

extern const CpuKernel attend_expanded{
    .name = "attend.expanded", .claim = claim, .bind = bind, .scratch_bytes = scratch_bytes};

}  // namespace tandem::kernels::cpu::ops
