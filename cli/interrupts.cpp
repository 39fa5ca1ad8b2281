#include "cli/interrupts.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "gguf/error.h"

namespace tandem::cli {

namespace {

// As nohup leaves it to the program that it starts, and a script to what runs in its background.
bool is_ignored(int signal) {
    struct sigaction action {};
    return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Interrupts::Interrupts() {
    sigemptyset(&signals_);
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, &earlier_);
    watcher_ = std::thread([this] { watch(); });
}

Interrupts::~Interrupts() {
    stopping_ = true;
    pthread_kill(watcher_.native_handle(), SIGINT);
    watcher_.join();
    // A process that is about to end by the first one ends as that said, whatever comes now.
    if (!pending()) pthread_sigmask(SIG_SETMASK, &earlier_, nullptr);
}

void Interrupts::check() const {
    if (pending()) throw Error("interrupted");
}

void Interrupts::sleep(double seconds) const {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const std::chrono::duration<double> all(seconds);
    while (!pending() && Clock::now() - start < all)
        std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(
            all - (Clock::now() - start), std::chrono::milliseconds(50)));
}

bool Interrupts::forget() {
    std::lock_guard lock(mutex_);
    int interrupt = SIGINT;
    return signal_.compare_exchange_strong(interrupt, 0);
}

void Interrupts::act(std::function<void()> action) {
    std::lock_guard lock(mutex_);
    action_ = std::move(action);
    if (pending() && action_) action_();
}

void Interrupts::watch() {
    while (true) {
        int signal = 0;
        if (sigwait(&signals_, &signal) != 0) continue;
        if (stopping_) return;
        if (is_ignored(signal)) continue;  // which those that are waited for arrive in spite of
        if (pending()) _exit(exit_code());
        // Whoever forgets it waits for its action.
        std::lock_guard lock(mutex_);
        signal_ = signal;
        if (action_) action_();
    }
}

EndedByInterrupt::EndedByInterrupt(Interrupts& interrupts) : interrupts_(interrupts) {
    interrupts_.act([&interrupts] {
        std::cerr << "interrupted\n";
        _exit(interrupts.exit_code());
    });
}

int run_until_interrupted(const Interrupts& interrupts, const std::function<void()>& work) {
    try {
        work();
    } catch (const Error&) {
        if (!interrupts.pending()) throw;
        std::cerr << "interrupted\n";
        return interrupts.exit_code();
    }
    return 0;
}

}  // namespace tandem::cli
