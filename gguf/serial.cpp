#include "gguf/serial.h"

#include <algorithm>
#include <limits>

#include "gguf/fault.h"

namespace tandem::gguf {

namespace {

constexpr uint32_t version = 3;
constexpr std::string_view architecture_key = "general.architecture";

class Bytes {
  public:
    template <class Number>
    void number(Number value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void text(std::string_view text) {
        number(uint64_t(text.size()));
        bytes_ += text;
    }
    void letters(std::string_view text) { bytes_ += text; }
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

// Narrows numbers to the type they are stored in; false where one does not fit.
template <class Stored, class Kept>
bool put_numbers(Bytes& bytes, const std::vector<Kept>& numbers) {
    for (Kept number : numbers) {
        if constexpr (!std::is_floating_point_v<Kept>) {
            if (!std::in_range<Stored>(number)) return false;
        }
        bytes.number(Stored(number));
    }
    return true;
}

// False where the elements are not of the type, or do not fit it.
bool put_elements(Bytes& bytes, const MetadataValue& value) {
    const auto* unsigneds = std::get_if<std::vector<uint64_t>>(&value.elements);
    const auto* signeds = std::get_if<std::vector<int64_t>>(&value.elements);
    const auto* reals = std::get_if<std::vector<double>>(&value.elements);
    const auto* texts = std::get_if<std::vector<std::string>>(&value.elements);
    switch (value.type) {
        case ValueType::U8:
            return unsigneds && put_numbers<uint8_t>(bytes, *unsigneds);
        case ValueType::U16:
            return unsigneds && put_numbers<uint16_t>(bytes, *unsigneds);
        case ValueType::U32:
            return unsigneds && put_numbers<uint32_t>(bytes, *unsigneds);
        case ValueType::U64:
            return unsigneds && put_numbers<uint64_t>(bytes, *unsigneds);
        case ValueType::Bool:
            return unsigneds && std::ranges::all_of(*unsigneds, [](auto b) { return b <= 1; }) &&
                   put_numbers<uint8_t>(bytes, *unsigneds);
        case ValueType::I8:
            return signeds && put_numbers<int8_t>(bytes, *signeds);
        case ValueType::I16:
            return signeds && put_numbers<int16_t>(bytes, *signeds);
        case ValueType::I32:
            return signeds && put_numbers<int32_t>(bytes, *signeds);
        case ValueType::I64:
            return signeds && put_numbers<int64_t>(bytes, *signeds);
        case ValueType::F32:
            return reals && put_numbers<float>(bytes, *reals);
        case ValueType::F64:
            return reals && put_numbers<double>(bytes, *reals);
        case ValueType::String:
            if (texts) std::ranges::for_each(*texts, [&](const auto& text) { bytes.text(text); });
            return texts != nullptr;
        case ValueType::Array:
            return false;
    }
    return false;
}

void put_entry(Bytes& bytes, const std::string& key, const MetadataValue& value,
               const std::string& path) {
    bytes.text(key);
    if (value.array) {
        bytes.number(uint32_t(ValueType::Array));
        bytes.number(uint32_t(value.type));
        bytes.number(uint64_t(value.size()));
    } else {
        bytes.number(uint32_t(value.type));
    }
    if ((!value.array && value.size() != 1) || !put_elements(bytes, value)) {
        throw fault(path, "E_VALUE",
                    "key " + in_quotes(key) + ": " + describe(value) + " does not fit its type");
    }
}

// Trailing extents of 1 are left out, as most writers do.
uint32_t needed_dims(const TensorInfo& tensor) {
    uint32_t dims = 4;
    while (dims > 1 && tensor.extents[dims - 1] == 1) dims--;
    return dims;
}

void put_tensor(Bytes& bytes, const TensorInfo& tensor) {
    bytes.text(tensor.name);
    const uint32_t dims = needed_dims(tensor);
    bytes.number(dims);
    for (uint32_t i = 0; i < dims; i++) bytes.number(uint64_t(tensor.extents[i]));
    bytes.number(uint32_t(tensor.dtype));
    bytes.number(tensor.offset);
}

}  // namespace

std::string serialize(const Metadata& metadata, std::span<const TensorInfo> tensors,
                      const std::string& path) {
    Bytes bytes;
    bytes.letters("GGUF");
    bytes.number(version);
    bytes.number(uint64_t(tensors.size()));
    bytes.number(uint64_t(metadata.entries().size()));
    const MetadataValue* architecture = metadata.find(architecture_key);
    if (architecture) put_entry(bytes, std::string(architecture_key), *architecture, path);
    for (const auto& [key, value] : metadata.entries()) {
        if (key != architecture_key) put_entry(bytes, key, value, path);
    }
    for (const TensorInfo& tensor : tensors) put_tensor(bytes, tensor);
    return bytes.take();
}

}  // namespace tandem::gguf
