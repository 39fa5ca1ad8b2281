#include "gguf/directory.h"

#include "gguf/fault.h"
#include "gguf/values.h"

namespace tandem::gguf {

namespace {

constexpr uint64_t default_alignment = 32;
constexpr uint64_t largest_alignment = uint64_t(1) << 20;
constexpr int64_t known_quantization_version = 2;

// The smallest records: an empty key, a type and a byte; an empty name, no extents, type, offset.
constexpr uint64_t least_entry_bytes = 8 + 4 + 1;
constexpr uint64_t least_tensor_bytes = 8 + 4 + 4 + 8;

void read_magic(Reader& reader) {
    const auto magic = reader.bytes(4, "magic");
    if (std::memcmp(magic.data(), "GGUF", 4) == 0) return;
    const std::string_view found(reinterpret_cast<const char*>(magic.data()), magic.size());
    reader.fail("E_MAGIC", "not a GGUF file: it begins with " + in_quotes(found));
}

uint32_t read_version(Reader& reader) {
    const auto version = reader.number<uint32_t>("version");
    if (version == 2 || version == 3) return version;
    if (version != 0 && (version & 0xffff) == 0) {
        reader.fail("E_ENDIAN",
                    "the file is big endian, only little endian is read; convert it again for "
                    "little endian");
    }
    std::string text = "the format version is " + std::to_string(version) + ", read are 2 and 3";
    if (version == 1) text += "; version 1 is obsolete, convert the model again";
    if (version > 3) text += "; the file is newer than this program";
    reader.fail("E_VERSION", text);
}

// Judged by the whole file, not by what is left of it, so that a file cut off within its first
// records is called truncated.
uint64_t read_count(Reader& reader, std::string_view what, uint64_t least_bytes) {
    const auto count = reader.number<uint64_t>("number of " + std::string(what));
    const uint64_t most = (reader.offset() + reader.left()) / least_bytes;
    if (count > most) {
        reader.fail("E_COUNT", "the number of " + std::string(what) + " is " +
                                   std::to_string(count) + ", the file has room for at most " +
                                   std::to_string(most));
    }
    return count;
}

std::string read_key(Reader& reader) {
    const auto key = reader.text("key");
    if (key.empty() || key.size() > 65535) {
        reader.fail("E_KEY", "the length of the key is " + std::to_string(key.size()) +
                                 ", allowed are 1 to 65535");
    }
    for (char byte : key) {
        if (is_control(byte)) {
            reader.fail("E_KEY", "the key " + in_quotes(key) + " has control characters");
        }
    }
    return std::string(key);
}

Metadata read_metadata(Reader& reader, uint64_t count) {
    Metadata metadata(reader.path());
    for (uint64_t i = 0; i < count; i++) {
        const std::string index = " (index " + std::to_string(i) + ")";
        reader.set_subject("metadata entry" + index);
        std::string key = read_key(reader);
        if (metadata.contains(key)) {
            reader.fail("E_DUPLICATE", "the key " + in_quotes(key) + " appears a second time");
        }
        reader.set_subject("key " + in_quotes(key) + index);
        metadata.set(std::move(key), read_value(reader));
    }
    reader.set_subject("");
    return metadata;
}

bool is_quantized(const TensorInfo& tensor) { return !is_plain(tensor.dtype); }

}  // namespace

void check_quantization_version(const Metadata& metadata, std::span<const TensorInfo> tensors,
                                const std::string& path) {
    const auto version = metadata.integer("general.quantization_version");
    if (!version || *version <= known_quantization_version) return;
    for (const TensorInfo& tensor : tensors) {
        if (!is_quantized(tensor)) continue;
        throw fault(path, "E_METADATA",
                    "the quantization version is " + std::to_string(*version) +
                        ", known are versions up to " + std::to_string(known_quantization_version) +
                        "; the file is newer than this program");
    }
}

uint64_t read_alignment(const Metadata& metadata, const std::string& path) {
    const MetadataValue* value = metadata.find("general.alignment");
    if (!value) return default_alignment;
    const bool right_type = value->type == ValueType::U32 && !value->array;
    const uint64_t alignment = right_type ? uint64_t(*metadata.integer("general.alignment")) : 0;
    if (!std::has_single_bit(alignment) || alignment > largest_alignment) {
        throw fault(path, "E_ALIGNMENT",
                    "key \"general.alignment\" holds " + describe(*value) +
                        ", allowed is a u32 that is a power of two up to " +
                        std::to_string(largest_alignment));
    }
    return alignment;
}

Directory read_directory(std::span<const std::byte> bytes, const std::string& path,
                         Content content) {
    Reader reader(bytes, path);
    Directory directory;
    read_magic(reader);
    directory.version = read_version(reader);
    const uint64_t tensor_count = read_count(reader, "tensors", least_tensor_bytes);
    const uint64_t entry_count = read_count(reader, "metadata entries", least_entry_bytes);
    directory.metadata = read_metadata(reader, entry_count);
    directory.split = read_split_keys(directory.metadata, path);
    const uint64_t alignment = read_alignment(directory.metadata, path);
    directory.tensors = read_tensors(reader, tensor_count, alignment);
    directory.data_start = (reader.offset() + alignment - 1) / alignment * alignment;
    check_layout(directory.tensors, directory.data_start, bytes.size(), path, content);
    return directory;
}

}  // namespace tandem::gguf
