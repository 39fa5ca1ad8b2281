#include "cli/measure/speeds.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <set>
#include <thread>

#include "cli/measure/probe.h"
#include "kernels/devices.h"

namespace tandem::cli {

using parallel::Link;

namespace {

using Devices = std::vector<std::unique_ptr<kernels::Device>>;

constexpr int64_t width = 4096;
constexpr int64_t most_tokens = 512;
constexpr double duration = 0.4;  // seconds of one measurement

// Calls work(i) for all devices at once; throws the first error.
template <typename Work>
void all_at_once(size_t count, const Work& work) {
    std::vector<std::exception_ptr> errors(count);
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < count; ++i)
        threads.emplace_back([&, i] {
            try {
                work(i);
            } catch (...) {
                errors[i] = std::current_exception();
            }
        });
    threads.clear();  // joins them
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

// The largest of 1, 8, 64, 512 tokens whose step is likely to take less than a second.
int64_t affordable_tokens(double seconds_per_token) {
    int64_t tokens = most_tokens;
    while (tokens > 1 && double(tokens) * seconds_per_token > 1) tokens /= 8;
    return tokens;
}

// Enough matrices that no cache holds them, on a device that is fast enough to get through them
// often, and has room for them.
int enough_layers(const Chain& chain, double seconds, int64_t free_bytes) {
    const double wanted = std::min(256e6, double(free_bytes) / 4);
    if (seconds > duration / 8) return chain.layers;
    return std::max(chain.layers, int(wanted / chain.stored_bytes()));
}

constexpr parallel::PlanOptions alone{.mode = "none", .bucket = most_tokens};
constexpr Chain pair_of_matrices{
    .layers = 1, .embd = width, .ffn = width, .dtype = gguf::DType::Q4_0};

// Gives the seconds of one token.
double measure_arithmetic(std::span<const std::unique_ptr<kernels::Device>> device,
                          parallel::DeviceRow& row) {
    Probe probe(pair_of_matrices, device, alone);
    const double one = probe.run(1, duration / 4).seconds;
    const int64_t tokens = affordable_tokens(one);
    const double many = tokens > 1 ? probe.run(tokens, duration).seconds : one;
    row.multiply_adds_per_second = pair_of_matrices.multiply_adds() * double(tokens) / many;
    return one;
}

void measure_reading(std::span<const std::unique_ptr<kernels::Device>> device,
                     double seconds_per_token, parallel::DeviceRow& row) {
    Chain chain = pair_of_matrices;
    chain.layers = enough_layers(chain, seconds_per_token, row.free_bytes);
    row.bytes_per_second =
        chain.stored_bytes() / Probe(chain, device, alone).run(1, duration).seconds;
}

// Each kind of measurement on devices of its own: a device holds one model.
void measure_devices(const std::vector<std::string>& names, const kernels::DeviceOptions& how,
                     std::vector<parallel::DeviceRow>& rows) {
    std::vector<double> one(names.size());
    Devices devices = kernels::make_devices(names, how);
    for (const auto& device : devices)
        rows.push_back({.name = device->description().name,
                        .free_bytes = device->description().free_bytes,
                        .rounding = device->description().rounding});
    auto each = [&](size_t i) { return std::span(&devices[i], 1); };
    all_at_once(names.size(), [&](size_t i) { one[i] = measure_arithmetic(each(i), rows[i]); });
    devices.clear();
    devices = kernels::make_devices(names, how);
    all_at_once(names.size(), [&](size_t i) { measure_reading(each(i), one[i], rows[i]); });
}

// Seconds to start a device and to hear that it is done, which is what an exchange costs beyond
// itself: nothing for a CPU, something for a device with a queue. The calling thread becomes the
// device's, which a CPU binds to a core.
double turn_of(kernels::Device& device) {
    device.reserve_inputs(1);
    device.inputs().append(0, 0, std::vector<int32_t>{0});
    const std::atomic<bool> cancelled = false;
    const auto nothing = device.record({}, {.cancelled = &cancelled});
    auto now = [] { return std::chrono::steady_clock::now(); };
    const auto start = now();
    std::chrono::duration<double> passed{};
    int turns = 0;
    for (; turns < 2 || passed.count() < duration / 8; ++turns, passed = now() - start)
        device.wait(device.play(*nothing));
    return passed.count() / double(turns);
}

double measure_turn(const std::string& name, const kernels::DeviceOptions& how) {
    const Devices devices = kernels::make_devices({name}, how);
    double seconds = 0;
    all_at_once(1, [&](size_t) { seconds = turn_of(*devices[0]); });
    return seconds;
}

// One exchange between two devices, as the first one sees it.
Link measure_exchange(const std::vector<std::string>& pair, const kernels::DeviceOptions& how) {
    // One inner element for each device, so that there is little to do but to exchange.
    const Chain chain{.layers = 8, .embd = 1024, .ffn = 2, .dtype = gguf::DType::F32};
    const Devices devices = kernels::make_devices(pair, how);
    Probe probe(chain, devices, {.mode = "tensor", .bucket = most_tokens});
    const Probe::Times one = probe.run(1, duration / 4);
    const int64_t tokens = affordable_tokens(one.seconds);
    const double small = one.exchange / chain.layers;
    const double large = probe.run(tokens, duration / 4).exchange / chain.layers;
    // What is too fast to be told apart from a small one is no slower than this.
    const double bytes = 4.0 * double(chain.embd) * double(tokens);
    return {small, bytes / std::max(large - small, 0.1 * large)};
}

// Who has waited for the other hears of it late, so the faster of both views counts.
Link measure_pair(const std::string& a, const std::string& b, const kernels::DeviceOptions& how) {
    const Link forth = measure_exchange({a, b}, how), back = measure_exchange({b, a}, how);
    const double turn = std::max(measure_turn(a, how), measure_turn(b, how));
    return {turn + std::min(forth.seconds, back.seconds),
            std::max(forth.bytes_per_second, back.bytes_per_second)};
}

}  // namespace

parallel::DeviceTable measure_table(const std::vector<std::string>& names,
                                    const kernels::DeviceOptions& how, const Say& say) {
    parallel::DeviceTable table;
    if (say) say("how fast weights are read and multiplied");
    measure_devices(names, how, table.devices);
    table.links.assign(names.size(), std::vector<Link>(names.size()));
    std::map<std::pair<std::string, std::string>, Link> known;  // devices of one name are alike
    for (size_t a = 0; a < names.size(); ++a)
        for (size_t b = a + 1; b < names.size(); ++b) {
            auto [found, added] = known.try_emplace(std::minmax({names[a], names[b]}), Link{});
            if (added) {
                if (say) say("exchanges between " + names[a] + " and " + names[b]);
                found->second = measure_pair(names[a], names[b], how);
            }
            table.links[a][b] = table.links[b][a] = found->second;
        }
    return table;
}

kernels::Limits measure_limits(const std::vector<std::string>& names,
                               const kernels::DeviceOptions& how) {
    // Devices of one name are the same hardware.
    const std::set<std::string> distinct(names.begin(), names.end());
    const Devices devices = kernels::make_devices({distinct.begin(), distinct.end()}, how);
    std::vector<kernels::Limits> limits(devices.size());
    all_at_once(devices.size(), [&](size_t i) { limits[i] = devices[i]->measure_limits(); });
    kernels::Limits sum;
    for (const kernels::Limits& one : limits) {
        sum.bytes_per_second += one.bytes_per_second;
        sum.multiply_adds_per_second += one.multiply_adds_per_second;
        sum.float_multiply_adds_per_second += one.float_multiply_adds_per_second > 0
                                                  ? one.float_multiply_adds_per_second
                                                  : one.multiply_adds_per_second;
    }
    return sum;
}

}  // namespace tandem::cli
