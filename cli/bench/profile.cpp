#include "cli/bench/profile.h"

#include <algorithm>

#include "cli/bench/measurement.h"
#include "cli/format.h"
#include "parallel/work.h"

namespace tandem::cli {

using parallel::Executor;
using parallel::Work;

namespace {

// "linear Q4_K", or with several types "linear Q4_K Q6_K"; the head's launches say so.
std::string name_of(const Executor::DeviceTimes::Launch& times) {
    std::vector<std::string> types;
    for (const kernels::Operation& operation : times.launch->operations)
        for (const kernels::Operand& input : operation.inputs) {
            if (input.where != kernels::Where::Weight || input.use == graph::Use::Vector) continue;
            const std::string type(gguf::name(input.view.dtype));
            if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
        }
    std::string name(times.launch->kernel->name);
    for (const std::string& type : types) name += " " + type;
    return name + (times.stage == parallel::Stage::Head ? " (head)" : "");
}

ProfileRow row_of(const Executor::DeviceTimes::Launch& times, const parallel::Plan& plan,
                  int device, const Phase& phase) {
    Work work;
    for (const kernels::Operation& operation : times.launch->operations)
        if (operation.node) work += work_of(*operation.node, plan, device);
    // A cache is read once by each call, as far as it is filled then, and its cells meet every
    // token of the call.
    const auto calls = double(times.calls), tokens = double(times.tokens);
    const auto sequences = double(phase.sequences), depth = double(phase.depth);
    const double own_calls = phase.together ? calls : calls / sequences, own = tokens / sequences;
    // A row of a prompt stands behind all tokens of its call.
    const bool is_row = times.stage == parallel::Stage::Head && !phase.together;
    const double grown = is_row ? double(phase.tokens) : own;
    const double read = sequences * (own_calls * depth + grown * (own_calls + 1) / 2);
    const double met = is_row ? tokens / calls * read : tokens * (depth + own / 2);
    work = is_row ? work.behind(depth + grown, 0) : work.behind(depth, own);
    const double together = phase.together ? sequences : 1;
    return {
        .name = name_of(times),
        .calls = times.calls,
        .seconds = double(times.time.working) * 1e-9,
        .waiting = double(times.time.waiting) * 1e-9,
        .bytes = calls * work.bytes_of_step(tokens / calls, together) + read * work.cached_bytes,
        .multiply_adds = tokens * work.multiply_adds + met * work.cached_multiply_adds,
        .float_multiply_adds =
            tokens * work.float_multiply_adds + met * work.cached_float_multiply_adds};
}

void add(std::vector<ProfileRow>& rows, const ProfileRow& next) {
    for (ProfileRow& row : rows) {
        if (row.name != next.name) continue;
        row.calls += next.calls;
        row.seconds += next.seconds;
        row.waiting += next.waiting;
        row.bytes += next.bytes;
        row.multiply_adds += next.multiply_adds;
        row.float_multiply_adds += next.float_multiply_adds;
        return;
    }
    rows.push_back(next);
}

// A row of the table, from words.
std::string cells(const char* name, const char* calls, const char* time, const char* share,
                  const char* barrier, const std::string& rates) {
    return format("| %-28s | %7s | %10s | %7s | %8s |", name, calls, time, share, barrier) + rates +
           "\n";
}

std::string rates(const char* bytes, const char* bytes_limit, const char* products,
                  const char* products_limit) {
    return format(" %7s | %6s | %8s | %6s |", bytes, bytes_limit, products, products_limit);
}

std::string line(const std::string& name, int64_t calls, double seconds, double whole,
                 const std::string& barrier = "",
                 const std::string& rates_text = rates("", "", "", "")) {
    return cells(name.c_str(), calls > 0 ? std::to_string(calls).c_str() : "",
                 format("%.2f", seconds * 1e3).c_str(),
                 format("%.1f %%", 100 * seconds / whole).c_str(), barrier.c_str(), rates_text);
}

// Rates, and the parts of the hardware's that they are.
std::string rates_of(const ProfileRow& row, const kernels::Limits& limits) {
    auto rate = [&](double amount) {
        return amount > 0 && row.seconds > 0 ? format("%.2f", amount / row.seconds * 1e-9) : "";
    };
    auto share = [&](double least) {
        return least > 0 && row.seconds > 0 ? format("%.0f %%", 100 * least / row.seconds) : "";
    };
    return rates(rate(row.bytes).c_str(), share(row.bytes / limits.bytes_per_second).c_str(),
                 rate(row.multiply_adds).c_str(),
                 share(seconds_of(row.multiply_adds, row.float_multiply_adds, limits)).c_str());
}

}  // namespace

Profile make_profile(const Executor::DeviceTimes& times, const Blueprint& blueprint, size_t device,
                     const Phase& phase) {
    Profile profile{.device = name_of(blueprint.table, device),
                    .exchanges = times.exchanges,
                    .exchanging = double(times.exchanging) * 1e-9,
                    .seconds = phase.seconds};
    for (const Executor::DeviceTimes::Launch& launch : times.launches)
        add(profile.rows, row_of(launch, blueprint.plan, int(device), phase));
    std::stable_sort(
        profile.rows.begin(), profile.rows.end(),
        [](const ProfileRow& a, const ProfileRow& b) { return a.seconds > b.seconds; });
    return profile;
}

std::string to_string(const Profile& profile, const Phase& phase, const kernels::Limits& limits) {
    std::string text = "\n" + phase.name + " of ";
    if (phase.sequences > 1) text += std::to_string(phase.sequences) + " x ";
    text += std::to_string(phase.tokens);
    if (phase.depth > 0) text += " at " + std::to_string(phase.depth);
    text += " on " + profile.device + "\n\n";
    text += "limits: " + limits_text(limits) + "\n\n";
    text += cells("operation", "calls", "ms", "share", "barrier",
                  rates("GB/s", "limit", "GMAC/s", "limit"));
    text +=
        "| ---------------------------- | ------: | ---------: | ------: | -------: | ------: | "
        "-----: | -------: | -----: |\n";
    double waiting = 0, rest = profile.seconds - profile.exchanging;
    for (const ProfileRow& row : profile.rows) {
        waiting += row.waiting;
        rest -= row.seconds + row.waiting;
        text += line(row.name, row.calls, row.seconds, profile.seconds,
                     format("%.2f", row.waiting * 1e3), rates_of(row, limits));
    }
    text += line("barriers", 0, waiting, profile.seconds);
    if (profile.exchanges > 0)
        text += line("exchanges", profile.exchanges, profile.exchanging, profile.seconds);
    text += line("between runs of launches", 0, std::max(0.0, rest), profile.seconds);
    return text + line("all", 0, profile.seconds, profile.seconds);
}

}  // namespace tandem::cli
