#include "kernels/cpu/team.h"

#include <chrono>
#include <utility>

#include "kernels/host.h"

namespace tandem::kernels::cpu {

namespace {

// Longer than a launch's members differ, shorter than a time slice.
constexpr auto spin_time = std::chrono::microseconds(100);

// Waits until the number is no longer `old`.
void wait_while(const std::atomic<uint32_t>& number, uint32_t old, bool spin) {
    if (spin) {
        auto until = std::chrono::steady_clock::now() + spin_time;
        do {
            for (int i = 0; i < 64; ++i) {
                if (number.load(std::memory_order_acquire) != old) return;
                spin_pause();
            }
        } while (std::chrono::steady_clock::now() < until);
    }
    while (number.load(std::memory_order_acquire) == old)
        number.wait(old, std::memory_order_acquire);
}

}  // namespace

void Barrier::wait() {
    if (members_ == 1) return taken_.store(0, std::memory_order_relaxed);
    uint32_t round = round_.load(std::memory_order_acquire);
    if (broken_.load(std::memory_order_acquire)) throw Broken{};
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == uint32_t(members_)) {
        arrived_.store(0, std::memory_order_relaxed);
        taken_.store(0, std::memory_order_relaxed);
        round_.store(round + 1, std::memory_order_release);
        round_.notify_all();
    } else {
        wait_while(round_, round, spin_);
        if (broken_.load(std::memory_order_acquire)) throw Broken{};
    }
}

std::optional<Range> Barrier::take(int64_t total, int parts, int64_t grain) {
    Range range{.first = taken_.load(std::memory_order_relaxed)};
    do {
        if (range.first >= total) return {};
        const int64_t part = (total - range.first) / parts / grain * grain;
        range.last = std::min(total, range.first + std::max(grain, part));
    } while (!taken_.compare_exchange_weak(range.first, range.last, std::memory_order_relaxed));
    return range;
}

void Barrier::leave() {
    broken_.store(true, std::memory_order_release);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
}

void Barrier::mend() {
    arrived_.store(0, std::memory_order_relaxed);
    taken_.store(0, std::memory_order_relaxed);
    broken_.store(false, std::memory_order_relaxed);
}

// A guest is counted before it looks whether the door is open, which is closed before guests are
// counted: one of the two sees the other.

Door::Open::Open(Door& door, const Work& work) : door_(door) {
    // Of earlier work, whose own member failed, too, so that nobody asked.
    door.error_ = nullptr;
    door.failed_.clear();
    door.work_.store(&work);
}

Door::Open::~Open() {
    door_.work_.store(nullptr);
    while (door_.guests_.load() > 0) spin_pause();
}

bool Door::enter(const Worker& guest) {
    if (!work_.load(std::memory_order_relaxed)) return false;
    struct Inside {
        std::atomic<int>& guests;
        explicit Inside(std::atomic<int>& all) : guests(all) { guests.fetch_add(1); }
        ~Inside() { guests.fetch_sub(1); }
    } inside(guests_);
    const Work* work = work_.load();
    if (!work) return false;
    const int guests = guests_.load(std::memory_order_relaxed);
    if (guests > most_guests()) most_guests_.store(guests, std::memory_order_relaxed);
    try {
        (*work)(guest);
    } catch (...) {
        if (!failed_.test_and_set()) error_ = std::current_exception();
        throw;
    }
    return true;
}

void Door::throw_if_failed() {
    if (!failed_.test()) return;
    const std::exception_ptr error = std::exchange(error_, nullptr);
    failed_.clear();
    std::rethrow_exception(error);
}

Team::Team(std::vector<int> cores, bool shared, int threads)
    : cores_(std::move(cores)),
      shared_(shared),
      barrier_(threads, !shared),
      errors_(size_t(threads)),
      scratch_(size_t(threads)) {
    try {
        for (int i = 1; i < size(); ++i) threads_.emplace_back([this, i] { serve(i); });
    } catch (...) {  // the system has no more of them
        stop();
        throw;
    }
}

Team::~Team() { stop(); }

void Team::stop() {
    stopping_.store(true);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Team::call(int index) {
    try {
        (*task_)(Worker{index, size(), &barrier_, &door_, &scratch_[size_t(index)]});
    } catch (const Barrier::Broken&) {
        // Another member has the error.
    } catch (...) {
        errors_[size_t(index)] = std::current_exception();
        barrier_.leave();
    }
}

void Team::pin(int index) const {
    const std::span<const int> all = cores_;
    // Devices that share cores wait for one another. A thread that had to stay where another runs
    // for a time slice would hold all of them up, at every exchange, though a core is idle.
    const bool to_its_own = size_t(size()) == all.size() && !shared_;
    pin_to(to_its_own ? all.subspan(size_t(index), 1) : all);
}

void Team::serve(int index) {
    pin(index);
    for (uint32_t seen = 0;; ++seen) {
        wait_while(round_, seen, !shared_);
        if (stopping_.load()) return;
        call(index);
        finished_.fetch_add(1, std::memory_order_release);
        finished_.notify_one();
    }
}

void Team::pin_caller() {
    if (pinned_ == std::this_thread::get_id()) return;
    pin(0);
    pinned_ = std::this_thread::get_id();
}

void Team::run(const std::function<void(const Worker&)>& task) {
    task_ = &task;
    finished_.store(0, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    call(0);
    for (uint32_t done; (done = finished_.load(std::memory_order_acquire)) + 1 < uint32_t(size());)
        wait_while(finished_, done, !shared_);
    std::exception_ptr first;
    for (std::exception_ptr& error : errors_) {
        if (!first) first = error;
        error = nullptr;
    }
    if (!first) return;
    barrier_.mend();
    std::rethrow_exception(first);
}

void Team::help(Team& other, const std::function<bool()>& done) {
    run([&](const Worker& worker) {
        auto now = [] { return std::chrono::steady_clock::now(); };
        for (auto last_work = now(); !done();) {
            if (other.door_.enter(worker))
                last_work = now();
            else if (now() - last_work > spin_time)  // the other waits, too
                std::this_thread::sleep_for(spin_time);
            for (int i = 0; i < 16; ++i) spin_pause();
        }
    });
}

void Team::run_apart(const std::function<void(const Worker&)>& task) {
    std::exception_ptr error;
    std::thread([&] {
        pin(0);
        try {
            run(task);
        } catch (...) {
            error = std::current_exception();
        }
    }).join();
    if (error) std::rethrow_exception(error);
}

}  // namespace tandem::kernels::cpu
