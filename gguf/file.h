// A GGUF file (versions 2 and 3, little endian), mapped read-only: metadata, tensor directory,
// tensor bytes. A split model is opened by any of its parts and read as one file.
//
// Every count, length, offset and extent is checked before it is used, whatever the bytes are.
// Errors read `path: E_CATEGORY: what was read: value and allowed range (file offset 0x1c3a9)`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gguf/dtype.h"
#include "gguf/metadata.h"

namespace tandem::gguf {

struct TensorInfo {
    std::string name;
    DType dtype = DType::F32;
    int dims = 1;                                // 1 to 4 as stored
    std::array<int64_t, 4> extents{1, 1, 1, 1};  // fastest first: extents[0] is the row length
    uint64_t offset = 0;                         // from the start of its part's data section
    int part = 0;                                // file of a split model

    int64_t row_length() const { return extents[0]; }
    int64_t rows() const { return extents[1] * extents[2] * extents[3]; }
    int64_t elements() const { return rows() * row_length(); }
    int64_t bytes() const { return rows() * row_bytes(dtype, row_length()); }
};

struct Directory;  // of one part, directory.h
struct SplitName;  // of all parts, split.h
struct SplitKeys;

enum class Content {
    Full,      // every tensor's bytes must lie inside the file
    Directory  // metadata and directory only: the data section may be missing or short
};

class File {
  public:
    // Throws Error on anything wrong with the file, or with a part of a split model. The file is
    // called `name` where that is not empty; later parts have the names of their paths.
    static File open(const std::filesystem::path& path, Content content = Content::Full,
                     const std::string& name = {});
    // Parses one file that is already in memory, alone if it is a part of a split model; the bytes
    // must outlive the File.
    static File parse(std::span<const std::byte> bytes, std::string name,
                      Content content = Content::Full);

    File(File&&) noexcept;
    File& operator=(File&&) noexcept;
    ~File();

    const std::string& path() const { return path_; }  // of the first part, for messages
    uint32_t version() const { return version_; }
    const Metadata& metadata() const { return metadata_; }
    // For all who read it from now on: the file itself stays as it is.
    void override_key(std::string key, MetadataValue value) {
        metadata_.set(std::move(key), std::move(value));
    }
    std::span<const TensorInfo> tensors() const { return tensors_; }  // in file order
    const TensorInfo* find(std::string_view name) const;
    // The tensor's bytes in the mapping, rows one after another. Content::Full only.
    std::span<const std::byte> data(const TensorInfo& tensor) const;
    int64_t tensor_bytes() const { return bytes_; }  // sum over all tensors

  private:
    struct Part;
    File();
    Directory add_part(Part part, Content content, const SplitName* expected = nullptr);
    void add_later_parts(const SplitName& name, const SplitKeys& keys, Content content);
    void add_to_totals(const TensorInfo& tensor, const std::string& path);
    std::string path_;
    uint32_t version_ = 3;
    Metadata metadata_;
    std::vector<TensorInfo> tensors_;
    int64_t elements_ = 0, bytes_ = 0;  // of all tensors
    std::unordered_map<std::string, size_t> index_;
    std::vector<Part> parts_;
};

}  // namespace tandem::gguf
