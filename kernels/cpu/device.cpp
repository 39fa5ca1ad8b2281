#include "kernels/cpu/device.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "gguf/error.h"
#include "kernels/cpu/chain.h"
#include "kernels/cpu/forms.h"
#include "kernels/cpu/loading.h"
#include "kernels/cpu/packing.h"
#include "kernels/cpu/site.h"
#include "kernels/cpu/stopwatch.h"
#include "kernels/cpu/variants.h"
#include "kernels/host_memory.h"
#include "kernels/measured_memory.h"
#include "kernels/nodes.h"

namespace tandem::kernels {

using cpu::Worker;

namespace {

const cpu::Variant& require_variant(std::string_view name) {
    const cpu::Variant* variant = cpu::find_variant(name);
    if (!variant)
        throw Error("this machine does not run the CPU kernels that TANDEM_CPU names, \"" +
                    std::string(name) + "\"; it runs " + cpu::supported_variants());
    return *variant;
}

struct CpuRecording final : Recording {
    std::vector<cpu::Task> tasks;
    std::vector<cpu::Chain> chains;  // of tasks, in their order
    const std::atomic<bool>* cancelled = nullptr;
    // Of each worker, in every task and behind it; none where nobody asks.
    std::vector<std::vector<int64_t>> laps;

    std::vector<LaunchTime> take_times() override;
};

std::vector<LaunchTime> CpuRecording::take_times() {
    std::vector<LaunchTime> times(laps.empty() ? 0 : tasks.size());
    const auto workers = int64_t(laps.size());
    for (std::vector<int64_t>& own : laps) {
        for (size_t i = 0; i < times.size(); ++i) {
            times[i].working += own[2 * i] / workers;
            times[i].waiting += own[2 * i + 1] / workers;
        }
        own.assign(own.size(), 0);
    }
    return times;
}

// First touched by the team, so that pages lie near its cores.
void clear(cpu::Team& team, Buffer& buffer) {
    team.run_apart([&](const Worker& worker) {
        const auto [first, last] = worker.share(buffer.bytes());
        if (first < last) std::memset(buffer.data() + first, 0, size_t(last - first));
    });
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

CpuDevice::CpuDevice(const Options& options)
    : isa_(require_variant(options.variant).isa()),
      team_(options.cores, options.shares_cores,
            options.threads > 0 ? options.threads : int(options.cores.size())) {
    std::string variant = require_variant(options.variant).name;
    description_ = {.name = options.name,
                    .kind = "cpu",
                    .features = variant + ", " + std::to_string(team_.size()) +
                                (team_.size() == 1 ? " thread on " : " threads on ") +
                                (options.cores.size() == 1 ? "core " : "cores ") +
                                cores_text(options.cores),
                    .threads = team_.size(),
                    // How work is divided among threads changes no bit.
                    .rounding = "cpu " + variant,
                    .total_bytes = options.total_bytes,
                    .free_bytes = options.free_bytes,
                    .in_host_memory = true,
                    .memory = options.memory,
                    .shares_cores = options.shares_cores};
}

std::span<const Kernel> CpuDevice::kernels() const {
    return cpu::claims(isa_.reduced, isa_.sums_in_halves);
}

const Kernel* CpuDevice::copy() const { return cpu::dense().prepare; }

// Of floating point types what they may take: whether they are short is not known before they are
// read.
int64_t CpuDevice::packed_bytes(gguf::DType dtype, graph::Use use, int64_t matrices, int64_t rows,
                                int64_t columns) const {
    if (cpu::is_packed(dtype, use))
        return cpu::packed_bytes(dtype, isa_.lanes, matrices, rows, columns);
    return plain_bytes(dtype, use, matrices * rows, columns);
}

int64_t CpuDevice::row_multiple(gguf::DType dtype, graph::Use use) const {
    return cpu::is_packed(dtype, use) ? isa_.lanes : 1;
}

void CpuDevice::load_weight(int value, const WeightSource& source, std::atomic<int64_t>& progress) {
    std::byte* const to = weights_.make(
        value,
        packed_bytes(source.dtype, source.use, source.matrices, source.rows, source.columns));
    if (cpu::is_packed(source.dtype, source.use))
        return weights_.shrink(value, cpu::load_packed(isa_, team_, source, to, progress));
    team_.run_apart([&](const Worker& worker) {
        const auto [first, last] = worker.share(source.matrices * source.rows);
        load_plain_rows(source, first, last, to, progress);
    });
}

void CpuDevice::make_state(int value, gguf::DType dtype, int64_t rows, int64_t columns) {
    Buffer buffer(rows * gguf::row_bytes(dtype, columns));
    clear(team_, buffer);
    states_[value] = std::move(buffer);
}

void CpuDevice::read_state(const StateRows& rows, std::byte* to) {
    std::memcpy(to, rows_of(states_.at(rows.value), rows), size_t(rows.bytes()));
}

void CpuDevice::write_state(const StateRows& rows, const std::byte* from) {
    std::memcpy(rows_of(states_.at(rows.value), rows), from, size_t(rows.bytes()));
}

void CpuDevice::make_arena(int64_t bytes) {
    weights_.trim();  // by now they are there
    arena_ = Buffer(bytes);
    clear(team_, arena_);
}

std::byte* CpuDevice::exchange_memory(int64_t bytes) {
    return add_exchange_memory(exchange_memory_, bytes);
}

// Kernels ask a member of the team for most where they multiply or attend; attention may have a
// second pair of keys.
int64_t CpuDevice::own_bytes(int64_t longest_row) const {
    const int64_t floats = cpu::attention_scratch(2 * longest_row, longest_row);
    return std::max(floats * int64_t(sizeof(float)), cpu::product_scratch) * team_.size();
}

void CpuDevice::reserve_inputs(int64_t capacity) { reserve(inputs_, capacity); }

std::unique_ptr<Recording> CpuDevice::record(std::span<const Launch> launches,
                                             const Bindings& bindings) {
    auto recording = std::make_unique<CpuRecording>();
    recording->cancelled = bindings.cancelled;
    cpu::Site site{.addresses = {weights_, states_, arena_.data(), inputs_, bindings}, .isa = isa_};
    for (const Launch& launch : launches)
        recording->tasks.push_back(
            cpu::kernel_table()[size_t(launch.kernel->number)]->bind(launch, site));
    recording->chains = cpu::chains_of(launches, site);
    if (bindings.timed)
        recording->laps.assign(size_t(team_.size()), std::vector<int64_t>(2 * launches.size()));
    return recording;
}

uint64_t CpuDevice::play(Recording& recording) {
    auto& replayed = static_cast<CpuRecording&>(recording);
    team_.pin_caller();
    if (inputs_.tokens() < worth_helping) team_.expect_nobody();
    // The task after which all members stop. Each looks only after a barrier, when the number for
    // that task can no longer change, so that none is left waiting at the next.
    std::atomic<size_t> last_task = replayed.tasks.size();
    team_.run([&](const Worker& worker) {
        cpu::Stopwatch watch(replayed.laps.empty() ? nullptr
                                                   : &replayed.laps[size_t(worker.index)]);
        // Whether the members go on behind task i.
        auto meet = [&](size_t i) {
            if (worker.index == 0 && replayed.cancelled->load(std::memory_order_acquire))
                last_task.store(i);
            worker.barrier->wait();
            watch.lap(2 * i + 1);
            return last_task.load() > i;
        };
        auto lap = [&](const Worker& member, size_t i) {
            if (member.own == worker.own) watch.lap(2 * i);  // a guest has no time to give
        };
        for (const cpu::Chain& chain : replayed.chains) {
            if (cpu::run_by_tokens(chain, replayed.tasks, inputs_.tokens(), worker, lap)) {
                if (!meet(chain.last - 1)) return;
                continue;
            }
            for (size_t i = chain.first; i < chain.last; ++i) {
                replayed.tasks[i](worker);
                lap(worker, i);
                if (!meet(i)) return;
            }
        }
    });
    return 0;
}

void CpuDevice::divide(int64_t count, const std::function<void(int64_t first, int64_t end)>& work) {
    team_.run([&](const Worker& worker) {
        const auto [first, last] = worker.share(count);
        work(first, last);
    });
}

// A waiting thread that has no core of its own would take the time of those it waits for.
void CpuDevice::help(Device& other, const std::function<bool()>& done) {
    auto* cpu = dynamic_cast<CpuDevice*>(&other);
    if (!cpu || description_.shares_cores) return;
    team_.pin_caller();
    team_.help(cpu->team_, done);
}

Limits CpuDevice::measure_limits() {
    constexpr int64_t rounds = 1'000'000;
    const int64_t bytes = measured_bytes(int64_t(1) << 29, description_.free_bytes);
    Buffer memory(bytes, "end other programs before you measure");
    clear(team_, memory);
    std::atomic<uint64_t> sink = 0;  // keeps the work from being left out
    Limits best;
    for (int repetition = 0; repetition < 5; ++repetition) {
        auto start = std::chrono::steady_clock::now();
        team_.run([&](const Worker& worker) {
            const auto [first, last] = worker.share(bytes);
            sink +=
                isa_.stream(reinterpret_cast<const uint8_t*>(memory.data()) + first, last - first);
        });
        best.bytes_per_second =
            std::max(best.bytes_per_second, double(bytes) / seconds_since(start));
        auto raise = [&](double& best_rate, float (*work)(int64_t), int64_t products) {
            start = std::chrono::steady_clock::now();
            team_.run([&](const Worker&) { sink += work(rounds) > 0; });
            const double rate = double(rounds) * double(products) * team_.size();
            best_rate = std::max(best_rate, rate / seconds_since(start));
        };
        raise(best.multiply_adds_per_second, isa_.integer_work, isa_.integer_products());
        raise(best.float_multiply_adds_per_second, isa_.float_work, isa_.float_products());
    }
    return best;
}

}  // namespace tandem::kernels
