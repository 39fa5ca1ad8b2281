// Files made from others: some tensors or keys changed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "gguf/file.h"

namespace tandem::test {

struct Stored {
    gguf::TensorInfo info;
    std::vector<std::byte> bytes;
};

std::vector<Stored> read_all(const gguf::File& file);
// A file of those keys and tensors; gives `path`.
std::filesystem::path write(const std::filesystem::path& path, const gguf::Metadata& metadata,
                            const std::vector<Stored>& tensors);

}  // namespace tandem::test
