// Writes a GGUF file, version 3, little endian: the directory first, then the tensors' bytes in
// directory order, a tensor at a time, so that a file larger than memory can be made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "gguf/file.h"

namespace tandem::gguf {

class Writer {
  public:
    // Creates or replaces `path` and writes header, metadata and directory; offsets are assigned
    // here, packed at the alignment that the metadata asks for. The architecture comes first among
    // the keys. Throws Error when the file cannot be written or an entry breaks the format's rules;
    // it calls the file `name`, where that is not empty.
    Writer(const std::filesystem::path& path, const Metadata& metadata,
           std::vector<TensorInfo> tensors, const std::string& name = {});

    // Appends bytes to the current tensor; one tensor may take several calls. Moves on to the next
    // when the current one is complete.
    void write(std::span<const std::byte> bytes);
    // Closes the file. Throws if a tensor is incomplete; with `directory_only` no data is expected
    // at all, and the file is good for Content::Directory.
    void finish(bool directory_only = false);

  private:
    void append(std::span<const std::byte> bytes);
    void pad();
    void check_stream() const;
    std::string name_;
    std::ofstream out_;
    std::vector<TensorInfo> tensors_;
    uint64_t alignment_ = 0;
    size_t current_ = 0;
    int64_t written_ = 0;    // bytes of the current tensor
    uint64_t position_ = 0;  // bytes of the file
};

}  // namespace tandem::gguf
