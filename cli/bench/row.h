// One line of a table of measurements: what was measured, on what, and how long it took.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/bench/cases.h"
#include "kernels/device.h"

namespace tandem::cli {

// Seconds that hardware needs at least: to read what must be read, to multiply what must be
// multiplied, and for the slower of both, in the prompt and in the generation.
struct Least {
    double reading = 0, multiplying = 0, seconds = 0;
};

struct Row {
    Case test;
    std::string build;                  // commit of the program, or its version where there is none
    int64_t build_number = 0;           // of commits up to that
    std::string cpu;                    // name of the processor
    std::string backends;               // "CPU"
    std::string file;                   // path of the model
    std::string model;                  // "llama 8B Q4_K - Medium"
    int64_t bytes = 0, parameters = 0;  // of its tensors
    int64_t threads = 0;                // of all devices that hold something
    std::string time;                   // of the test's begin, "2026-01-15T12:34:56Z"
    std::vector<int64_t> nanoseconds;   // of each repetition
    Least least;
    std::vector<std::string> devices;  // that hold something of the model
    kernels::Limits limits;            // of these together
    double run_bytes_per_second = 0;   // of memory, as this run measured it

    int64_t tokens() const { return test.tokens(); }
    std::vector<double> rates() const;  // tokens per second of each repetition
    // The part of one of the machine's limits that was reached, 1 for all of it.
    double share(double least_seconds) const;
    double share() const { return share(least.seconds); }
    std::string label() const;  // "pp512", "tg128 @ d4096"
};

// As tables show them: "cpu:0/cpu:1" or "auto", "3.00/1.00" or "0.00", "f16".
std::string devices_text(const Setup& setup);
std::string ratio_text(const Setup& setup);
std::string overrides_text(const Setup& setup);  // "exps=cpu;attn=cpu" or "none"
std::string type_text(gguf::DType type);
// "33.6 GB/s, 643.0 GMAC/s, 160.3 GMAC/s of floats"
std::string limits_text(const kernels::Limits& limits);
std::string limits_text(const Row& row);  // and of what: " (cpu, 2 threads)"

double mean(const std::vector<double>& samples);
double deviation(const std::vector<double>& samples);  // of a sample; 0 for a single one

// The row as machines read it: llama-bench's fields in its order, then ours.
struct Field {
    std::string_view name;
    std::variant<std::string, int64_t, bool, double> value;
};
std::vector<Field> fields(const Row& row);

}  // namespace tandem::cli
