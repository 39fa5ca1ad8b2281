// What a device is asked to run, and how it says what it can run. Choosing kernels is data: the
// planner offers the operations ahead, the first kernel of a device's table that claims most of
// them gets them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace tandem::kernels {

// Where an operand lies when a launch runs.
enum class Where {
    Nowhere,  // an optional operand left out, or a result that stays inside its kernel
    Weight,   // loaded once, by value number
    State,    // made once, by value number
    Input,    // a field of the step's inputs, by name
    Arena,    // device memory shared by all programs, at an offset
    Sending,  // exchange memory that others read, at an offset; two slots
    Landing   // exchange memory that an exchange writes, at an offset
};

struct Operand {
    graph::View view;  // local range; live extents hold the bucket's capacity; data unset
    Where where = Where::Nowhere;
    int value = -1;                       // number in the graph
    int64_t offset = 0;                   // bytes; of a weight where it is a vector
    graph::Use use = graph::Use::Vector;  // of a weight
    std::string_view input;               // of Input: the field

    explicit operator bool() const { return where != Where::Nowhere; }
};

// A node as one device sees it: its own ranges of the operands and of the result.
struct Operation {
    const graph::Node* node = nullptr;
    std::vector<Operand> inputs;
    Operand output;
    // Later operations of the same segment that read the result, as distances from this one; and
    // whether anything beyond the segment does.
    std::vector<int> readers;
    bool outlives_segment = false;
};

struct Kernel;

// A special form of an activation, such as int8 blocks: made once per value, shared by all kernels
// that read it. It follows from a weight's type, and from whether there is room for many tokens,
// never from what a cut changes, so that no cut changes a number.
struct Form {
    std::string_view name;
    int64_t (*bytes)(const graph::View& value) = nullptr;
    const Kernel* prepare = nullptr;  // launched with one operation: inputs[0] -> output
};

struct Kernel {
    std::string_view name;
    // How many operations at the front of `ahead` one launch of this kernel runs; 0 for none.
    size_t (*claim)(std::span<const Operation> ahead) = nullptr;
    // The form in which it reads input `input` of a claimed operation; null for the plain one.
    const Form* (*form)(const Operation& operation, size_t input) = nullptr;
    // The form in which its launch can give the last result of what it claimed, too, so that nobody
    // has to prepare it; null for none.
    const Form* (*gives)(std::span<const Operation> claimed) = nullptr;
    // How many of its first inputs may lie where the result is written, if they have its shape: it
    // reads of them what lies there before it writes, and nothing later.
    size_t in_place = 0;
    // Working memory of a launch.
    int64_t (*scratch_bytes)(std::span<const Operation> claimed) = nullptr;
    int number = 0;  // of the device's own table of implementations
    // Launches of its device run side by side where none of them touches what another writes.
    bool side_by_side = false;
};

struct Launch {
    const Kernel* kernel = nullptr;
    std::vector<Operation> operations;  // inputs in the forms that the kernel asked for
    // The last result in the form that the kernel gives, where somebody reads it so. If everybody
    // does, and nobody beyond the segment reads it, the plain result is Nowhere.
    Operand given;
    int64_t scratch_offset = 0;  // in the arena
    int64_t scratch_bytes = 0;
};

}  // namespace tandem::kernels
