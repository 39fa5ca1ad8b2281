// The key/value section of a GGUF file, in file order, with typed access that converts where no
// information is lost (any integer width, f32 or f64, a scalar for a one-element array).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace tandem::gguf {

// The value types of the format; the values are the ids stored in files.
enum class ValueType : uint32_t {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    String,
    Array,
    U64,
    I64,
    F64
};

// One value. Scalars keep their stored type; integers are widened to 64 bits.
struct MetadataValue {
    ValueType type = ValueType::U32;  // of a scalar, or of the elements of an array
    bool array = false;
    std::variant<std::vector<uint64_t>,     // unsigned integers and bools
                 std::vector<int64_t>,      // signed integers
                 std::vector<double>,       // F32 and F64
                 std::vector<std::string>>  // strings
        elements;                           // one element for a scalar
    size_t size() const;
};

class Metadata {
  public:
    Metadata() = default;
    // `origin` is where the entries come from, for messages: a path.
    explicit Metadata(std::string origin) : origin_(std::move(origin)) {}

    void set(std::string key, MetadataValue value);  // replaces an earlier value
    // Shorthands for writers.
    void set_u32(std::string key, uint32_t value);
    void set_f32(std::string key, float value);
    void set_bool(std::string key, bool value);
    void set_string(std::string key, std::string value);

    const MetadataValue* find(std::string_view key) const;
    bool contains(std::string_view key) const { return find(key) != nullptr; }
    std::span<const std::pair<std::string, MetadataValue>> entries() const { return entries_; }

    // Absent: nullopt; so is an empty array, which some writers drop. Present with another kind of
    // value, or one that does not fit: Error that names the key, what it holds and what was
    // expected. A bool is no integer, but 0 and 1 are bools.
    std::optional<int64_t> integer(std::string_view key) const;
    std::optional<double> real(std::string_view key) const;
    std::optional<bool> boolean(std::string_view key) const;
    std::optional<std::string> text(std::string_view key) const;
    // Arrays; a scalar reads as one element. Absent: empty.
    std::vector<int64_t> integers(std::string_view key) const;  // bools read as 0 and 1
    std::vector<double> reals(std::string_view key) const;
    // The strings of an array where they lie; empty when absent.
    std::span<const std::string> texts(std::string_view key) const;

  private:
    [[noreturn]] void unexpected(std::string_view key, const std::string& expected) const;
    std::string origin_;
    std::vector<std::pair<std::string, MetadataValue>> entries_;
    std::unordered_map<std::string, size_t> index_;
};

// "u32 4096", "string \"llama\"", "array of 3 f32 [1, 2, 3, ...]": for messages and listings.
std::string describe(const MetadataValue& value, size_t most_elements = 8);

}  // namespace tandem::gguf
