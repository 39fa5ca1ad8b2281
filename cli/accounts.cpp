#include "cli/accounts.h"

#include "cli/format.h"
#include "cli/seconds.h"
#include "parallel/work.h"

namespace tandem::cli {

namespace {

std::string rate(const Account& account) {
    if (account.tokens == 0 || account.seconds <= 0) return "";
    return ", " + format("%.2f t/s", double(account.tokens) / account.seconds);
}

// Bytes of weights that all devices read for one token.
double weight_bytes_per_token(const Blueprint& blueprint) {
    double bytes = 0;
    for (const parallel::DeviceWork& work :
         parallel::work_of(*blueprint.graph, blueprint.plan, blueprint.table.size()))
        bytes += work.body.bytes + work.head.bytes;
    return bytes;
}

// Between devices; the logits' way to the host is not one.
int exchanges_per_token(const parallel::Placed& placed) {
    int count = 0;
    for (const auto& step : placed.steps) {
        const auto* exchange = std::get_if<parallel::Exchange>(&step);
        count += exchange && !exchange->to_host ? 1 : 0;
    }
    return count;
}

}  // namespace

Entry::Entry(Account& account, const parallel::Executor& executor)
    : account_(account),
      executor_(executor),
      start_(Clock::now()),
      exchange_time_(executor.exchange_time()) {}

Entry::~Entry() {
    account_.seconds += seconds_since(start_);
    account_.exchanging += double(executor_.exchange_time() - exchange_time_) * 1e-9;
}

std::string counted_tokens(int64_t count) {
    return std::to_string(count) + (count == 1 ? " token" : " tokens");
}

uint32_t hash_of(std::span<const float> logits) {
    uint32_t hash = 2166136261u;
    for (std::byte byte : std::as_bytes(logits)) hash = (hash ^ uint32_t(byte)) * 16777619u;
    return hash;
}

std::string report(const Accounts& accounts, const Blueprint* blueprint) {
    const Account& generation = accounts.generation;
    std::string text = "prompt: " + counted_tokens(accounts.prompt.tokens) + rate(accounts.prompt) +
                       "; generated: " + counted_tokens(accounts.generated) + rate(generation);
    if (generation.tokens > 0 && blueprint) {
        double per_token = generation.seconds / double(generation.tokens);
        text +=
            ", " + format("%.2f ms per token", 1000 * per_token) + ", " +
            format("%.2f GB/s of weights", weight_bytes_per_token(*blueprint) / per_token / 1e9);
    }
    if (generation.tokens > 0 && blueprint) {
        const int exchanges = exchanges_per_token(blueprint->placed);
        const double share = generation.exchanging / generation.seconds;
        text += exchanges == 0 ? "; no exchanges"
                               : "; exchanges: " + std::to_string(exchanges) + " per token, " +
                                     format("%.1f %% of the time", 100 * share);
    }
    if (accounts.hash) text += format("; logits %08x", *accounts.hash);
    return text;
}

}  // namespace tandem::cli
