// Ends the program, loudly, where a test of threads hangs: nothing else could.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace tandem::test {

class Watchdog {
  public:
    explicit Watchdog(std::chrono::seconds limit = std::chrono::seconds(120))
        : thread_([this, limit] {
              std::unique_lock lock(mutex_);
              if (over_.wait_for(lock, limit, [&] { return done_; })) return;
              std::fputs("watchdog: the test hangs\n", stderr);
              std::abort();
          }) {}
    ~Watchdog() {
        {
            std::lock_guard lock(mutex_);
            done_ = true;
        }
        over_.notify_all();
        thread_.join();
    }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

  private:
    std::mutex mutex_;
    std::condition_variable over_;
    bool done_ = false;
    std::thread thread_;
};

}  // namespace tandem::test
