#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "gguf/error.h"
#include "model/jinja/letters.h"
#include "model/jinja/print.h"

namespace tandem::model::jinja {
namespace {

constexpr int deepest = 100;

std::string unit_escape(unsigned unit) {
    std::array<char, 16> text;
    std::snprintf(text.data(), text.size(), "\\u%04x", unit);
    return text.data();
}

std::string escaped(char32_t code) {
    if (code < 0x10000) return unit_escape(code);
    return unit_escape(0xD800 + ((code - 0x10000) >> 10)) +
           unit_escape(0xDC00 + ((code - 0x10000) & 0x3FF));
}

class JsonWriter {
  public:
    JsonWriter(Arena& arena, const JsonStyle& style) : arena_(arena), style_(style) {}

    Written written() && { return std::move(out_); }

    void add(const Value& value) {
        if (depth_ > deepest) throw Error("what is written as JSON is nested too deeply");
        arena_.spend(1);
        if (const String* string = string_of(value))
            add(*string);
        else if (const List* list = list_of(value); list && list->form <= List::Form::Tuple)
            add(*list);
        else if (const Dict* dict = dict_of(value))
            add(*dict);
        else
            out_.bytes += scalar(value);
    }

  private:
    void add(const String& string);
    void add(const List& list);
    void add(const Dict& dict);
    void add_key(const Value& key);
    static std::string scalar(const Value& value);

    // Before an element, and before the bracket that closes.
    void begin_line() {
        if (style_.indent < 0) return;
        arena_.hold(static_cast<size_t>(depth_ * style_.indent));
        out_.bytes += '\n';
        out_.bytes.append(static_cast<size_t>(depth_ * style_.indent), ' ');
    }
    void separate(bool first) {
        if (!first) out_.bytes += style_.between;
        begin_line();
    }

    Arena& arena_;
    const JsonStyle& style_;
    Written out_;
    int depth_ = 0;
};

void JsonWriter::add(const String& string) {
    constexpr std::string_view plain = "\"\\\n\r\t\b\f";
    constexpr std::string_view letters = "\"\\nrtbf";
    arena_.hold(string.text.size());
    arena_.spend_on(&string);
    out_.given |= string.text.any_given();
    out_.bytes += '"';
    std::string_view text = string.text.bytes();
    while (!text.empty()) {
        const Letter letter = front_letter(text);
        const size_t at =
            letter.code < 0x80 ? plain.find(static_cast<char>(letter.code)) : plain.npos;
        if (at != plain.npos)
            out_.bytes.append({'\\', letters[at]});
        else if (letter.code < 0x20 || (style_.ascii && letter.code > 0x7F))
            out_.bytes += escaped(letter.code);
        else
            out_.bytes += text.substr(0, letter.bytes);
        text.remove_prefix(letter.bytes);
    }
    out_.bytes += '"';
}

void JsonWriter::add(const List& list) {
    out_.bytes += '[';
    ++depth_;
    for (size_t at = 0; at < list.items.size(); ++at) {
        separate(at == 0);
        add(list.items[at]);
    }
    --depth_;
    if (!list.items.empty()) begin_line();
    out_.bytes += ']';
}

void JsonWriter::add(const Dict& dict) {
    std::vector<Dict::Entry> entries = dict.entries();
    arena_.spend(entries.size());
    if (style_.sort_keys)
        std::stable_sort(entries.begin(), entries.end(), [](const auto& left, const auto& right) {
            return Dict::Less()(left.first, right.first);
        });
    out_.bytes += '{';
    ++depth_;
    for (size_t at = 0; at < entries.size(); ++at) {
        separate(at == 0);
        add_key(entries[at].first);
        out_.bytes += style_.after_key;
        add(entries[at].second);
    }
    --depth_;
    if (!entries.empty()) begin_line();
    out_.bytes += '}';
}

void JsonWriter::add_key(const Value& key) {
    if (const String* string = string_of(key)) return add(*string);
    out_.bytes += '"' + scalar(key) + '"';
}

std::string JsonWriter::scalar(const Value& value) {
    if (const auto* boolean = get<bool>(value)) return *boolean ? "true" : "false";
    if (const auto* integer = get<int64_t>(value)) return std::to_string(*integer);
    if (is_none(value)) return "null";
    const auto* number = get<double>(value);
    if (!number) {
        expect_defined(value);
        throw Error(std::string("a ") + type_name(value) + " cannot be written as JSON");
    }
    if (std::isnan(*number)) return "NaN";
    if (std::isinf(*number)) return *number < 0 ? "-Infinity" : "Infinity";
    return number_text(*number);
}

// Receives the parts of a JSON text, in order.
class JsonReader {
  public:
    JsonReader(Arena& arena, bool given) : arena_(arena), given_(given) {}

    const Value& result() const { return result_; }

    bool null() { return add(None{}); }
    bool boolean(bool value) { return add(value); }
    bool number_integer(int64_t value) { return add(value); }
    bool number_unsigned(uint64_t value) {
        if (value > INT64_MAX) throw Error("a number in JSON needs more than 64 bits");
        return add(static_cast<int64_t>(value));
    }
    bool number_float(double value, const std::string&) { return add(value); }
    bool string(std::string& value) { return add(arena_.string(value, given_)); }
    bool binary(nlohmann::json::binary_t&) { return false; }
    bool start_object(size_t) { return open(arena_.dict()); }
    bool start_array(size_t) { return open(arena_.list({})); }
    bool key(std::string& name) {
        keys_.back() = arena_.string(name);
        return true;
    }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool parse_error(size_t, const std::string&, const nlohmann::json::exception& fault) {
        throw Error(std::string("not JSON: ") + fault.what());
    }

  private:
    bool add(const Value& value) {
        arena_.spend(1);
        if (open_.empty())
            result_ = value;
        else if (List* list = list_of(open_.back()))
            arena_.append(*list, value);
        else
            arena_.set(*dict_of(open_.back()), keys_.back(), value);
        return true;
    }
    bool open(const Value& container) {
        if (open_.size() > deepest) throw Error("the JSON is nested too deeply");
        add(container);
        open_.push_back(container);
        keys_.push_back(nullptr);
        return true;
    }
    bool close() {
        open_.pop_back();
        keys_.pop_back();
        return true;
    }

    Arena& arena_;
    bool given_;
    Value result_ = None{};
    Values open_;
    std::vector<const String*> keys_;
};

}  // namespace

Written json(Arena& arena, const Value& value, const JsonStyle& style) {
    JsonWriter writer(arena, style);
    writer.add(value);
    return std::move(writer).written();
}

Value parse_json(Arena& arena, const String& text) {
    JsonReader reader(arena, text.text.any_given());
    nlohmann::json::sax_parse(text.text.bytes(), &reader);
    return reader.result();
}

}  // namespace tandem::model::jinja
