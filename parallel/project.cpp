#include "parallel/project.h"

#include <algorithm>
#include <map>
#include <set>

#include "gguf/error.h"
#include "parallel/memory.h"
#include "parallel/projection.h"

namespace tandem::parallel {

using kernels::Form;
using kernels::Kernel;
using kernels::Operand;
using kernels::Operation;
using kernels::Where;

namespace {

// Collects the device's operations and gives each run of them, between two exchanges, to kernels.
class Claims {
  public:
    Claims(const Local& local, std::span<const Kernel> kernels, const Kernel* copy)
        : kernels_(kernels), projection_{.local = local, .copy = copy} {}

    Projection run(size_t begin, size_t end) {
        const auto& steps = projection_.local.placed().steps;
        for (size_t step = begin; step < end; ++step) {
            if (auto* compute = std::get_if<Compute>(&steps[step])) {
                if (projection_.local.computes(*compute)) collect(*compute, step);
            } else if (auto& exchange = std::get<Exchange>(steps[step]);
                       contains(exchange.sources, projection_.local.device()) ||
                       contains(exchange.receivers, projection_.local.device())) {
                close_segment();
                projection_.entries.push_back({.exchange = int(step)});
            }
        }
        close_segment();
        note_unread();
        return std::move(projection_);
    }

  private:
    void collect(const Compute& compute, size_t step) {
        const Local& local = projection_.local;
        Draft draft{.inputs = compute.inputs, .output = compute.output, .step = step};
        draft.prepared.assign(compute.inputs.size(), -1);
        draft.operation.node = &local.placed().graph->nodes()[size_t(compute.node)];
        for (int instance : compute.inputs)
            draft.operation.inputs.push_back(instance < 0 ? Operand{} : local.operand(instance));
        draft.operation.output = local.operand(compute.output);
        projection_.drafts.push_back(std::move(draft));
        steps_.push_back(step);
    }

    void close_segment() {
        std::vector<Draft>& drafts = projection_.drafts;
        std::vector<Operation> ahead;
        for (size_t i = segment_; i < drafts.size(); ++i) {
            note_readers(i);
            ahead.push_back(drafts[i].operation);
        }
        for (size_t i = 0; i < ahead.size();) {
            Entry entry{.first = segment_ + i, .count = 1};
            size_t most = 0;
            for (const Kernel& kernel : kernels_) {
                size_t count = kernel.claim(std::span(ahead).subspan(i));
                if (count > most) most = entry.count = count, entry.kernel = &kernel;
            }
            check(kernels_.empty() || entry.kernel,
                  "a device has a kernel for " + std::string(ahead[i].node->op->name));
            if (entry.kernel && entry.kernel->form) prepare(entry);
            if (entry.kernel && entry.kernel->scratch_bytes)
                entry.scratch_bytes =
                    entry.kernel->scratch_bytes(std::span(ahead).subspan(i, entry.count));
            if (entry.kernel && entry.kernel->gives)
                if (const Form* form =
                        entry.kernel->gives(std::span(ahead).subspan(i, entry.count)))
                    givers_[{last_of(entry).output, form}] = projection_.entries.size();
            i += entry.count;
            projection_.entries.push_back(entry);
        }
        segment_ = drafts.size();
    }

    // Who reads the result: operations of this segment, and whether anything after it.
    void note_readers(size_t number) {
        Operation& operation = projection_.drafts[number].operation;
        for (size_t step : projection_.local.readers(projection_.drafts[number].output)) {
            auto reader = std::lower_bound(steps_.begin() + int64_t(segment_), steps_.end(), step);
            if (reader != steps_.end() && *reader == step)
                operation.readers.push_back(int(reader - steps_.begin()) - int(number));
            else
                operation.outlives_segment = true;
        }
    }

    Draft& last_of(const Entry& entry) { return projection_.drafts[entry.first + entry.count - 1]; }

    // Adds a preparation for every form that the kernel reads and that nobody has made yet, or asks
    // the launch for it that makes the value.
    void prepare(const Entry& entry) {
        for (size_t i = entry.first; i < entry.first + entry.count; ++i) {
            Draft& draft = projection_.drafts[i];
            for (size_t j = 0; j < draft.inputs.size(); ++j) {
                if (draft.inputs[j] < 0) continue;
                const Form* form = entry.kernel->form(draft.operation, j);
                if (!form) continue;
                int next = int(projection_.form_bytes.size());
                auto [found, added] = prepared_.try_emplace({draft.inputs[j], form}, next);
                draft.prepared[j] = found->second;
                if (!added) continue;
                projection_.form_bytes.push_back(form->bytes(draft.operation.inputs[j].view));
                auto giver = givers_.find({draft.inputs[j], form});
                if (giver != givers_.end()) {
                    projection_.entries[giver->second].gives = next;
                    continue;
                }
                projection_.entries.push_back(
                    {.kernel = form->prepare, .source = draft.inputs[j], .prepares = next});
            }
        }
    }

    // Results that are read in the given form alone.
    void note_unread() {
        std::set<int> read;  // as they are
        const Local& local = projection_.local;
        auto note = [&](int instance) {
            if (instance >= 0) read.insert(local.base(instance));
        };
        for (const Entry& entry : projection_.entries) note(entry.source);
        for (const Draft& draft : projection_.drafts)
            for (size_t j = 0; j < draft.inputs.size(); ++j)
                if (draft.prepared[j] < 0) note(draft.inputs[j]);
        for (Entry& entry : projection_.entries) {
            if (entry.gives < 0) continue;
            const Draft& last = last_of(entry);
            entry.gives_alone = !last.operation.outlives_segment && !read.count(last.output);
        }
    }

    std::span<const Kernel> kernels_;
    Projection projection_;
    std::vector<size_t> steps_;  // of the drafts
    size_t segment_ = 0;         // first draft of the open segment
    std::map<std::pair<int, const Form*>, StorageNumber> prepared_;
    std::map<std::pair<int, const Form*>, size_t> givers_;  // entries, by what they can give
};

// Base instances that steps of the body write and steps of the head read.
std::set<int> crossing_values(const Local& local) {
    const Placed& placed = local.placed();
    std::set<int> found;
    for (size_t step = 0; step < placed.head_begin; ++step) {
        std::vector<int> written;
        if (auto* compute = std::get_if<Compute>(&placed.steps[step])) {
            if (local.computes(*compute)) written.push_back(compute->output);
        } else {
            auto& exchange = std::get<Exchange>(placed.steps[step]);
            if (contains(exchange.receivers, local.device()))
                for (const Transfer& transfer : exchange.transfers) written.push_back(transfer.to);
        }
        for (int instance : written) {
            const std::vector<size_t>& readers = local.readers(instance);
            if (!readers.empty() && readers.back() >= placed.head_begin) found.insert(instance);
        }
    }
    return found;
}

bool received(const Placed& placed, int instance) {
    for (const auto& step : placed.steps)
        if (auto* exchange = std::get_if<Exchange>(&step))
            for (const Transfer& transfer : exchange->transfers)
                if (transfer.to == instance) return true;
    return false;
}

}  // namespace

Program project(const Placed& placed, int device, Stage stage, int64_t bucket,
                std::span<const Kernel> kernels, const Kernel* copy, const Memory& memory) {
    Local local(placed, device, bucket);
    bool body = stage == Stage::Body;
    Projection projection =
        Claims(local, kernels, copy)
            .run(body ? 0 : placed.head_begin, body ? placed.head_begin : placed.steps.size());
    return lay_out(std::move(projection), bucket, memory);
}

Memory keep_crossing_values(const Placed& placed, int device, int64_t largest_bucket) {
    Memory memory;
    Local local(placed, device, largest_bucket);
    for (int instance : crossing_values(local)) {
        Operand at = local.operand(instance);
        at.where = received(placed, instance) ? Where::Landing : Where::Arena;
        int64_t& end = at.where == Where::Landing ? memory.landing : memory.arena;
        at.offset = end;
        end += aligned(at.view.elements() * 4);
        memory.kept[instance] = at;
    }
    return memory;
}

Programs make_programs(const Placed& placed, int device, int64_t most_tokens,
                       std::span<const Kernel> kernels, const Kernel* copy) {
    Programs all;
    auto add = [&](std::vector<Program>& list, Program program) {
        all.arena_bytes = std::max(all.arena_bytes, program.arena_bytes);
        all.sending_bytes = std::max(all.sending_bytes, program.sending_bytes);
        all.landing_bytes = std::max(all.landing_bytes, program.landing_bytes);
        list.push_back(std::move(program));
    };
    Memory memory = keep_crossing_values(placed, device, most_tokens);
    for (int64_t bucket : {int64_t(1), int64_t(8), int64_t(64), most_tokens}) {
        if (bucket > most_tokens || (!all.body.empty() && all.body.back().bucket == bucket))
            continue;
        add(all.body, project(placed, device, Stage::Body, bucket, kernels, copy, memory));
    }
    // Others may still read what the body sent while the head runs.
    memory.sending = all.sending_bytes;
    for (int64_t bucket : {int64_t(1), int64_t(8), head_rows})
        add(all.head, project(placed, device, Stage::Head, bucket, kernels, copy, memory));
    return all;
}

size_t fitting(const std::vector<Program>& programs, int64_t count) {
    for (size_t i = 0; i < programs.size(); ++i)
        if (count <= programs[i].bucket) return i;
    check(false, "a step has no more tokens than the largest program");
    return 0;
}

}  // namespace tandem::parallel
