// Devices that are nothing but memory, and exchanges among them.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "graph/ops.h"
#include "kernels/reference/device.h"
#include "parallel/communicator/host.h"

namespace tandem::test {

constexpr int64_t length = 256;

class Memory final : public kernels::ReferenceDevice {
  public:
    Memory() : ReferenceDevice("memory", 0) {}
    void help(Device& other, const std::function<bool()>& done) override {
        if (helps) helps(other, done);
    }
    std::function<void(Device& other, const std::function<bool()>& done)> helps;
};

// Exchanges of [tokens embd] values among devices, by number; all use the same memory.
struct Net {
    using Exchange = parallel::Exchange;
    using Meeting = parallel::Meeting;
    using Operand = kernels::Operand;
    using Where = kernels::Where;

    explicit Net(std::vector<Exchange> exchanges, size_t devices) {
        graph::Tensor ids = graph.input("ids");
        static const graph::Op made{.name = "made"};
        for (Exchange& exchange : exchanges) {
            int value =
                graph.append(made, {ids}, {graph.tokens(), graph.axis("embd", length)}).value;
            placed.instances.push_back(
                {value, parallel::Placement::replicated(exchange.receivers)});
            int number = int(placed.instances.size()) - 1;
            exchange.transfers = {{.from = number, .to = number}};
            placed.steps.emplace_back(exchange);
        }
        communicator = std::make_unique<parallel::HostCommunicator>(placed, devices,
                                                                    parallel::Wire::F32, false);
        for (size_t device = 0; device < devices; ++device)
            communicator->reserve(int(device), memory.emplace_back(), 1 << 16, 1 << 16);
    }

    Meeting meeting(int device, int number) const {
        auto& exchange = std::get<Exchange>(placed.steps[size_t(number)]);
        const graph::Value& value = graph.value(placed.instances[size_t(number)].value);
        Operand operand{.view = {.axes = value.shape,
                                 .extents = {1, length},
                                 .begins = {0, 0},
                                 .strides = {length, 1}}};
        Meeting meeting{.exchange = number};
        operand.where = Where::Sending;
        if (parallel::contains(exchange.sources, device)) meeting.sends.push_back(operand);
        operand.where = Where::Landing;
        if (parallel::contains(exchange.receivers, device)) meeting.receives.push_back(operand);
        return meeting;
    }

    std::chrono::nanoseconds run(int device, int number, uint32_t round, int64_t tokens = 1) {
        return communicator->run(device, meetings.at({device, number}), round,
                                 {.tokens = tokens, .rows = 1});
    }

    std::span<float> sending(int device, uint32_t round) const {
        return {reinterpret_cast<float*>(communicator->sending(device, int(round % 2))), length};
    }

    graph::Graph graph;
    parallel::Placed placed{.graph = &graph};
    std::map<std::pair<int, int>, Meeting> meetings;  // stay where they are while others read
    std::deque<Memory> memory;
    std::unique_ptr<parallel::HostCommunicator> communicator;
    void prepare(size_t devices) {
        for (size_t device = 0; device < devices; ++device)
            for (size_t number = 0; number < placed.steps.size(); ++number)
                meetings[{int(device), int(number)}] = meeting(int(device), int(number));
    }
};

}  // namespace tandem::test
