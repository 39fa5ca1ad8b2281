#include "gguf/metadata.h"

#include <charconv>
#include <limits>

#include "gguf/fault.h"

namespace tandem::gguf {

namespace {

constexpr std::string_view type_names[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                           "bool", "string", "array", "u64", "i64", "f64"};

using Unsigned = std::vector<uint64_t>;
using Signed = std::vector<int64_t>;
using Reals = std::vector<double>;
using Texts = std::vector<std::string>;

std::optional<int64_t> integer_at(const MetadataValue& value, size_t i) {
    if (const auto* numbers = std::get_if<Signed>(&value.elements)) return (*numbers)[i];
    const auto* numbers = std::get_if<Unsigned>(&value.elements);
    if (!numbers || (*numbers)[i] > uint64_t(std::numeric_limits<int64_t>::max())) return {};
    return int64_t((*numbers)[i]);
}

std::optional<double> real_at(const MetadataValue& value, size_t i) {
    if (const auto* numbers = std::get_if<Reals>(&value.elements)) return (*numbers)[i];
    if (value.type == ValueType::Bool) return {};
    const auto whole = integer_at(value, i);
    constexpr int64_t exact = int64_t(1) << 53;
    if (!whole || *whole > exact || *whole < -exact) return {};
    return double(*whole);
}

template <class Number>
std::string shortest(Number number) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

std::string describe_element(const MetadataValue& value, size_t i) {
    if (const auto* texts = std::get_if<Texts>(&value.elements)) return in_quotes((*texts)[i]);
    if (const auto* reals = std::get_if<Reals>(&value.elements)) {
        const double real = (*reals)[i];
        return value.type == ValueType::F32 ? shortest(float(real)) : shortest(real);
    }
    if (const auto* numbers = std::get_if<Signed>(&value.elements)) return shortest((*numbers)[i]);
    const uint64_t number = std::get<Unsigned>(value.elements)[i];
    if (value.type == ValueType::Bool) return number != 0 ? "true" : "false";
    return shortest(number);
}

// The value of a scalar or of an array of one; nothing where it is not of this kind.
template <class Value>
std::optional<Value> single(const MetadataValue& value,
                            std::optional<Value> (*element)(const MetadataValue&, size_t)) {
    return value.size() == 1 ? element(value, 0) : std::nullopt;
}

template <class Value>
std::optional<std::vector<Value>> all(const MetadataValue& value,
                                      std::optional<Value> (*element)(const MetadataValue&,
                                                                      size_t)) {
    std::vector<Value> values(value.size());
    for (size_t i = 0; i < values.size(); i++) {
        const auto found = element(value, i);
        if (!found) return {};
        values[i] = *found;
    }
    return values;
}

}  // namespace

size_t MetadataValue::size() const {
    return std::visit([](const auto& values) { return values.size(); }, elements);
}

void Metadata::set(std::string key, MetadataValue value) {
    const auto [entry, fresh] = index_.try_emplace(key, entries_.size());
    if (fresh) {
        entries_.emplace_back(std::move(key), std::move(value));
    } else {
        entries_[entry->second].second = std::move(value);
    }
}

void Metadata::set_u32(std::string key, uint32_t value) {
    set(std::move(key), {.type = ValueType::U32, .elements = Unsigned{value}});
}

void Metadata::set_f32(std::string key, float value) {
    set(std::move(key), {.type = ValueType::F32, .elements = Reals{value}});
}

void Metadata::set_bool(std::string key, bool value) {
    set(std::move(key), {.type = ValueType::Bool, .elements = Unsigned{value}});
}

void Metadata::set_string(std::string key, std::string value) {
    set(std::move(key), {.type = ValueType::String, .elements = Texts{std::move(value)}});
}

const MetadataValue* Metadata::find(std::string_view key) const {
    const auto entry = index_.find(std::string(key));
    return entry == index_.end() ? nullptr : &entries_[entry->second].second;
}

void Metadata::unexpected(std::string_view key, const std::string& expected) const {
    const std::string text =
        "key " + in_quotes(key) + " holds " + describe(*find(key)) + ", expected " + expected;
    throw fault(origin_.empty() ? "metadata" : origin_, "E_METADATA", text);
}

std::optional<int64_t> Metadata::integer(std::string_view key) const {
    const auto* value = find(key);
    if (!value || value->size() == 0) return {};
    const auto number = single(*value, integer_at);
    if (!number || value->type == ValueType::Bool) unexpected(key, "an integer");
    return number;
}

std::optional<double> Metadata::real(std::string_view key) const {
    const auto* value = find(key);
    if (!value || value->size() == 0) return {};
    const auto number = single(*value, real_at);
    if (!number) unexpected(key, "a number");
    return number;
}

std::optional<bool> Metadata::boolean(std::string_view key) const {
    const auto* value = find(key);
    if (!value || value->size() == 0) return {};
    const auto number = single(*value, integer_at);
    if (!number || *number < 0 || *number > 1) unexpected(key, "a bool");
    return *number == 1;
}

std::optional<std::string> Metadata::text(std::string_view key) const {
    const auto* value = find(key);
    if (!value || value->size() == 0) return {};
    const auto* texts = std::get_if<Texts>(&value->elements);
    if (!texts || texts->size() != 1) unexpected(key, "a string");
    return texts->front();
}

std::vector<int64_t> Metadata::integers(std::string_view key) const {
    const auto* value = find(key);
    if (!value) return {};
    auto numbers = all(*value, integer_at);
    if (!numbers) unexpected(key, "integers");
    return std::move(*numbers);
}

std::vector<double> Metadata::reals(std::string_view key) const {
    const auto* value = find(key);
    if (!value) return {};
    auto numbers = all(*value, real_at);
    if (!numbers) unexpected(key, "numbers");
    return std::move(*numbers);
}

std::span<const std::string> Metadata::texts(std::string_view key) const {
    const auto* value = find(key);
    if (!value || value->size() == 0) return {};
    const auto* texts = std::get_if<Texts>(&value->elements);
    if (!texts) unexpected(key, "strings");
    return *texts;
}

std::string describe(const MetadataValue& value, size_t most_elements) {
    const std::string type(type_names[size_t(value.type)]);
    if (!value.array && value.size() == 1) return type + " " + describe_element(value, 0);
    std::string line = "array of " + std::to_string(value.size()) + " " + type + " [";
    for (size_t i = 0; i < value.size() && i < most_elements; i++) {
        line += (i == 0 ? "" : ", ") + describe_element(value, i);
    }
    if (value.size() > most_elements) line += most_elements == 0 ? "..." : ", ...";
    return line + "]";
}

}  // namespace tandem::gguf
