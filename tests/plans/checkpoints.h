// Files with the metadata and the tensor directory of published checkpoints, and no weights.
#pragma once

#include <filesystem>

namespace tandem::test {

// Meta-Llama-3.1-8B at Q4_K_M.
void write_llama_8b(const std::filesystem::path& path);
// Qwen3-30B-A3B at Q4_K_M.
void write_qwen3_30b_a3b(const std::filesystem::path& path);

}  // namespace tandem::test
