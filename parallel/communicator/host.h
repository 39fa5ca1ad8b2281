// The communicator of devices whose exchange memory all threads of this process reach: every source
// writes once, every receiver reads once, contributions are added in rank order, so that all
// receivers get the same bits and a repeated run gives them again.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "parallel/communicator.h"
#include "parallel/communicator/counter.h"

namespace tandem::parallel {

class HostCommunicator final : public Communicator {
  public:
    // `spin`: devices do not share cores.
    HostCommunicator(const Placed& placed, size_t devices, Wire wire, bool spin);

    void reserve(int number, kernels::Device& device, int64_t sending_bytes,
                 int64_t landing_bytes) override;
    std::byte* sending(int device, int slot) override;
    std::byte* landing(int device) override;
    void begin(const Program& program, uint32_t sequence) override;
    void reuse(int exchange, uint32_t sequence) override;
    std::chrono::nanoseconds run(int device, const Meeting& meeting, uint32_t sequence,
                                 Counts counts) override;
    std::span<const float> fetch(int exchange, uint32_t sequence, Counts counts) override;
    void poison() override;

  private:
    struct AlignedDelete {
        void operator()(std::byte* memory) const;
    };
    using Block = std::unique_ptr<std::byte[], AlignedDelete>;
    static Block allocate(int64_t bytes);
    using Moment = std::chrono::steady_clock::time_point;

    struct Memory {
        kernels::Device* device = nullptr;
        std::byte *sending[2] = {}, *landing = nullptr;  // of the device
        Block wire[2];                                   // addends in the type of the wire
    };
    // What a source offers in one slot: valid once its counter has reached the sequence.
    struct Offer {
        const Meeting* meeting = nullptr;
        int device = 0;
        Moment arrived;  // the source
    };
    struct Point {  // of one exchange
        const Exchange* exchange = nullptr;
        std::vector<Offer> offers[2];    // [slot][source]
        std::vector<Counter> published;  // [source]
        std::vector<Counter> consumed;   // [receiver]; the host is the only one of a fetch
        Point(const Exchange* exchange);
    };

    Point& point(int exchange);
    Wire wire(const Point& point) const;
    void publish(Point& point, int device, const Meeting& meeting, Moment arrived,
                 uint32_t sequence, Counts counts);
    // Returns when source `source` of the exchange has published.
    void await(const Point& point, size_t source, int device, uint32_t sequence, Counts counts);
    // Makes the sum of transfer `t`, or puts its ranges side by side.
    void add(const Point& point, size_t t, int slot, Counts counts, kernels::Device& device,
             float* destination) const;
    void place(const Point& point, size_t t, int slot, Counts counts, const graph::View& full,
               float* destination) const;
    const std::byte* offered(const Offer& offer, size_t t, int slot, Wire type) const;

    const Placed& placed_;
    const Wire wire_;
    const bool spin_;
    std::vector<Memory> memory_;
    std::vector<std::unique_ptr<Point>> points_;  // by step of the placed list
    std::vector<float> fetched_;                  // of several sources
    std::atomic<bool> poisoned_ = false;
};

}  // namespace tandem::parallel
