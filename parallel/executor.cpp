#include "parallel/executor.h"

#include <algorithm>
#include <utility>

#include "gguf/error.h"
#include "parallel/communicator/counter.h"

namespace tandem::parallel {

namespace {

// Of those who receive, one who sends too, if there is one: who has no part in the work before an
// exchange may be late to hear of it. The host's is not an exchange between devices.
int teller_of(const Exchange& exchange) {
    if (exchange.to_host) return -1;
    for (int device : exchange.receivers)
        if (contains(exchange.sources, device)) return device;
    return exchange.receivers.front();
}

}  // namespace

Executor::Executor(const Placed& placed, std::span<const std::unique_ptr<kernels::Device>> devices,
                   std::vector<Programs> programs, std::unique_ptr<Communicator> communicator,
                   int64_t most_tokens, bool timed)
    : placed_(placed),
      communicator_(std::move(communicator)),
      most_tokens_(most_tokens),
      timed_(timed) {
    const graph::Shape& result = placed.graph->result().shape();
    vocab_ = graph::elements({result.begin() + 1, result.end()});
    tellers_.assign(placed.steps.size(), -1);
    for (size_t i = 0; i < placed.steps.size(); ++i)
        if (auto* exchange = std::get_if<Exchange>(&placed.steps[i])) {
            if (exchange->to_host) fetch_ = int(i);
            tellers_[i] = teller_of(*exchange);
        }
    done_.assign(devices.size(), 0);
    for (size_t i = 0; i < devices.size(); ++i) {
        Seat& seat = seats_.emplace_back();
        seat.device = devices[i].get();
        seat.programs = std::move(programs[i]);
        seat.device->make_arena(seat.programs.arena_bytes);
        seat.device->reserve_inputs(most_tokens);
        communicator_->reserve(int(i), *seat.device, seat.programs.sending_bytes,
                               seat.programs.landing_bytes);
        for (const Program& program : seat.programs.body)
            seat.body.push_back(record(seat, int(i), program, Stage::Body));
        for (const Program& program : seat.programs.head)
            seat.head.push_back(record(seat, int(i), program, Stage::Head));
    }
    try {
        for (size_t i = 0; i < seats_.size(); ++i)
            seats_[i].thread = std::thread([this, i] { work(int(i)); });
    } catch (...) {  // the system has no more of them
        stop();
        throw;
    }
}

Executor::~Executor() { stop(); }

void Executor::stop() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    cancelled_.store(true);
    changed_.notify_all();
    communicator_->poison();
    for (Seat& seat : seats_)
        if (seat.thread.joinable()) seat.thread.join();
    // A thread that was stopped leaves behind what it played, in recordings that go with the seats.
    for (Seat& seat : seats_) {
        try {
            seat.device->wait(seat.played);
        } catch (...) {
            // A device that was lost runs nothing any more.
        }
    }
}

Executor::Recorded Executor::record(Seat& seat, int number, const Program& program, Stage stage) {
    Recorded recorded{.program = &program, .stage = stage};
    for (int slot : {0, 1})
        for (const auto& item : program.items)
            if (auto* segment = std::get_if<Segment>(&item))
                recorded.segments[slot].push_back(seat.device->record(
                    segment->launches, {.sending = communicator_->sending(number, slot),
                                        .landing = communicator_->landing(number),
                                        .cancelled = &cancelled_,
                                        .timed = timed_}));
    return recorded;
}

Ticket Executor::submit(graph::StepInputs inputs) {
    throw_if_failed();
    check(inputs.tokens() > 0 && inputs.tokens() <= most_tokens_,
          "a step has tokens, and no more than were planned for");
    std::lock_guard lock(mutex_);
    steps_.push_back(std::move(inputs));
    changed_.notify_all();
    return first_ + steps_.size() - 1;
}

void Executor::wait(Ticket ticket, const Sink& sink) {
    try {
        while (true) {
            const graph::StepInputs* step = nullptr;
            Ticket number;
            {
                std::lock_guard lock(mutex_);
                check(ticket < first_ + steps_.size(),
                      "a step is submitted before it is waited for");
                if (ticket < first_) return;
                step = &steps_.front();
                number = first_;
            }
            int64_t rows = int64_t(step->rows.size());
            for (int64_t first = 0; first < rows; first += head_rows) {
                int64_t count = std::min(head_rows, rows - first);
                std::span<const float> logits =
                    communicator_->fetch(fetch_, fetched_++, {.rows = count});
                if (number != ticket || !sink) continue;
                try {
                    sink(first, logits);
                } catch (...) {
                    fail(std::current_exception());
                    throw;
                }
            }
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] {
                return error_ || std::all_of(done_.begin(), done_.end(),
                                             [&](Ticket done) { return done > number; });
            });
            if (error_) std::rethrow_exception(error_);
            steps_.pop_front();
            ++first_;
        }
    } catch (const Poisoned&) {
        throw_if_failed();
        throw Error("interrupted");
    }
}

void Executor::cancel() { fail(std::make_exception_ptr(Error("interrupted"))); }

// What a device leaves half done as it sees that it is cancelled must not be taken for a result, so
// that whoever would fetch it is stopped before.
void Executor::fail(std::exception_ptr error) {
    {
        std::lock_guard lock(mutex_);
        if (!error_) error_ = error;
    }
    communicator_->poison();
    cancelled_.store(true);
    changed_.notify_all();
}

void Executor::throw_if_failed() {
    std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
}

// A device's thread: takes the steps in order.
void Executor::work(int number) {
    Seat& seat = seats_[size_t(number)];
    try {
        for (Ticket next = 0;; ++next) {
            const graph::StepInputs* step = nullptr;
            {
                std::unique_lock lock(mutex_);
                changed_.wait(lock,
                              [&] { return stopping_ || error_ || next < first_ + steps_.size(); });
                if (stopping_ || error_) return;
                step = &steps_[size_t(next - first_)];
            }
            const std::vector<int32_t>& rows = step->rows;
            graph::StepInputs& inputs = seat.device->inputs();
            inputs.ids = step->ids;
            inputs.positions = step->positions;
            inputs.sequences = step->sequences;
            auto take_rows = [&](size_t first) {
                const size_t last = std::min(first + size_t(head_rows), rows.size());
                inputs.take_rows(std::span(rows).subspan(first, last - first));
            };
            take_rows(0);
            Counts counts{.tokens = step->tokens()};
            Recorded& body = seat.body[fitting(seat.programs.body, counts.tokens)];
            run(number, body, uint32_t(next), counts);
            // The head's first rows are among the inputs already, so that it may be queued up
            // behind a body that still runs.
            for (size_t first = 0; first < rows.size(); first += size_t(head_rows)) {
                if (first > 0) {
                    seat.device->wait(seat.played);
                    take_rows(first);
                }
                counts.rows = int64_t(inputs.rows.size());
                Recorded& head = seat.head[fitting(seat.programs.head, counts.rows)];
                run(number, head, seat.head_runs++, counts);
            }
            seat.device->wait(seat.played);
            std::lock_guard lock(mutex_);
            done_[size_t(number)] = next + 1;
            changed_.notify_all();
        }
    } catch (const Poisoned&) {
        // Another thread failed, or the executor is going away.
    } catch (...) {
        fail(std::current_exception());
    }
}

void Executor::run(int number, Recorded& recorded, uint32_t sequence, Counts counts) {
    Seat& seat = seats_[size_t(number)];
    ++recorded.plays;
    recorded.tokens += recorded.stage == Stage::Body ? counts.tokens : counts.rows;
    communicator_->begin(*recorded.program, sequence);
    size_t segment = 0;
    for (const auto& item : recorded.program->items) {
        if (auto* launches = std::get_if<Segment>(&item)) {
            for (int exchange : launches->reuses) communicator_->reuse(exchange, sequence);
            seat.played = seat.device->play(*recorded.segments[sequence % 2][segment++]);
        } else {
            seat.device->wait(seat.played);
            auto start = std::chrono::steady_clock::now();
            const auto& meeting = std::get<Meeting>(item);
            const auto waited = communicator_->run(number, meeting, sequence, counts);
            const std::chrono::nanoseconds passed = std::chrono::steady_clock::now() - start;
            if (tellers_[size_t(meeting.exchange)] == number)
                exchange_time_ += uint64_t((passed - waited).count());
            ++seat.exchanges;
            seat.exchanging += passed.count();
        }
    }
}

void Executor::add_times(Recorded& recorded, DeviceTimes& times) {
    const size_t first = times.launches.size();
    for (const auto& item : recorded.program->items)
        if (auto* segment = std::get_if<Segment>(&item))
            for (const kernels::Launch& launch : segment->launches)
                times.launches.push_back({.launch = &launch,
                                          .stage = recorded.stage,
                                          .calls = recorded.plays,
                                          .tokens = recorded.tokens});
    bool told = false;
    for (auto& segments : recorded.segments) {
        size_t next = first;
        for (const auto& segment : segments) {
            for (const kernels::LaunchTime& time : segment->take_times()) {
                kernels::LaunchTime& sum = times.launches[next++].time;
                sum.working += time.working;
                sum.waiting += time.waiting;
                told = true;
            }
        }
    }
    if (!told) times.launches.resize(first);
    recorded.plays = recorded.tokens = 0;
}

std::vector<Executor::DeviceTimes> Executor::take_times() {
    check(timed_, "an executor tells times if it was asked to take them");
    std::vector<DeviceTimes> all;
    for (Seat& seat : seats_) {
        DeviceTimes& times = all.emplace_back();
        for (auto* programs : {&seat.body, &seat.head})
            for (Recorded& recorded : *programs)
                if (recorded.plays > 0) add_times(recorded, times);
        times.exchanges = std::exchange(seat.exchanges, 0);
        times.exchanging = std::exchange(seat.exchanging, 0);
    }
    return all;
}

}  // namespace tandem::parallel
