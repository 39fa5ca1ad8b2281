// The file names of split models: `model-00002-of-00003.gguf`, parts counted from 1.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "gguf/metadata.h"

namespace tandem::gguf {

struct SplitName {
    std::filesystem::path folder;
    std::string prefix;  // "model"
    int part = 0;        // counted from 0, as in the metadata
    int count = 1;

    std::filesystem::path path(int of_part) const;
};

// Nothing where the file's name does not have that form.
std::optional<SplitName> read_split_name(const std::filesystem::path& path);

// What the keys split.* of one part say. A model that is not split is one part.
struct SplitKeys {
    int part = 0;
    int count = 1;
    std::optional<int64_t> tensors;  // over all parts
};
// `path` is for messages only.
SplitKeys read_split_keys(const Metadata& metadata, const std::string& path);

}  // namespace tandem::gguf
