// What a run of measurements consists of: the cross product of all parameters, in llama-bench's
// order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/overrides.h"
#include "gguf/dtype.h"

namespace tandem::cli {

extern const OptionGroup bench_options;      // what is measured
extern const OptionGroup bench_run_options;  // how

// Everything that a loaded model depends on.
struct Setup {
    std::string model;       // a path, or a preset and a type
    bool synthetic = false;  // the latter
    std::string mode = "layer";
    std::vector<std::string> devices;  // none: those that are taken by default
    int main_device = 0;
    std::vector<double> ratio;  // none: not given
    Overrides overrides;
    gguf::DType key_type = gguf::DType::F16, value_type = gguf::DType::F16;
    int threads = 0;        // 0: the default
    int64_t sequences = 1;  // side by side

    bool operator==(const Setup&) const = default;
};

// The names of those that it runs on.
std::vector<std::string> devices_of(const Setup& setup);

// One line of the table.
struct Case {
    Setup setup;
    int64_t batch = 2048, step = 512;              // tokens: -b, -ub
    int64_t prompt = 0, generated = 0, depth = 0;  // of each sequence

    int64_t tokens() const { return setup.sequences * (prompt + generated); }
};

// Columns that appear only where they tell rows apart or differ from what is usual.
struct Columns {
    bool batch = false, step = false, key_type = false, value_type = false, main_device = false,
         expert_blocks = false, mode = false, devices = false, ratio = false, overrides = false,
         sequences = false;
};

struct Cases {
    std::vector<Case> list;
    Columns columns;
};

// Throws Error naming the option that is wrong.
Cases read_cases(const Arguments& arguments);

}  // namespace tandem::cli
