// What a run took: the line that every run ends with.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "cli/engine.h"

namespace tandem::cli {

// Tokens evaluated, and the time that it took.
struct Account {
    int64_t tokens = 0;
    double seconds = 0;
    double exchanging = 0;  // of these seconds, what exchanges between devices took
};

struct Accounts {
    Account prompt;
    Account generation;            // one token at a time
    int64_t generated = 0;         // tokens: one more than were evaluated, or as many
    std::optional<uint32_t> hash;  // of the last logits
};

// Adds what happens during its life to an account.
class Entry {
  public:
    Entry(Account& account, const parallel::Executor& executor);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

  private:
    Account& account_;
    const parallel::Executor& executor_;
    const std::chrono::steady_clock::time_point start_;
    const uint64_t exchange_time_;
};

std::string counted_tokens(int64_t count);  // "1 token"

// FNV-1a, 32 bits, over the bytes: tells whether a change of speed changed the numbers.
uint32_t hash_of(std::span<const float> logits);

// "prompt: 5 tokens, 812.3 t/s; generated: 80 tokens, 264.1 t/s, 3.79 ms per token, 1.23 GB/s of
// weights; exchanges: 12 per token, 3.1 % of the time; logits 1a2b3c4d". Without a blueprint no
// model was loaded. The time of exchanges is Executor::exchange_time: what a split costs beside the
// work itself, in whatever way that is divided.
std::string report(const Accounts& accounts, const Blueprint* blueprint);

}  // namespace tandem::cli
