// What the time of a test goes into, operation by operation, beside what the hardware would need
// for it.
#pragma once

#include <string>
#include <vector>

#include "cli/engine.h"
#include "kernels/device.h"
#include "parallel/executor.h"

namespace tandem::cli {

// One kind of launch in one phase of a test: a kernel, and the types of the weights it reads.
struct ProfileRow {
    std::string name;  // "linear Q4_K"
    int64_t calls = 0;
    double seconds = 0, waiting = 0;  // of threads for each other, behind it
    double bytes = 0, multiply_adds = 0, float_multiply_adds = 0;
};

struct Profile {
    std::string device;
    std::vector<ProfileRow> rows;  // what takes most time comes first
    int64_t exchanges = 0;
    double exchanging = 0;  // seconds
    double seconds = 0;     // of the phase
};

// A part of a test: its tokens and those cached when it began, of each sequence, how many sequences
// there were, all in each step or one after another, and how long it took.
struct Phase {
    std::string name;  // "prompt"
    int64_t tokens = 0, depth = 0, sequences = 1;
    bool together = false;
    double seconds = 0;
};

// Of a device that can tell.
Profile make_profile(const parallel::Executor::DeviceTimes& times, const Blueprint& blueprint,
                     size_t device, const Phase& phase);

// A table; `limits` are those of the device. Milliseconds of an operation are a mean of the threads
// at work; "barrier" is how long they then waited for each other.
std::string to_string(const Profile& profile, const Phase& phase, const kernels::Limits& limits);

}  // namespace tandem::cli
