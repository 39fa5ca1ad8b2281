// The last part of a projection: how long every value lives, where it lies, and the program with
// all operands located.
#include <algorithm>
#include <map>

#include "gguf/error.h"
#include "parallel/memory.h"
#include "parallel/project.h"
#include "parallel/projection.h"

namespace tandem::parallel {

using kernels::Launch;
using kernels::Operand;
using kernels::Operation;
using kernels::Where;

namespace {

struct Storage {
    Where where = Where::Arena;
    Lifetime life{.first = -1, .last = -1};
    const Operand* kept = nullptr;  // lies where the body left it
};

class Layout {
  public:
    Layout(Projection projection, int64_t bucket, const Memory& memory)
        : projection_(std::move(projection)), local_(projection_.local), memory_(memory) {
        program_ = {.device = local_.device(), .bucket = bucket};
        for (int64_t bytes : projection_.form_bytes)
            storages_.push_back({.life = {.first = -1, .last = -1, .bytes = bytes}});
    }

    Program run() {
        std::vector<Entry>& entries = projection_.entries;
        meetings_.resize(entries.size());
        for (size_t i = 0; i < entries.size(); ++i) visit(entries[i], int(i));
        place_memory();
        for (size_t i = 0; i < entries.size(); ++i) finish(entries[i], int(i));
        return std::move(program_);
    }

  private:
    // What an exchange of this device reads and writes.
    struct Exchanged {
        std::vector<int> from, to;           // instances
        std::vector<StorageNumber> sending;  // what others read
        std::vector<bool> staged;            // copied there by a launch of its own
    };

    StorageNumber add(Storage storage) {
        storages_.push_back(storage);
        return StorageNumber(storages_.size()) - 1;
    }

    StorageNumber storage_of(int instance) {
        int base = local_.base(instance);
        auto found = storage_of_.find(base);
        if (found != storage_of_.end()) return found->second;
        Storage storage;
        storage.life.bytes = local_.operand(base).view.elements() * 4;
        auto kept = memory_.kept.find(base);
        if (kept != memory_.kept.end()) storage.kept = &kept->second;
        return storage_of_[base] = add(storage);
    }

    void touch(StorageNumber number, int position) {
        Lifetime& life = storages_[size_t(number)].life;
        if (life.first < 0) life.first = position;
        life.last = position;
    }

    // Lifetimes.

    void visit(const Entry& entry, int position) {
        if (entry.exchange >= 0) {
            visit_exchange(std::get<Exchange>(local_.placed().steps[size_t(entry.exchange)]),
                           position);
        } else if (entry.prepares >= 0) {
            if (local_.is_activation(entry.source)) touch(storage_of(entry.source), position);
            touch(entry.prepares, position);
        } else {
            visit_launch(entry, position);
        }
    }

    void visit_launch(const Entry& entry, int position) {
        for (size_t i = entry.first; i < entry.first + entry.count; ++i) {
            Draft& draft = projection_.drafts[i];
            for (size_t j = 0; j < draft.inputs.size(); ++j) {
                if (draft.prepared[j] >= 0)
                    touch(draft.prepared[j], position);
                else if (draft.inputs[j] >= 0 && local_.is_activation(draft.inputs[j]))
                    touch_input(draft, draft.inputs[j], position);
            }
            // Results that only the same launch reads stay inside it.
            Operation& operation = draft.operation;
            if (entry.gives_alone && i + 1 == entry.first + entry.count) {
                operation.output.where = Where::Nowhere;
                continue;
            }
            bool inside = !operation.outlives_segment && !operation.readers.empty();
            for (int reader : operation.readers)
                inside = inside && i + size_t(reader) < entry.first + entry.count;
            if (inside) {
                operation.output.where = Where::Nowhere, inside_.push_back(draft.output);
                continue;
            }
            const size_t in_place = entry.kernel ? entry.kernel->in_place : 0;
            for (size_t j = 0; j < std::min(in_place, draft.inputs.size()); ++j)
                if (may_replace(draft, j)) {
                    storage_of_[draft.output] = storage_of(draft.inputs[j]);
                    break;
                }
            touch(storage_of(draft.output), position);
        }
        if (entry.gives >= 0) touch(entry.gives, position);
        if (entry.scratch_bytes > 0)
            scratch_[position] =
                add({.life = {.first = position, .last = position, .bytes = entry.scratch_bytes}});
    }

    // Whether the result of an operation may lie where its input does: nobody reads that
    // afterwards, and neither has a place of its own for the sake of others.
    bool may_replace(const Draft& draft, size_t input) {
        const Operation& operation = draft.operation;
        const graph::View &from = operation.inputs[input].view, &to = operation.output.view;
        const int instance = draft.inputs[input];
        if (instance < 0 || !local_.is_activation(instance)) return false;
        if (operation.inputs[input].where != Where::Arena) return false;  // stays inside a launch
        for (int each : {instance, draft.output})
            if (local_.base(each) != each || memory_.kept.count(each)) return false;
        if (from.axes != to.axes || from.extents != to.extents || from.strides != to.strides)
            return false;
        if (local_.readers(instance).back() != draft.step) return false;
        for (size_t step : local_.readers(draft.output))
            if (std::holds_alternative<Exchange>(local_.placed().steps[step])) return false;
        return storages_[size_t(storage_of(instance))].where == Where::Arena &&
               !storage_of_.count(draft.output);
    }

    void touch_input(Draft& draft, int instance, int position) {
        bool inside =
            std::find(inside_.begin(), inside_.end(), local_.base(instance)) != inside_.end();
        if (!inside) return touch(storage_of(instance), position);
        for (size_t j = 0; j < draft.inputs.size(); ++j)
            if (draft.inputs[j] == instance) draft.operation.inputs[j].where = Where::Nowhere;
    }

    void visit_exchange(const Exchange& exchange, int position) {
        Exchanged& meeting = meetings_[size_t(position)];
        for (const Transfer& transfer : exchange.transfers) {
            if (contains(exchange.sources, local_.device())) {
                StorageNumber number = storage_of(transfer.from);
                touch(number, position);
                meeting.from.push_back(transfer.from);
                // What a launch writes goes straight into memory that others can read; what lies
                // elsewhere is copied there.
                Storage& storage = storages_[size_t(number)];
                bool direct = local_.base(transfer.from) == transfer.from && !storage.kept &&
                              storage.where != Where::Landing;
                if (direct) {
                    storage.where = Where::Sending;
                } else {
                    int64_t bytes = local_.operand(transfer.from).view.elements() * 4;
                    number = add({.where = Where::Sending,
                                  .life = {.first = position, .last = position, .bytes = bytes}});
                }
                meeting.sending.push_back(number);
                meeting.staged.push_back(!direct);
            }
            if (contains(exchange.receivers, local_.device())) {
                StorageNumber number = storage_of(transfer.to);
                storages_[size_t(number)].where = Where::Landing;
                touch(number, position);
                meeting.to.push_back(transfer.to);
            }
        }
    }

    // Offsets.

    void place_memory() {
        program_.arena_bytes = place_block(Where::Arena, memory_.arena);
        program_.sending_bytes = place_block(Where::Sending, memory_.sending);
        program_.landing_bytes = place_block(Where::Landing, memory_.landing);
    }

    int64_t place_block(Where where, int64_t base) {
        std::vector<Lifetime> lives;
        std::vector<Storage*> owners;
        for (Storage& storage : storages_) {
            if (storage.where != where || storage.kept || storage.life.first < 0) continue;
            lives.push_back(storage.life);
            if (where == Where::Arena && lives.back().bytes <= small_bytes)
                lives.back().last += positions_apart();
            owners.push_back(&storage);
        }
        int64_t end = place(lives, base);
        for (size_t i = 0; i < lives.size(); ++i) owners[i]->life = lives[i];
        return end;
    }

    // Where launches run side by side, one that takes over the memory of another has to wait for
    // its readers: small values keep theirs for some more positions.
    static constexpr int64_t small_bytes = int64_t(256) << 10;
    int positions_apart() const {
        return projection_.copy && projection_.copy->side_by_side ? 12 : 0;
    }

    Operand located(Operand operand, int instance) const {
        if (operand.where != Where::Arena) return operand;
        const Storage& storage = storages_[size_t(storage_of_.at(local_.base(instance)))];
        operand.where = storage.kept ? storage.kept->where : storage.where;
        operand.offset += storage.kept ? storage.kept->offset : storage.life.offset;
        return operand;
    }

    Operand prepared(Operand plain, StorageNumber number) const {
        plain.where = Where::Arena;
        plain.offset = storages_[size_t(number)].life.offset;
        return plain;
    }

    // The program.

    Segment& open_segment() {
        if (program_.items.empty() || !std::holds_alternative<Segment>(program_.items.back()))
            program_.items.emplace_back(Segment{});
        return std::get<Segment>(program_.items.back());
    }

    void finish(const Entry& entry, int position) {
        if (entry.exchange >= 0) return finish_meeting(entry, position);
        Launch launch{.kernel = entry.kernel};
        if (entry.prepares >= 0) {
            Operand source = located(local_.operand(entry.source), entry.source);
            launch.operations.push_back(
                {.inputs = {source}, .output = prepared(source, entry.prepares)});
        }
        Segment& segment = open_segment();
        for (size_t i = entry.first; i < entry.first + entry.count; ++i) {
            const Draft& draft = projection_.drafts[i];
            Operation operation = draft.operation;
            for (size_t j = 0; j < draft.inputs.size(); ++j) {
                Operand& input = operation.inputs[j];
                input = draft.prepared[j] >= 0 ? prepared(input, draft.prepared[j])
                                               : located(input, draft.inputs[j]);
            }
            operation.output = located(operation.output, draft.output);
            if (operation.output.where == Where::Sending)
                note_reuse(segment, storage_of_.at(draft.output), position);
            launch.operations.push_back(std::move(operation));
        }
        if (entry.gives >= 0) launch.given = prepared(launch.operations.back().output, entry.gives);
        if (entry.scratch_bytes > 0) {
            launch.scratch_offset = storages_[size_t(scratch_.at(position))].life.offset;
            launch.scratch_bytes = entry.scratch_bytes;
        }
        segment.launches.push_back(std::move(launch));
    }

    void finish_meeting(const Entry& entry, int position) {
        const Exchanged& local = meetings_[size_t(position)];
        Meeting meeting{.exchange = entry.exchange};
        for (size_t i = 0; i < local.from.size(); ++i) {
            Operand from = located(local_.operand(local.from[i]), local.from[i]);
            if (local.staged[i]) from = copied(std::move(from), local.sending[i], position);
            meeting.sends.push_back(std::move(from));
        }
        for (int instance : local.to)
            meeting.receives.push_back(located(local_.operand(instance), instance));
        program_.items.emplace_back(std::move(meeting));
    }

    // Ends the segment before an exchange with a launch that copies an operand to Sending memory.
    Operand copied(Operand from, StorageNumber number, int position) {
        Operand to = from;
        to.where = Where::Sending;
        to.offset = storages_[size_t(number)].life.offset;
        to.view.strides = dense_strides(to.view.extents);
        Segment& segment = open_segment();
        note_reuse(segment, number, position);
        segment.launches.push_back({.kernel = projection_.copy,
                                    .operations = {{.inputs = {std::move(from)}, .output = to}}});
        return to;
    }

    // Exchanges before `position` whose readers may still read the memory of `number`.
    void note_reuse(Segment& segment, StorageNumber number, int position) const {
        const Lifetime& next = storages_[size_t(number)].life;
        for (int earlier = 0; earlier < position; ++earlier)
            for (StorageNumber used : meetings_[size_t(earlier)].sending) {
                const Lifetime& life = storages_[size_t(used)].life;
                bool apart = next.offset + next.bytes <= life.offset ||
                             life.offset + life.bytes <= next.offset;
                int exchange = projection_.entries[size_t(earlier)].exchange;
                bool noted = std::find(segment.reuses.begin(), segment.reuses.end(), exchange) !=
                             segment.reuses.end();
                if (used != number && !apart && !noted) segment.reuses.push_back(exchange);
            }
    }

    Projection projection_;
    const Local& local_;
    const Memory& memory_;
    Program program_;
    std::vector<Storage> storages_;            // the prepared forms come first
    std::map<int, StorageNumber> storage_of_;  // by base instance
    std::map<int, StorageNumber> scratch_;     // by position
    std::vector<int> inside_;                  // instances that stay inside their launch
    std::vector<Exchanged> meetings_;          // by position
};

}  // namespace

Program lay_out(Projection projection, int64_t bucket, const Memory& memory) {
    return Layout(std::move(projection), bucket, memory).run();
}

}  // namespace tandem::parallel
