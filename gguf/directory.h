// The head of one GGUF file: what stands in front of the tensors' bytes, parsed and checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gguf/file.h"
#include "gguf/reader.h"
#include "gguf/split.h"

namespace tandem::gguf {

struct Directory {
    uint32_t version = 0;
    Metadata metadata;
    SplitKeys split;
    std::vector<TensorInfo> tensors;
    uint64_t data_start = 0;  // offset in the file; tensor offsets count from here
};

// `path` is for messages only.
Directory read_directory(std::span<const std::byte> bytes, const std::string& path,
                         Content content);

// The alignment of tensors that `metadata` asks for: a power of two. E_ALIGNMENT where it is none.
uint64_t read_alignment(const Metadata& metadata, const std::string& path);

// Quantized tensors may not be of a version that is not known yet. Only the first part of a split
// model says which it is.
void check_quantization_version(const Metadata& metadata, std::span<const TensorInfo> tensors,
                                const std::string& path);

// The tensor records, each one valid by itself.
std::vector<TensorInfo> read_tensors(Reader& reader, uint64_t count, uint64_t alignment);

// Tensors must not overlap and, with Content::Full, must lie within the file.
void check_layout(std::span<const TensorInfo> tensors, uint64_t data_start, uint64_t file_bytes,
                  const std::string& path, Content content);

}  // namespace tandem::gguf
