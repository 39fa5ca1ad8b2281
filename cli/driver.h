// A loaded model that the user can interrupt.
#pragma once

#include <atomic>

#include "cli/engine.h"
#include "cli/interrupts.h"
#include "gguf/file.h"
#include "model/session.h"
#include "parallel/saved_state.h"

namespace tandem::cli {

class Driver {
  public:
    // Loads, with a bar on a terminal. From the first interrupt on, also while loading, everything
    // ends with an Error; interrupts.pending() tells it from others.
    Driver(const gguf::File& file, const EngineOptions& options, Interrupts& interrupts);
    ~Driver();
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

    // One of which the devices have so many tokens; the driver outlives it.
    model::Session session(int64_t position = 0);
    // Whether an interrupt ends steps that are on their way, and all behind them; at first it does.
    void end_by_interrupts(bool ends);
    int64_t evaluated() const { return evaluated_; }  // tokens, of all sessions; any thread may ask
    parallel::Executor& executor() { return *executor_; }
    const parallel::Executor& executor() const { return *executor_; }
    const Blueprint& blueprint() const { return engine_.blueprint(); }
    // The model and its sequence, whose states can be read and written between evaluations.
    parallel::Holders holders() const;

  private:
    Interrupts& interrupts_;
    Engine engine_;
    parallel::Executor* executor_;
    const int64_t context_;
    std::atomic<int64_t> evaluated_ = 0;
};

}  // namespace tandem::cli
