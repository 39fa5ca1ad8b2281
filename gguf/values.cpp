#include "gguf/values.h"

#include <algorithm>

namespace tandem::gguf {

namespace {

// `count` numbers as they are stored, widened.
template <class Stored, class Kept>
std::vector<Kept> read_numbers(Reader& reader, uint64_t count) {
    const auto bytes = reader.bytes(count * sizeof(Stored), "value");
    std::vector<Stored> stored(count);
    std::ranges::copy(bytes, std::as_writable_bytes(std::span(stored)).begin());
    return {stored.begin(), stored.end()};
}

std::vector<uint64_t> read_bools(Reader& reader, uint64_t count) {
    auto bools = read_numbers<uint8_t, uint64_t>(reader, count);
    for (uint64_t value : bools) {
        if (value > 1) {
            reader.fail("E_VALUE",
                        "a bool is stored as " + std::to_string(value) + ", allowed are 0 and 1");
        }
    }
    return bools;
}

std::vector<std::string> read_texts(Reader& reader, uint64_t count) {
    std::vector<std::string> texts;
    texts.reserve(count);  // the caller has seen 8 bytes for each
    for (uint64_t i = 0; i < count; i++) texts.emplace_back(reader.text("value"));
    return texts;
}

ValueType read_type(Reader& reader, std::string_view name) {
    const auto type = reader.number<uint32_t>(name);
    if (type > uint32_t(ValueType::F64)) {
        reader.fail("E_TYPE", "the " + std::string(name) + " is " + std::to_string(type) +
                                  ", allowed are 0 to 12");
    }
    return ValueType(type);
}

uint64_t read_count(Reader& reader, ValueType type) {
    const auto count = reader.number<uint64_t>("array length");
    if (count > longest) {
        reader.fail("E_LENGTH", "the array length is " + std::to_string(count) + ", the most is " +
                                    std::to_string(longest));
    }
    const uint64_t needed = count * 8;
    if (type == ValueType::String && needed > reader.left()) {
        reader.fail("E_TRUNCATED", "an array of " + std::to_string(count) +
                                       " strings takes at least " + std::to_string(needed) +
                                       " bytes, the file has " + std::to_string(reader.left()) +
                                       " left; if it is a download, it is incomplete");
    }
    return count;
}

}  // namespace

MetadataValue read_value(Reader& reader) {
    MetadataValue value;
    value.type = read_type(reader, "value type");
    uint64_t count = 1;
    if (value.type == ValueType::Array) {
        value.array = true;
        value.type = read_type(reader, "element type");
        if (value.type == ValueType::Array) {
            reader.fail("E_TYPE", "arrays of arrays are not supported");
        }
        count = read_count(reader, value.type);
    }
    switch (value.type) {
        case ValueType::U8:
            value.elements = read_numbers<uint8_t, uint64_t>(reader, count);
            break;
        case ValueType::U16:
            value.elements = read_numbers<uint16_t, uint64_t>(reader, count);
            break;
        case ValueType::U32:
            value.elements = read_numbers<uint32_t, uint64_t>(reader, count);
            break;
        case ValueType::U64:
            value.elements = read_numbers<uint64_t, uint64_t>(reader, count);
            break;
        case ValueType::I8:
            value.elements = read_numbers<int8_t, int64_t>(reader, count);
            break;
        case ValueType::I16:
            value.elements = read_numbers<int16_t, int64_t>(reader, count);
            break;
        case ValueType::I32:
            value.elements = read_numbers<int32_t, int64_t>(reader, count);
            break;
        case ValueType::I64:
            value.elements = read_numbers<int64_t, int64_t>(reader, count);
            break;
        case ValueType::F32:
            value.elements = read_numbers<float, double>(reader, count);
            break;
        case ValueType::F64:
            value.elements = read_numbers<double, double>(reader, count);
            break;
        case ValueType::Bool:
            value.elements = read_bools(reader, count);
            break;
        case ValueType::String:
            value.elements = read_texts(reader, count);
            break;
        case ValueType::Array:
            break;
    }
    return value;
}

}  // namespace tandem::gguf
