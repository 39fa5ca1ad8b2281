// Files with the metadata and the tensor directory of published checkpoints, and no weights.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tandem::test {

// "llama-8b-q4_k_m" and the like.
std::vector<std::string> checkpoint_names();
// False where there is none of that name.
bool write_checkpoint(const std::string& name, const std::filesystem::path& path);

}  // namespace tandem::test
