// Drives the devices: one thread per device replays its programs, meeting the others only in the
// communicator. Steps are submitted in order and may overlap: a device works on the next one while
// others are still busy with this one, which is how split mode `layer` pipelines a long prompt.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "graph/step.h"
#include "kernels/device.h"
#include "parallel/communicator.h"
#include "parallel/placed.h"
#include "parallel/project.h"

namespace tandem::parallel {

using Ticket = uint64_t;

class Executor {
  public:
    // Called with the index of the first row of a block and the block's logits, [rows vocab], which
    // stay until the next block.
    using Sink = std::function<void(int64_t first, std::span<const float> logits)>;

    // The devices have their weights and states already. All must outlive the executor. `programs`
    // are the devices' own (make_programs with `most_tokens`). `timed`: take_times will be called.
    Executor(const Placed& placed, std::span<const std::unique_ptr<kernels::Device>> devices,
             std::vector<Programs> programs, std::unique_ptr<Communicator> communicator,
             int64_t most_tokens, bool timed = false);
    ~Executor();

    int64_t most_tokens() const { return most_tokens_; }
    // Logits of a row: the size of the vocabulary.
    int64_t vocab() const { return vocab_; }

    // At most most_tokens() tokens. Throws the error that ended an earlier step.
    Ticket submit(graph::StepInputs inputs);
    // Waits for a step; tickets are waited for in order, those left out are done without. Logits
    // arrive in blocks of rows, so those of a long prompt never exist all at once. What the sink
    // throws ends all steps, like an error of a device.
    void wait(Ticket ticket, const Sink& sink = {});
    // Ends all steps soon: waits throw Error("interrupted"). Safe in a signal handler's thread.
    void cancel();

    // Nanoseconds that exchanges between devices took since the start: each from when the last
    // device came that has a part of it, because to wait for one is not to exchange, until one that
    // receives has all of it.
    uint64_t exchange_time() const { return exchange_time_; }

    // What the time of one device went into: nanoseconds.
    struct DeviceTimes {
        struct Launch {
            const kernels::Launch* launch = nullptr;
            Stage stage = Stage::Body;
            int64_t calls = 0, tokens = 0;  // of all calls; rows in the head
            kernels::LaunchTime time;
        };
        std::vector<Launch> launches;           // none: the device cannot tell
        int64_t exchanges = 0, exchanging = 0;  // how many, and how long
    };
    // Since the last call, if the executor is timed; not while a step is on its way.
    std::vector<DeviceTimes> take_times();

  private:
    struct Recorded {  // a program, ready to play in either slot
        const Program* program = nullptr;
        Stage stage = Stage::Body;
        std::vector<std::unique_ptr<kernels::Recording>> segments[2];
        int64_t plays = 0, tokens = 0;  // since times were taken
    };
    struct Seat {  // of a device
        kernels::Device* device = nullptr;
        Programs programs;
        std::vector<Recorded> body, head;  // of the programs, in their order
        uint64_t played = 0;               // what its timeline reaches when all is done
        uint32_t head_runs = 0;
        int64_t exchanges = 0, exchanging = 0;  // since times were taken
        std::thread thread;
    };

    Recorded record(Seat& seat, int number, const Program& program, Stage stage);
    void stop();
    void work(int number);
    void run(int number, Recorded& recorded, uint32_t sequence, Counts counts);
    static void add_times(Recorded& recorded, DeviceTimes& times);
    void fail(std::exception_ptr error);
    void throw_if_failed();

    const Placed& placed_;
    std::unique_ptr<Communicator> communicator_;
    const int64_t most_tokens_;
    const bool timed_;
    int64_t vocab_ = 0;
    int fetch_ = -1;            // step of the placed list that brings the logits to the host
    std::vector<int> tellers_;  // by step: the device by which an exchange's time is told; or -1
    std::deque<Seat> seats_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<graph::StepInputs> steps_;  // not yet waited for; stay where they are until then
    Ticket first_ = 0;                     // ticket of steps_.front()
    std::vector<Ticket> done_;             // steps that each device has finished
    bool stopping_ = false;
    std::exception_ptr error_;

    uint32_t fetched_ = 0;  // head runs whose logits the caller has taken
    std::atomic<bool> cancelled_ = false;
    std::atomic<uint64_t> exchange_time_ = 0;
};

}  // namespace tandem::parallel
