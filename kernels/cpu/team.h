// A team of threads on the cores of a CPU device: each pinned to its own, or all to all of these,
// where there are fewer threads than cores or others use these, too. The calling thread is its
// first member.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace tandem::kernels::cpu {

// Pieces of work [first, last).
struct Range {
    int64_t first = 0, last = 0;

    int64_t count() const { return last - first; }
};

// Threads meet here between two launches. Spins for a while, then sleeps; at once where the cores
// are shared with other teams.
class Barrier {
  public:
    Barrier(int members, bool spin) : members_(members), spin_(spin) {}
    void wait();

    // For a member that will not come any more: waits, now and later, throw Broken.
    struct Broken {};
    void leave();
    // Makes it whole again; nobody may be there.
    void mend();

    // Takes of `total` pieces the next that nobody has taken since the last meeting: one of so many
    // `parts` of what is left, a multiple of `grain`, so that those who come last differ by little.
    // Nothing where there are none.
    std::optional<Range> take(int64_t total, int parts, int64_t grain);

  private:
    const int members_;
    const bool spin_;
    std::atomic<uint32_t> arrived_ = 0, round_ = 0;
    std::atomic<int64_t> taken_ = 0;
    std::atomic<bool> broken_ = false;
};

struct Worker;

// Where members of other teams come in, to help with what is being dealt.
class alignas(64) Door {
  public:
    using Work = std::function<void(const Worker& guest)>;

    // Stands open for as long as this lives; its end waits for the guests inside.
    class Open {
      public:
        Open(Door& door, const Work& work);
        ~Open();
        Open(const Open&) = delete;

      private:
        Door& door_;
    };
    // Does work(guest); false where the door is not open.
    bool enter(const Worker& guest);
    // Throws the error of a guest, whose part is not done, once the door is closed.
    void throw_if_failed();
    // The most guests there have been at once: so many may come again.
    int most_guests() const { return most_guests_.load(std::memory_order_relaxed); }
    void expect_nobody() { most_guests_.store(0, std::memory_order_relaxed); }

  private:
    std::atomic<const Work*> work_ = nullptr;
    std::atomic<int> guests_ = 0, most_guests_ = 0;
    std::atomic_flag failed_;
    std::exception_ptr error_;  // of the first guest that failed
};

// What a member gets at a time of what is dealt: half of its share of what is left, or all of that,
// where a part begins slowly: memory takes a while to follow a stream.
enum class Parts { Short, Long };

// One member at work.
struct Worker {
    int index = 0, count = 1;
    Barrier* barrier = nullptr;
    Door* door = nullptr;
    std::vector<float>* own = nullptr;
    const Range* only = nullptr;  // tokens that its work on tokens is for; null: its share

    // Working memory of this member, kept between launches, from the beginning of a cache line on.
    float* scratch(int64_t floats) const {
        constexpr int64_t line = 16;
        if (int64_t(own->size()) < floats + line) own->resize(size_t(floats + line));
        return own->data() + (-reinterpret_cast<intptr_t>(own->data()) / 4 & (line - 1));
    }

    // Those of `total` pieces that are this worker's.
    Range share(int64_t total) const {
        return {total * index / count, total * (index + 1) / count};
    }
    // The same of the rows of `tokens` tokens, `each` of every token, where tokens may be given.
    Range share_rows(int64_t tokens, int64_t each) const {
        if (!only) return share(tokens * each);
        return {std::min(only->first, tokens) * each, std::min(only->last, tokens) * each};
    }
    // Calls visit(worker, range) for parts of `total` pieces, multiples of `grain`, as long as
    // there are some: members that are faster than others get more, and so do guests. Once between
    // two barriers.
    template <typename Visit>
    void deal(int64_t total, int64_t grain, Visit visit, Parts size = Parts::Short) const {
        const int hands = count + door->most_guests();
        const int parts = size == Parts::Short ? 2 * hands : hands;
        auto work = [&](const Worker& worker) {
            while (const std::optional<Range> part = barrier->take(total, parts, grain))
                visit(worker, *part);
        };
        if (index > 0) return work(*this);
        {
            const Door::Work open_work = std::ref(work);
            const Door::Open open(*door, open_work);
            work(*this);
        }
        door->throw_if_failed();
    }
};

class Team {
  public:
    // `shared`: other devices use these cores, too, so waiting threads give them up. `threads`: one
    // on each core, or fewer. Fewer, and those of a shared team, may be moved among all cores.
    Team(std::vector<int> cores, bool shared, int threads);
    Team(std::vector<int> cores, bool shared) : Team(cores, shared, int(cores.size())) {}
    ~Team();
    Team(const Team&) = delete;

    // For a thread that does nothing else: it is bound like the first member.
    void pin_caller();

    int size() const { return int(scratch_.size()); }
    // Every member calls task(worker); returns when all have. The caller is worker 0. An exception
    // of any member ends the waits of the others and is thrown here.
    void run(const std::function<void(const Worker&)>& task);
    // Until done(), whose answer may change at any time, the members help `other` with what it
    // deals.
    void help(Team& other, const std::function<bool()>& done);
    // Before a task that nobody will help with.
    void expect_nobody() { door_.expect_nobody(); }
    // The same as run for any caller: a thread of its own, bound like the first member, is worker
    // 0, so that memory which the task touches first is near the cores.
    void run_apart(const std::function<void(const Worker&)>& task);

  private:
    void stop();
    void pin(int index) const;  // the calling thread
    void serve(int index);
    void call(int index);

    const std::vector<int> cores_;
    const bool shared_;
    Barrier barrier_;
    Door door_;
    std::vector<std::thread> threads_;
    std::thread::id pinned_;  // the caller that was pinned last
    const std::function<void(const Worker&)>* task_ = nullptr;
    std::atomic<uint32_t> round_ = 0;     // tasks begun
    std::atomic<uint32_t> finished_ = 0;  // members done with the current one
    std::atomic<bool> stopping_ = false;
    std::vector<std::exception_ptr> errors_;
    std::vector<std::vector<float>> scratch_;  // of each member
};

}  // namespace tandem::kernels::cpu
