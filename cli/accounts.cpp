#include "cli/accounts.h"

#include <cstdio>

#include "parallel/work.h"

namespace tandem::cli {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string number(double value, const char* format) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

std::string rate(const Account& account) {
    if (account.tokens == 0 || account.seconds <= 0) return "";
    return ", " + number(double(account.tokens) / account.seconds, "%.2f t/s");
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
      start_(std::chrono::steady_clock::now()),
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
            ", " + number(1000 * per_token, "%.2f ms per token") + ", " +
            number(weight_bytes_per_token(*blueprint) / per_token / 1e9, "%.2f GB/s of weights");
    }
    if (generation.tokens > 0 && blueprint) {
        const int exchanges = exchanges_per_token(blueprint->placed);
        const double share = generation.exchanging / generation.seconds;
        text += exchanges == 0 ? "; no exchanges"
                               : "; exchanges: " + std::to_string(exchanges) + " per token, " +
                                     number(100 * share, "%.1f %% of the time");
    }
    if (accounts.hash) {
        char digits[16];
        std::snprintf(digits, sizeof digits, "%08x", *accounts.hash);
        text += "; logits " + std::string(digits);
    }
    return text;
}

}  // namespace tandem::cli
