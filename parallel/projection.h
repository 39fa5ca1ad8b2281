// The middle of a projection: operations given to kernels, before memory is laid out. Internal to
// project.cpp and lay_out.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/local.h"
#include "parallel/program.h"

namespace tandem::parallel {

// Something that has memory: an instance that is written here, or a prepared form.
using StorageNumber = int;

// An operation before its operands have offsets.
struct Draft {
    kernels::Operation operation;
    std::vector<int> inputs;              // instances; -1: an operand left out
    std::vector<StorageNumber> prepared;  // the form in which an input is read; -1: as it is
    int output = -1;                      // instance
    size_t step = 0;                      // of the placed list
};

// One entry of the device's program, in order.
struct Entry {
    // A launch of drafts [first, first + count),
    const kernels::Kernel* kernel = nullptr;
    size_t first = 0, count = 0;
    int64_t scratch_bytes = 0;
    StorageNumber gives = -1;  // a form of the last result
    bool gives_alone = false;  // which nobody reads as it is
    // or the preparation of a form of `source`,
    int source = -1;
    StorageNumber prepares = -1;
    // or an exchange: step of the placed list.
    int exchange = -1;
};

struct Projection {
    const Local& local;
    const kernels::Kernel* copy = nullptr;
    std::vector<Draft> drafts;
    std::vector<Entry> entries;
    std::vector<int64_t> form_bytes;  // of the prepared forms, which are the first storages
};

struct Memory;
// Lifetimes, offsets, and the finished program.
Program lay_out(Projection projection, int64_t bucket, const Memory& memory);

}  // namespace tandem::parallel
