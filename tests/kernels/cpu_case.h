// What the cases of the CPU kernels share: every variant that this machine runs, and the comparison
// with the reference op.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "kernels/cpu/device.h"
#include "kernels/cpu/variants.h"
#include "kernels/reference/device.h"
#include "kernels/small_model.h"
#include "nmse.h"

namespace tandem::test {

struct Machine {
    std::string variant;
    int threads;
};

inline std::vector<Machine> machines() {
    std::vector<Machine> all;
    for (const char* name :
         {"amx", "amx_emulated", "avx512bf16", "avx512", "avxvnni", "avx2", "portable"})
        if (kernels::cpu::find_variant(name)) all.push_back({name, 2});
    all.push_back({"portable", 1});
    all.push_back({"", 3});
    return all;
}

inline std::unique_ptr<kernels::Device> make_cpu(const Machine& machine) {
    std::vector<int> cores(size_t(machine.threads), 0);
    return std::make_unique<kernels::CpuDevice>(kernels::CpuDevice::Options{
        .name = "cpu", .cores = cores, .shares_cores = true, .variant = machine.variant});
}

// Steps of 1 to 8 tokens give the same bits on every machine, however many threads it has.
inline void expect_same_bits_of_few(const SmallModel& model) {
    std::vector<graph::StepInputs> steps;
    for (int32_t tokens = 1; tokens <= 8; ++tokens) steps.push_back(random_step(0, tokens));
    for (const Machine& machine : machines()) {
        const auto alone = model.run(make_cpu({machine.variant, 1}), steps);
        for (int threads : {2, 5, 16})
            EXPECT_EQ(alone, model.run(make_cpu({machine.variant, threads}), steps))
                << machine.variant << " with " << threads << " threads";
    }
}

// What machines that multiply in fewer bits may be off.
using ReducedBound = std::function<double(kernels::cpu::Reduced)>;

// Rounding activations to 8 bits costs this much; a wrong scale or code costs hundreds of times
// more.
inline double bound_of(gguf::DType dtype) {
    int64_t block = gguf::traits(dtype).block;
    return block == 1 ? 1e-11 : block == 256 ? 2e-4 : 1e-4;
}

// Of sets that multiply otherwise. Weights and activations are rounded to 16-bit integers, with
// BF16 in longer blocks where AVX512-BF16 is there; or of BF16 activations to it, of F16 to two
// numbers of bf16.
inline ReducedBound reduced_bound_of(gguf::DType dtype, double times = 1) {
    using gguf::DType;
    return [=](kernels::cpu::Reduced reduced) {
        using kernels::cpu::Reduced;
        double bound = 0;
        if (dtype == DType::BF16 && reduced >= Reduced::Int16)
            bound = reduced == Reduced::Int16 ? 6e-9 : reduced == Reduced::LongBlocks ? 2e-8 : 8e-6;
        if (dtype == DType::F16 && reduced >= Reduced::Int16)
            bound = reduced == Reduced::AllTypes ? 4e-11 : 6e-9;
        return times * bound;
    };
}

// Of attention over caches of these types: all but F32 are rounded to 16-bit integers with the
// queries and weights, which takes half as much from results as rounding them to F16 has taken.
inline ReducedBound attention_bound_of(gguf::DType keys, gguf::DType values) {
    const bool floats = keys == gguf::DType::F32 && values == gguf::DType::F32;
    return [=](kernels::cpu::Reduced reduced) {
        return reduced >= kernels::cpu::Reduced::Int16 && !floats ? 4e-8 : 0;
    };
}

// Runs the model everywhere and compares.
inline void expect_close(const SmallModel& model, const std::vector<graph::StepInputs>& steps,
                         double bound, const ReducedBound& reduced_bound = {}) {
    auto expected = model.run(std::make_unique<kernels::ReferenceDevice>("reference", 0), steps);
    for (const Machine& machine : machines()) {
        auto found = model.run(make_cpu(machine), steps);
        const auto reduced = kernels::cpu::find_variant(machine.variant)->isa().reduced;
        EXPECT_LE(nmse(found, expected),
                  reduced_bound ? std::max(bound, reduced_bound(reduced)) : bound)
            << machine.variant << " with " << machine.threads << " threads";
    }
}

}  // namespace tandem::test
