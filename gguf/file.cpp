#include "gguf/file.h"

#include <limits>
#include <system_error>

#include "gguf/directory.h"
#include "gguf/fault.h"
#include "gguf/mapping.h"
#include "gguf/split.h"

namespace tandem::gguf {

struct File::Part {
    Part(const std::filesystem::path& of, std::string name)
        : path(std::move(name)), mapping(of), bytes(mapping.bytes()) {}
    // Bytes that belong to someone else.
    Part(std::string name, std::span<const std::byte> borrowed)
        : path(std::move(name)), bytes(borrowed) {}

    std::string path;
    Mapping mapping;
    std::span<const std::byte> bytes;
    std::span<const std::byte> data;  // the tensors' bytes, Content::Full only
};

namespace {

// The names of all parts, from the name and the keys of one.
SplitName split_name(const std::filesystem::path& path, const SplitKeys& keys) {
    const auto name = read_split_name(path);
    if (name && name->part == keys.part && name->count == keys.count) return *name;
    throw fault(path.string(), "E_SPLIT",
                "this is part " + std::to_string(keys.part + 1) + " of " +
                    std::to_string(keys.count) +
                    " of a split model and must be named so: NAME-00001-of-0000N.gguf for the "
                    "first of N parts");
}

std::filesystem::path part_path(const SplitName& name, int part) {
    const std::filesystem::path path = name.path(part);
    std::error_code ignored;  // what cannot be looked at is as good as missing
    if (std::filesystem::exists(path, ignored)) return path;
    throw fault(path.string(), "E_SPLIT",
                "part " + std::to_string(part + 1) + " of " + std::to_string(name.count) +
                    " is missing; all parts of a split model belong in one folder");
}

void check_keys(const std::string& path, const SplitKeys& keys, const SplitName& expected) {
    if (keys.part == expected.part && keys.count == expected.count) return;
    const bool same_count = keys.count == expected.count;
    throw fault(path, "E_SPLIT",
                "this is part " + std::to_string(keys.part + 1) + " of " +
                    std::to_string(keys.count) + ", expected part " +
                    std::to_string(expected.part + 1) + " of " + std::to_string(expected.count) +
                    (same_count ? "; the file has another part's name"
                                : "; the parts are of different models"));
}

}  // namespace

File::File() = default;
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;
File::~File() = default;

File File::open(const std::filesystem::path& path, Content content, const std::string& name) {
    File file;
    file.path_ = name.empty() ? path.string() : name;
    Directory first = file.add_part(Part(path, file.path_), content);
    file.version_ = first.version;
    file.metadata_ = std::move(first.metadata);
    const SplitKeys keys = first.split;
    if (keys.count > 1) {
        const SplitName parts = split_name(path, keys);
        if (keys.part != 0) return open(part_path(parts, 0), content);
        file.add_later_parts(parts, keys, content);
    }
    check_quantization_version(file.metadata_, file.tensors_, file.path_);
    return file;
}

File File::parse(std::span<const std::byte> bytes, std::string name, Content content) {
    File file;
    file.path_ = name;
    Directory directory = file.add_part(Part(std::move(name), bytes), content);
    file.version_ = directory.version;
    file.metadata_ = std::move(directory.metadata);
    check_quantization_version(file.metadata_, file.tensors_, file.path_);
    return file;
}

void File::add_later_parts(const SplitName& name, const SplitKeys& keys, Content content) {
    for (int part = 1; part < name.count; part++) {
        const std::filesystem::path next = part_path(name, part);
        SplitName expected = name;
        expected.part = part;
        add_part(Part(next, next.string()), content, &expected);
    }
    if (keys.tensors && *keys.tensors != int64_t(tensors_.size())) {
        throw fault(path_, "E_SPLIT",
                    "the parts hold " + std::to_string(tensors_.size()) +
                        " tensors, the model has " + std::to_string(*keys.tensors));
    }
}

// Takes the directory's tensors; the rest is the caller's.
Directory File::add_part(Part part, Content content, const SplitName* expected) {
    Directory directory = read_directory(part.bytes, part.path, content);
    if (expected) check_keys(part.path, directory.split, *expected);
    for (TensorInfo& tensor : directory.tensors) {
        add_to_totals(tensor, part.path);
        tensor.part = int(parts_.size());
        const auto [entry, fresh] = index_.try_emplace(tensor.name, tensors_.size());
        if (!fresh) {
            const TensorInfo& other = tensors_[entry->second];
            throw fault(part.path, "E_DUPLICATE",
                        "tensor " + in_quotes(tensor.name) + " is also in " +
                            parts_[size_t(other.part)].path);
        }
        tensors_.push_back(std::move(tensor));
    }
    if (content == Content::Full && directory.data_start <= part.bytes.size()) {
        part.data = part.bytes.subspan(directory.data_start);
    }
    parts_.push_back(std::move(part));
    return directory;
}

// Sums over tensors need not be checked where they are made.
void File::add_to_totals(const TensorInfo& tensor, const std::string& path) {
    constexpr int64_t most = std::numeric_limits<int64_t>::max();
    if (tensor.elements() > most - elements_ || tensor.bytes() > most - bytes_) {
        throw fault(path, "E_DIMS",
                    "the tensors up to " + in_quotes(tensor.name) + " have more than " +
                        std::to_string(most) + " elements or bytes");
    }
    elements_ += tensor.elements();
    bytes_ += tensor.bytes();
}

const TensorInfo* File::find(std::string_view name) const {
    const auto entry = index_.find(std::string(name));
    return entry == index_.end() ? nullptr : &tensors_[entry->second];
}

std::span<const std::byte> File::data(const TensorInfo& tensor) const {
    const auto& data = parts_[size_t(tensor.part)].data;
    const auto bytes = size_t(tensor.bytes());
    check(bytes <= data.size() && tensor.offset <= data.size() - bytes,
          "a tensor's data is asked of the file that holds it, opened with Content::Full");
    return data.subspan(tensor.offset, bytes);
}

}  // namespace tandem::gguf
