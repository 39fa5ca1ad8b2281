// A fixture: a tiny model with the exact logits that it must give.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/engine.h"
#include "nmse.h"

namespace tandem::test {

struct Golden {
    std::filesystem::path model;
    std::vector<int32_t> tokens, greedy;
    std::vector<float> logits;         // [tokens vocab]
    std::vector<float> greedy_logits;  // [greedy vocab], empty for quantised files
    double own_nmse = 0;               // of the reference engine's own kernels; 0 for F32 files
};

// Reads `folder/name.{gguf,tokens.json,logits.f32,greedy.f32}`.
Golden read_golden(const std::filesystem::path& folder, const std::string& name);

// What a model gives under some mapping.
struct Evaluation {
    std::vector<float> logits;         // of all prompt positions
    std::vector<float> greedy_logits;  // one row per greedy step
    std::vector<int32_t> greedy;
};
// Evaluates the prompt in steps of `batch` tokens, then `steps` greedy tokens.
Evaluation evaluate(parallel::Executor& executor, const std::vector<int32_t>& prompt, int steps,
                    int64_t batch);
// The same on a model loaded for it.
Evaluation evaluate(const gguf::File& file, const cli::EngineOptions& options,
                    const std::vector<int32_t>& prompt, int steps, int64_t batch = 512);

}  // namespace tandem::test
