// How devices exchange values. One communicator serves all devices of a run; each device's thread
// calls it in the order of its program, and calls of one exchange meet by its sequence number, so a
// device may be a step ahead of those that read from it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "kernels/device.h"
#include "parallel/program.h"
#include "parallel/project.h"

namespace tandem::parallel {

// The type in which addends travel: they are rounded to it, the sum is made in f32. All else
// travels as it is.
enum class Wire { F32, F16, BF16 };
Wire wire_from_name(std::string_view name);  // Error naming the types that exist

// Live extents of a run.
struct Counts {
    int64_t tokens = 0, rows = 0;
};

class Communicator {
  public:
    virtual ~Communicator() = default;

    // Takes from a device the memory that its launches and exchanges use: two slots of Sending
    // memory and one block of Landing memory.
    virtual void reserve(int number, kernels::Device& device, int64_t sending_bytes,
                         int64_t landing_bytes) = 0;
    virtual std::byte* sending(int device, int slot) = 0;
    virtual std::byte* landing(int device) = 0;

    // Returns when the slot that run `sequence` of a program writes to is free: all that
    // the device sent two runs before has been read.
    virtual void begin(const Program& program, uint32_t sequence) = 0;
    // Returns when all that was sent in run `sequence` of `exchange` has been read.
    virtual void reuse(int exchange, uint32_t sequence) = 0;
    // The device's part of an exchange, once its launches before it are done: publishes what it
    // sends, then waits for the others and fills what it receives. Returns how long the last of
    // those that it receives from came behind it.
    virtual std::chrono::nanoseconds run(int device, const Meeting& meeting, uint32_t sequence,
                                         Counts counts) = 0;
    // The caller's side of the exchange that brings the logits: [rows vocab], which stay until the
    // next call.
    virtual std::span<const float> fetch(int exchange, uint32_t sequence, Counts counts) = 0;

    // After an error: every wait, now and later, throws. Nothing hangs.
    virtual void poison() = 0;
};

}  // namespace tandem::parallel
