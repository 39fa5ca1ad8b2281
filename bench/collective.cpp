// Exchanges between devices as a run has them: each device's last kernel writes what it sends, then
// all meet. Latency, and bandwidth as nccl-tests define it: "alg" is the size of the value by the
// time, "bus" what each device's link carries. Sets of devices are the words behind the options:
//   build/bench/bench_collective --benchmark_filter=all_reduce cpu:0,cpu:1 vulkan0,cpu
#include <benchmark/benchmark.h>

#include <cstring>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "cli/model_options.h"
#include "gguf/error.h"
#include "graph/ops.h"
#include "parallel/communicator/host.h"
#include "parallel/local.h"

namespace {

using namespace tandem;
using kernels::Operand;
using kernels::Where;
using parallel::Exchange;
using parallel::Wire;

constexpr int64_t embd = 4096, most_tokens = 512;
constexpr const char* wire_names[] = {"f32", "f16", "bf16"};

// One exchange of [tokens embd] over and over, a thread for each device.
class Rounds {
  public:
    Rounds(const std::vector<std::string>& names, Exchange::Kind kind, Wire wire)
        : kind_(kind), devices_(kernels::make_devices(names)) {
        const auto count = int(devices_.size());
        parallel::Group all(devices_.size());
        std::iota(all.begin(), all.end(), 0);
        const int value =
            graph_.append(made_, {graph_.input("ids")}, {graph_.tokens(), embd_}).value;
        placed_.instances.push_back({value, parallel::Placement::replicated(all)});
        placed_.steps.emplace_back(Exchange{
            .kind = kind, .sources = all, .receivers = all, .transfers = {{.from = 0, .to = 0}}});
        bool spin = true;
        for (const auto& device : devices_) spin = spin && !device->description().shares_cores;
        communicator_ =
            std::make_unique<parallel::HostCommunicator>(placed_, devices_.size(), wire, spin);
        for (int i = 0; i < count; ++i)
            seats_.push_back(make_seat(i, {embd * i / count, embd * (i + 1) / count}));
    }

    void run(uint32_t rounds, int64_t tokens) {
        std::vector<std::thread> threads;
        for (size_t i = 0; i < seats_.size(); ++i)
            threads.emplace_back([this, i, rounds, tokens] { take_part(int(i), rounds, tokens); });
        for (std::thread& thread : threads) thread.join();
        first_ += rounds;
        if (error_) std::rethrow_exception(error_);
    }

    // What each device sends and receives, for every byte of the value.
    double bus_share() const {
        const auto devices = double(devices_.size());
        return (kind_ == Exchange::Kind::Sum ? 2 : 1) * (devices - 1) / devices;
    }

  private:
    struct Seat {
        parallel::Program program;
        std::unique_ptr<kernels::Recording> recordings[2];  // that write what is sent, by slot
    };

    Operand operand(parallel::Range range, Where where) const {
        Operand operand{.view = {.axes = {graph_.tokens(), embd_}}, .where = where, .value = 0};
        operand.view.begins = {0, range.begin};
        operand.view.extents = {most_tokens, range.size()};
        operand.view.strides = parallel::dense_strides(operand.view.extents);
        return operand;
    }

    Seat make_seat(int number, parallel::Range part) {
        kernels::Device& device = *devices_[size_t(number)];
        const parallel::Range all{0, embd};
        const Operand whole = operand(all, Where::Landing);
        const Operand sent = operand(kind_ == Exchange::Kind::Sum ? all : part, Where::Sending);
        constexpr int64_t bytes = most_tokens * embd * 4;
        communicator_->reserve(number, device, bytes, bytes);
        std::memset(communicator_->landing(number), 0, bytes);
        device.make_arena(0);
        device.reserve_inputs(most_tokens);
        Seat seat{.program = {.device = number, .bucket = most_tokens}};
        seat.program.items.emplace_back(
            parallel::Meeting{.exchange = 0, .sends = {sent}, .receives = {whole}});
        Operand read = sent;
        read.where = Where::Landing;
        read.offset = sent.view.begins[1] * 4;
        read.view.strides = whole.view.strides;
        const kernels::Launch launch{.kernel = device.copy(),
                                     .operations = {{.inputs = {read}, .output = sent}}};
        for (int slot : {0, 1})
            seat.recordings[slot] =
                device.record({&launch, 1}, {.sending = communicator_->sending(number, slot),
                                             .landing = communicator_->landing(number),
                                             .cancelled = &cancelled_});
        return seat;
    }

    void take_part(int number, uint32_t rounds, int64_t tokens) {
        Seat& seat = seats_[size_t(number)];
        kernels::Device& device = *devices_[size_t(number)];
        const auto& meeting = std::get<parallel::Meeting>(seat.program.items[0]);
        try {
            device.inputs() = {};
            device.inputs().append(0, 0, std::vector<int32_t>(size_t(tokens), 0));
            for (uint32_t round = first_; round < first_ + rounds; ++round) {
                communicator_->begin(seat.program, round);
                device.wait(device.play(*seat.recordings[round % 2]));
                communicator_->run(number, meeting, round, {.tokens = tokens});
            }
        } catch (...) {
            // The others only hear that one failed; it is the one that comes first.
            if (!cancelled_.exchange(true)) error_ = std::current_exception();
            communicator_->poison();
        }
    }

    const graph::Op made_{.name = "made"};
    const Exchange::Kind kind_;
    graph::Graph graph_;
    graph::Axis embd_ = graph_.axis("embd", embd);
    parallel::Placed placed_{.graph = &graph_};
    std::vector<std::unique_ptr<kernels::Device>> devices_;
    std::unique_ptr<parallel::HostCommunicator> communicator_;
    std::vector<Seat> seats_;
    uint32_t first_ = 0;
    std::atomic<bool> cancelled_ = false;
    std::exception_ptr error_;
};

void measure(benchmark::State& state, const std::vector<std::string>& names, Exchange::Kind kind,
             Wire wire) {
    const int64_t tokens = state.range(0);
    try {
        Rounds rounds(names, kind, wire);
        rounds.run(2, tokens);
        while (state.KeepRunningBatch(state.max_iterations))
            rounds.run(uint32_t(state.max_iterations), tokens);
        const double bytes = double(tokens * embd * 4) * double(state.iterations());
        state.counters["alg B/s"] = benchmark::Counter(bytes, benchmark::Counter::kIsRate);
        state.counters["bus B/s"] =
            benchmark::Counter(bytes * rounds.bus_share(), benchmark::Counter::kIsRate);
    } catch (const Error& error) {
        state.SkipWithError(error.what());
    }
}

void add(const std::string& set) {
    const std::vector<std::string> names = cli::to_devices(set);
    (void)kernels::make_devices(names);  // so that a wrong name is one error, not one a measurement
    auto add_one = [&](const char* what, Exchange::Kind kind, Wire wire) {
        const std::string name = std::string(what) + "/" + set + "/" + wire_names[int(wire)];
        benchmark::RegisterBenchmark(name.c_str(),
                                     [=](auto& state) { measure(state, names, kind, wire); })
            ->ArgName("tokens")
            ->Arg(1)
            ->Arg(8)
            ->Arg(64)
            ->Arg(most_tokens)
            ->Unit(benchmark::kMicrosecond)
            ->UseRealTime();
    };
    for (Wire wire : {Wire::F32, Wire::F16, Wire::BF16})
        add_one("all_reduce", Exchange::Kind::Sum, wire);
    add_one("all_gather", Exchange::Kind::Place, Wire::F32);
}

}  // namespace

int main(int count, char** words) {
    benchmark::Initialize(&count, words);
    try {
        for (int i = 1; i < count; ++i) add(words[i]);
        if (count < 2) throw Error("name sets of devices, such as cpu:0,cpu:1 vulkan0,cpu");
    } catch (const Error& error) {
        std::cerr << "error: " << error.what() << "\n";
        return 1;
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
