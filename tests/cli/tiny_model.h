// A llama model of 2 layers with made-up weights, which writes nonsense: enough to drive the
// program where no trained model is at hand.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "gguf/metadata.h"

namespace tandem::test {

// Written once per process; 286 tokens (3 special, 256 bytes, space, a to z), a context of 64.
const std::filesystem::path& tiny_model();

// Another such model, in a file of that name in the same folder.
struct TinyChange {
    int64_t tokens = 286;  // that it has logits for: the first of those of its tokenizer
    std::function<void(gguf::Metadata&)> keys = {};
    float scale = 1;  // of its logits
};
std::filesystem::path changed_tiny_model(const std::string& name, const TinyChange& change);

// The folder, which goes with the process.
const std::filesystem::path& own_folder();
// A file of those bytes there; and the bytes of a file.
std::filesystem::path write_file(const std::string& name, const std::string& bytes);
std::string read_file(const std::filesystem::path& path);

// Options by which such devices have 1 GiB free each, on machines of any size.
std::vector<std::string> with_little_memory(const std::vector<std::string>& devices);

}  // namespace tandem::test
