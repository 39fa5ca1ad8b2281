// Ctrl-C while a command works, or another wish that it ends: the first one asks it to end soon,
// the second ends the process.
#pragma once

#include <csignal>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

namespace tandem::cli {

// Takes SIGINT, SIGTERM and SIGHUP over for as long as it lives. Made before all other threads,
// which inherit that they are not disturbed: a thread of its own waits for the signal, so that no
// handler has to run.
class Interrupts {
  public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    bool pending() const { return signal_ != 0; }
    int exit_code() const { return 128 + signal_; }  // of a process that the first one ended
    void check() const;                              // throws Error from the first one on
    void sleep(double seconds) const;                // until the first one at most
    // As if none had come, where it was Ctrl-C; false where it was another wish, or none.
    bool forget();
    // What the first interrupt does beside setting `pending`; called in another thread, or at once
    // if it has come already. An empty function takes it back, and waits for one that is running.
    void act(std::function<void()> action);

  private:
    void watch();

    sigset_t signals_, earlier_;
    std::atomic<int> signal_ = 0;  // the first one
    std::atomic<bool> stopping_ = false;
    std::mutex mutex_;
    std::function<void()> action_;
    std::thread watcher_;
};

// While it lives, the first interrupt ends the process: for work that does not ask for it, and has
// nothing to leave behind.
class EndedByInterrupt {
  public:
    explicit EndedByInterrupt(Interrupts& interrupts);
    ~EndedByInterrupt() { interrupts_.act({}); }
    EndedByInterrupt(const EndedByInterrupt&) = delete;
    EndedByInterrupt& operator=(const EndedByInterrupt&) = delete;

  private:
    Interrupts& interrupts_;
};

// Does the work of a command and gives its exit code. What it throws after an interrupt is how it
// ended: "interrupted" is all that is said then.
int run_until_interrupted(const Interrupts& interrupts, const std::function<void()>& work);

}  // namespace tandem::cli
