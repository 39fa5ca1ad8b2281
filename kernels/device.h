// A device holds its part of one model and runs recorded launches on it. Devices know nothing of
// each other: each gives the memory through which it exchanges values, and a communicator carries
// them from one device's memory to another's.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gguf/dtype.h"
#include "graph/step.h"
#include "kernels/kernel.h"

namespace tandem::kernels {

// Numbers of memories: the host's, that near some of its cores, and an adapter's, which may be cut
// from the host's.
inline constexpr int host_memory = 0;
constexpr int memory_of_node(int node) { return 1 + node; }
constexpr int memory_of_adapter(int adapter) { return -1 - adapter; }

struct Description {
    std::string name;      // as the user wrote it: "cpu:0-3"
    std::string kind;      // "cpu", "reference", "vulkan"
    std::string features;  // "avx512-vnni, 4 threads"
    int threads = 1;
    // Devices with the same text give the same bits for the same inputs.
    std::string rounding;
    int64_t total_bytes = 0, free_bytes = 0;
    bool in_host_memory = false;  // whose free bytes are divided among such devices
    // Devices whose free bytes are parts of the same have the same number, and may take what others
    // leave.
    int memory = host_memory;
    double warmup_seconds = 0;  // of work, until an idle one has its speed
    bool shares_cores = false;  // with another device of the run, so that spinning would starve it
};

// What the hardware allows, whatever the kernels make of it.
struct Limits {
    double bytes_per_second = 0;  // streaming reads of memory that no cache holds
    // Of the fastest products that are measured: in 8-bit integers on CPUs, on matrix units of
    // GPUs, or else in f32.
    double multiply_adds_per_second = 0;
    double float_multiply_adds_per_second = 0;  // f32 products; 0: no other rate than that
};

// The rows of a weight's local part, as the file stores them.
struct WeightSource {
    gguf::DType dtype;
    graph::Use use;
    int64_t matrices = 1;  // a stack of experts, one after another
    int64_t rows = 0;      // of each matrix
    int64_t columns = 0;   // elements of a row
    // The bytes of local row `row` (over all matrices); assembled in `scratch` (one row long) where
    // the file has them in pieces. Safe from several threads.
    std::function<const std::byte*(int64_t row, std::byte* scratch)> row;
};

// Some rows of a state as files store its type, whatever way the device has of keeping them.
struct StateRows {
    int value = -1;
    gguf::DType dtype = gguf::DType::F32;  // type and columns are those that it was made with
    int64_t columns = 0;
    int64_t first = 0, count = 0;

    int64_t row_bytes() const { return gguf::row_bytes(dtype, columns); }
    int64_t bytes() const { return count * row_bytes(); }
};

// How long a launch took, all plays of its recording together, and how long threads waited for each
// other behind it: nanoseconds, a mean of the device's threads.
struct LaunchTime {
    int64_t working = 0, waiting = 0;
};

// A replayable run of launches between two exchanges.
class Recording {
  public:
    virtual ~Recording() = default;
    // Of each launch since the last call, if the bindings asked for times; never during a play.
    // None: the device cannot tell.
    virtual std::vector<LaunchTime> take_times() { return {}; }
};

// Exchange memory of the device that launches of a recording write and read.
struct Bindings {
    std::byte* sending = nullptr;
    std::byte* landing = nullptr;
    const std::atomic<bool>* cancelled = nullptr;  // checked between launches; never null there
    bool timed = false;                            // take_times will be called
};

class Device {
  public:
    virtual ~Device() = default;

    virtual const Description& description() const = 0;
    // Measured anew, in about a second.
    virtual Limits measure_limits() = 0;
    // In order of preference; every operation is claimed by one of them.
    virtual std::span<const Kernel> kernels() const = 0;
    // Copies inputs[0], an activation of any strides, into dense memory at output, bit for bit. Its
    // operation has no node.
    virtual const Kernel* copy() const = 0;

    // A packing is chosen once per type and use, before any program. The most bytes that a packed
    // weight may take, and the number of rows that are packed together: bounds between devices are
    // best multiples of it.
    virtual int64_t packed_bytes(gguf::DType dtype, graph::Use use, int64_t matrices, int64_t rows,
                                 int64_t columns) const = 0;
    virtual int64_t row_multiple(gguf::DType dtype, graph::Use use) const = 0;

    // Loading, in any order; `progress` counts bytes of the file as they are read.
    virtual void load_weight(int value, const WeightSource& source,
                             std::atomic<int64_t>& progress) = 0;
    virtual void make_state(int value, gguf::DType dtype, int64_t rows, int64_t columns) = 0;
    virtual void make_arena(int64_t bytes) = 0;
    // Rows of a state out of the device, and into it, while nothing that was played is still to be
    // waited for: rows.bytes() bytes.
    virtual void read_state(const StateRows& rows, std::byte* to) = 0;
    virtual void write_state(const StateRows& rows, const std::byte* from) = 0;
    // Host-visible memory, aligned to 4096 bytes, that launches of this device and threads of
    // others reach alike; never null. The device owns it; every call gives another block.
    virtual std::byte* exchange_memory(int64_t bytes) = 0;

    // The inputs that launches read. They are rewritten in place once all that was played has been
    // waited for; `capacity` is the largest number of tokens.
    virtual void reserve_inputs(int64_t capacity) = 0;
    virtual graph::StepInputs& inputs() = 0;
    // What it takes beside all of these, whatever it runs: memory that threads work in. Rows of
    // caches have at most so many elements.
    virtual int64_t own_bytes(int64_t /*longest_row*/) const { return 0; }

    virtual std::unique_ptr<Recording> record(std::span<const Launch> launches,
                                              const Bindings& bindings) = 0;
    // Starts a replay behind all that was played before, and gives the value that the device's
    // timeline reaches when it is done. A CPU works in the calling thread and returns when done.
    virtual uint64_t play(Recording& recording) = 0;
    virtual void wait(uint64_t value) = 0;

    // Work in host memory that belongs to an exchange: calls work(first, end) for ranges that make
    // up [0, count), from the threads of a device that has some, once all that was played is done.
    virtual void divide(int64_t count,
                        const std::function<void(int64_t first, int64_t end)>& work) {
        work(0, count);
    }
    // Tokens of a step from which on its time goes into arithmetic, of which a waiting device can
    // do some; that of fewer goes into reading, which is no faster for it.
    static constexpr int64_t worth_helping = 32;
    // For a device that waits for another: until done(), it helps with what that one computes, if
    // both have their memory and their threads in this process. It changes no bit. Any thread may
    // call done(). Returns at once where it cannot help.
    virtual void help(Device&, const std::function<bool()>& /*done*/) {}
};

}  // namespace tandem::kernels
