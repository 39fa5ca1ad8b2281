// Filters of strings and numbers.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "gguf/error.h"
#include "model/jinja/access.h"
#include "model/jinja/filters.h"
#include "model/jinja/format.h"
#include "model/jinja/interpreter.h"
#include "model/jinja/letters.h"
#include "model/jinja/operators.h"
#include "model/jinja/print.h"
#include "model/jinja/text_functions.h"

namespace tandem::model::jinja {
namespace {

using Args = Arguments;

// What is no string is printed first, as Jinja does.
const String& text(Interpreter& interpreter, const Args& args) {
    if (const String* string = string_of(args[0])) return *string;
    return *interpreter.arena().string(printed(interpreter.arena(), args[0]));
}

template <Case wanted>
Value change_case(Interpreter& interpreter, const Args& args) {
    return in_case(interpreter.arena(), text(interpreter, args), wanted);
}

Value to_string(Interpreter& interpreter, const Args& args) { return &text(interpreter, args); }

Value trim(Interpreter& interpreter, const Args& args) {
    std::optional<std::string_view> set;
    if (args.has(1) && !is_none(args[1])) set = args.string(1).text.bytes();
    return stripped(interpreter.arena(), text(interpreter, args), set, true, true);
}

Value replace(Interpreter& interpreter, const Args& args) {
    return replaced(interpreter.arena(), text(interpreter, args), args.string(1), args.string(2),
                    args.integer_or(3, -1));
}

Value indent(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    const String* prefix = args.has(1) ? string_of(args[1]) : nullptr;
    if (!prefix) {
        const int64_t width = args.integer_or(1, 4);
        if (width > 1000) throw Error("lines are indented too far");
        prefix = arena.string(std::string(static_cast<size_t>(std::max<int64_t>(width, 0)), ' '));
    }
    return indented(arena, text(interpreter, args), *prefix, args.truth_or(2, false),
                    args.truth_or(3, false));
}

Value escape(Interpreter& interpreter, const Args& args) {
    return escaped(interpreter.arena(), text(interpreter, args));
}

Value format(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    const String& pattern = args.string(0);
    if (args.keywords.empty()) {
        const Values values(args.positional.begin() + 1, args.positional.end());
        return arena.string(formatted(arena, pattern, arena.tuple(values)));
    }
    if (args.positional.size() > 1) throw Error("format takes values with names or without");
    Dict* dict = arena.dict();
    for (const auto& [name, value] : args.keywords) arena.set(*dict, name, value);
    return arena.string(formatted(arena, pattern, dict));
}

// Runs of letters, digits and underscores.
Value word_count(Interpreter& interpreter, const Args& args) {
    std::string_view rest = text(interpreter, args).text.bytes();
    int64_t words = 0;
    bool within = false;
    while (!rest.empty()) {
        const Letter letter = front_letter(rest);
        const bool before = within;
        within = is_letter(letter.code) || is_decimal(letter.code) || letter.code == '_';
        words += within && !before ? 1 : 0;
        rest.remove_prefix(letter.bytes);
    }
    return words;
}

// At most so many characters, cut between words, with an ellipsis.
Value truncate(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    const String& string = text(interpreter, args);
    const int64_t length = args.integer_or(1, 255);
    const bool within_words = args.truth_or(2, false);
    const std::string_view end = args.string_or(3, "...");
    const int64_t leeway = args.integer_or(4, 5);
    const auto end_size = static_cast<int64_t>(count_characters(end));
    if (leeway < 0 || length < end_size || length > INT32_MAX || leeway > INT32_MAX)
        throw Error("truncate() takes a length that the end fits into");
    if (static_cast<int64_t>(string.characters) <= length + leeway) return &string;
    size_t bytes = byte_of(string, static_cast<size_t>(length - end_size));
    if (!within_words) {
        const size_t space = string.text.bytes().substr(0, bytes).rfind(' ');
        if (space != std::string::npos) bytes = space;
    }
    Text out;
    out.append(string.text, 0, bytes);
    out.append(end);
    return arena.string(std::move(out));
}

std::string_view trimmed(std::string_view text) {
    return without_back_white(without_front_white(text));
}

std::optional<double> read_double(std::string_view text) {
    text = trimmed(text);
    if (text.starts_with('+')) text.remove_prefix(1);
    double number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

std::optional<int64_t> read_integer(std::string_view text, int base) {
    std::string digits(trimmed(text));
    if (digits.starts_with('+')) digits.erase(0, 1);
    const size_t sign = digits.starts_with('-') ? 1 : 0;
    const std::string_view prefix = base == 16 ? "xX" : base == 8 ? "oO" : base == 2 ? "bB" : "";
    if (digits.size() > sign + 2 && digits[sign] == '0' &&
        prefix.find(digits[sign + 1]) != std::string_view::npos)
        digits.erase(sign, 2);
    int64_t number = 0;
    const auto [end, fault] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    if (fault == std::errc::result_out_of_range) throw Error("an integer needs more than 64 bits");
    if (fault != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return number;
}

std::optional<int64_t> truncated(double number) {
    if (!std::isfinite(number)) return std::nullopt;
    if (std::fabs(number) >= 0x1p63) throw Error("an integer needs more than 64 bits");
    return static_cast<int64_t>(number);
}

Value to_integer(Interpreter&, const Args& args) {
    const Value otherwise = args.has(1) ? args[1] : Value(int64_t{0});
    const int64_t base = args.integer_or(2, 10);
    if (base < 2 || base > 36) throw Error("int() takes a base from 2 to 36");
    std::optional<int64_t> number = as_integer(args[0]);
    std::optional<double> real;
    if (const auto* given = get<double>(args[0])) real = *given;
    if (const String* string = string_of(args[0])) {
        number = read_integer(string->text.bytes(), static_cast<int>(base));
        if (!number) real = read_double(string->text.bytes());
    }
    expect_defined(args[0]);
    if (!number && real) number = truncated(*real);
    return number ? Value(*number) : otherwise;
}

Value to_float(Interpreter&, const Args& args) {
    expect_defined(args[0]);
    if (is_number(args[0])) return as_double(args[0]);
    const String* string = string_of(args[0]);
    const std::optional<double> number = string ? read_double(string->text.bytes()) : std::nullopt;
    return number ? Value(*number) : args.has(1) ? args[1] : Value(0.0);
}

double number(const Value& value) {
    expect_defined(value);
    if (!is_number(value)) throw Error(std::string("a ") + type_name(value) + " is no number");
    return as_double(value);
}

// To digits behind the point, of the exact value; halves to even.
double rounded(double value, int digits) {
    if (digits >= 0) {
        std::array<char, 800> text;
        const auto [end, fault] = std::to_chars(text.data(), text.data() + text.size(), value,
                                                std::chars_format::fixed, digits);
        double result = value;
        if (fault == std::errc()) std::from_chars(text.data(), end, result);
        return result;
    }
    const double scale = std::pow(10.0, -digits);
    return std::nearbyint(value / scale) * scale;
}

Value round(Interpreter&, const Args& args) {
    const double value = number(args[0]);
    const int64_t digits = std::clamp<int64_t>(args.integer_or(1, 0), -300, 300);
    const std::string_view method = args.string_or(2, "common");
    if (method == "common") {
        if (as_integer(args[0]) && digits >= 0) return *as_integer(args[0]);
        return std::isfinite(value) ? rounded(value, static_cast<int>(digits)) : value;
    }
    if (method != "ceil" && method != "floor") throw Error("round() knows common, ceil and floor");
    const double scale = std::pow(10.0, static_cast<double>(digits));
    return (method == "ceil" ? std::ceil(value * scale) : std::floor(value * scale)) / scale;
}

Value absolute(Interpreter&, const Args& args) {
    const double value = number(args[0]);
    if (get<double>(args[0])) return std::fabs(value);
    return value < 0 ? negated(args[0]) : Value(*as_integer(args[0]));
}

JsonStyle json_style(const Args& args) {
    JsonStyle style;
    const String* text = args.has(1) ? string_of(args[1]) : nullptr;
    if (text) throw Error("tojson() takes a number of spaces for indent");
    const int64_t indent = args.integer_or(1, -1);
    if (indent > 100) throw Error("tojson() indents too far");
    style.indent = static_cast<int>(std::max<int64_t>(indent, -1));
    if (style.indent >= 0) style.between = ",";
    style.ascii = args.truth_or(2, false);
    style.sort_keys = args.truth_or(4, false);
    if (!args.has(3) || is_none(args[3])) return style;
    const List* separators = list_of(args[3]);
    if (!separators || separators->items.size() != 2 || !string_of(separators->items[0]) ||
        !string_of(separators->items[1]))
        throw Error("tojson() takes two separators");
    style.between = string_of(separators->items[0])->text.bytes();
    style.after_key = string_of(separators->items[1])->text.bytes();
    return style;
}

Value to_json(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    return arena.string(json(arena, args[0], json_style(args)).text());
}

Value from_json(Interpreter& interpreter, const Args& args) {
    return parse_json(interpreter.arena(), args.string(0));
}

constexpr Builtin filters[] = {
    {"abs", absolute, "x"},
    {"capitalize", change_case<Case::Capitalize>, "s"},
    {"e", escape, "s"},
    {"escape", escape, "s"},
    {"float", to_float, "value ? default"},
    {"forceescape", escape, "s"},
    {"format", format, "*"},
    {"from_json", from_json, "value"},
    {"fromjson", from_json, "value"},
    {"indent", indent, "s ? width first blank"},
    {"int", to_integer, "value ? default base"},
    {"lower", change_case<Case::Lower>, "s"},
    {"replace", replace, "s old new ? count"},
    {"round", round, "value ? precision method"},
    {"safe", to_string, "value"},
    {"string", to_string, "value"},
    {"title", change_case<Case::Words>, "s"},
    {"tojson", to_json, "value ? indent ensure_ascii separators sort_keys"},
    {"trim", trim, "value ? chars"},
    {"truncate", truncate, "s ? length killwords end leeway"},
    {"upper", change_case<Case::Upper>, "s"},
    {"wordcount", word_count, "s"},
};

}  // namespace

Table text_filters() { return filters; }

}  // namespace tandem::model::jinja
