#include "model/jinja/format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>

#include "gguf/error.h"
#include "model/jinja/interpreter.h"
#include "model/jinja/operators.h"
#include "model/jinja/print.h"

namespace tandem::model::jinja {
namespace {

constexpr int64_t widest = 10'000;  // columns
constexpr int most_digits = 100;    // behind the point

// What stands between % and its letter, or behind the colon of a field.
struct Layout {
    char fill = ' ';
    char align = '\0';  // < > ^ =
    char sign = '-';    // + and space: positive numbers have one, too
    bool alternate = false;
    bool thousands = false;
    int64_t width = 0;
    int64_t precision = -1;
    char type = '\0';
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int64_t take_count(std::string_view& text) {
    int64_t count = 0;
    for (; !text.empty() && is_digit(text[0]); text.remove_prefix(1)) {
        count = count * 10 + (text[0] - '0');
        if (count > widest) throw Error("a format is too wide");
    }
    return count;
}

char take(std::string_view& text) {
    if (text.empty()) throw Error("a format is cut short");
    const char c = text[0];
    text.remove_prefix(1);
    return c;
}

Text padded(Text text, const Layout& layout, char align) {
    const size_t characters = count_characters(text.bytes());
    const auto width = static_cast<size_t>(layout.width);
    if (characters >= width) return text;
    const size_t missing = width - characters;
    const size_t before = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
    Text out;
    out.append(std::string(before, layout.fill));
    out.append(text);
    out.append(std::string(missing - before, layout.fill));
    return out;
}

std::string with_thousands(std::string digits) {
    const size_t end = std::min(digits.find('.'), digits.size());
    for (size_t at = end; at > 3; at -= 3) digits.insert(at - 3, ",");
    return digits;
}

std::string digits_of(double number, const Layout& layout) {
    const int precision = layout.precision < 0 ? 6 : static_cast<int>(layout.precision);
    if (precision > most_digits) throw Error("a format has too many digits");
    const char pattern[] = {'%', '.', '*', layout.type == '%' ? 'f' : layout.type, '\0'};
    std::array<char, 512> text;
    const int size = std::snprintf(text.data(), text.size(), pattern, precision,
                                   layout.type == '%' ? number * 100 : number);
    std::string digits(text.data(), std::min<size_t>(static_cast<size_t>(size), text.size() - 1));
    return layout.type == '%' ? digits + "%" : digits;
}

std::string digits_of(uint64_t number, const Layout& layout) {
    const int base = layout.type == 'x' || layout.type == 'X' ? 16
                     : layout.type == 'o'                     ? 8
                     : layout.type == 'b'                     ? 2
                                                              : 10;
    std::array<char, 72> text;
    const char* end = std::to_chars(text.data(), text.data() + text.size(), number, base).ptr;
    std::string digits(text.data(), static_cast<size_t>(end - text.data()));
    if (layout.type == 'X')
        for (char& c : digits) c = static_cast<char>(c >= 'a' ? c - 32 : c);
    if (layout.precision > static_cast<int64_t>(digits.size()))
        digits.insert(0, static_cast<size_t>(layout.precision) - digits.size(), '0');
    if (layout.alternate && base != 10) digits.insert(0, std::string{'0', layout.type});
    return digits;
}

Text number_laid_out(const Value& value, const Layout& layout) {
    const bool real_type = std::string_view("eEfFgG%").find(layout.type) != std::string_view::npos;
    std::string digits;
    bool negative = false;
    if (real_type) {
        const double number = as_double(value);
        negative = std::signbit(number);
        digits = digits_of(std::fabs(number), layout);
    } else {
        const auto* real = get<double>(value);
        if (real && (!std::isfinite(*real) || std::fabs(*real) >= 0x1p63))
            throw Error("a number is too large for the format");
        const int64_t number = real ? static_cast<int64_t>(*real) : as_integer(value).value_or(0);
        negative = number < 0;
        digits = digits_of(
            negative ? -static_cast<uint64_t>(number) : static_cast<uint64_t>(number), layout);
    }
    if (layout.thousands) digits = with_thousands(std::move(digits));
    const std::string sign = negative ? "-" : layout.sign == '-' ? "" : std::string(1, layout.sign);
    if (layout.align == '=') {
        const size_t used = sign.size() + digits.size();
        if (used < static_cast<size_t>(layout.width))
            digits.insert(0, static_cast<size_t>(layout.width) - used, layout.fill);
    }
    return padded(Text(sign + digits), layout, layout.align ? layout.align : '>');
}

// The first characters of a text.
Text cut(const Text& text, int64_t characters) {
    std::string_view rest = text.bytes();
    for (; characters > 0 && !rest.empty(); --characters) {
        size_t size = 1;
        while (size < rest.size() && (rest[size] & 0xC0) == 0x80) ++size;
        rest.remove_prefix(size);
    }
    Text out;
    out.append(text, 0, text.size() - rest.size());
    return out;
}

Text text_laid_out(Text text, const Layout& layout, char align) {
    if (layout.precision >= 0) text = cut(text, layout.precision);
    return padded(std::move(text), layout, layout.align ? layout.align : align);
}

// "%(name)-5.2f": takes what stands behind the name, up to and with the letter.
Layout take_percent_layout(std::string_view& rest, const auto& star) {
    Layout layout;
    for (; !rest.empty() && std::string_view("-+ 0#").find(rest[0]) != std::string_view::npos;
         rest.remove_prefix(1)) {
        if (rest[0] == '-') layout.align = '<';
        if (rest[0] == '+' || (rest[0] == ' ' && layout.sign != '+')) layout.sign = rest[0];
        if (rest[0] == '#') layout.alternate = true;
        if (rest[0] == '0') layout.fill = '0';
    }
    if (layout.fill == '0' && layout.align != '<') layout.align = '=';
    if (layout.align == '<') layout.fill = ' ';
    const auto take_width = [&] {
        if (!rest.starts_with('*')) return take_count(rest);
        rest.remove_prefix(1);
        return star();
    };
    layout.width = take_width();
    if (rest.starts_with('.')) {
        rest.remove_prefix(1);
        layout.precision = take_width();
    }
    layout.type = take(rest);
    return layout;
}

class PercentFormat {
  public:
    PercentFormat(Arena& arena, const String& format, const Value& operand)
        : arena_(arena), format_(format), operand_(operand) {
        const List* list = list_of(operand);
        if (list && list->form == List::Form::Tuple)
            values_ = list->items;
        else
            values_ = {operand};
    }

    Text text() {
        const std::string_view all = format_.text.bytes();
        size_t at = 0;
        while (at < all.size()) {
            const size_t plain = std::min(all.find('%', at), all.size());
            out_.append(format_.text, at, plain);
            if (plain == all.size()) break;
            std::string_view rest = all.substr(plain + 1);
            insert(rest);
            at = all.size() - rest.size();
        }
        if (used_ < values_.size() && !dict_of(operand_) && !list_of(operand_))
            throw Error("not all values are used by the format");
        if (const List* list = list_of(operand_);
            list && list->form == List::Form::Tuple && used_ < values_.size())
            throw Error("not all values are used by the format");
        return std::move(out_);
    }

  private:
    const Value& next() {
        if (used_ == values_.size()) throw Error("there are too few values for the format");
        return values_[used_++];
    }

    Value named(std::string_view& rest) {
        const size_t end = rest.find(')');
        const Dict* dict = dict_of(operand_);
        if (end == std::string_view::npos || !dict) throw Error("the format wants a dict");
        const Value* value = dict->find(arena_.string(rest.substr(1, end - 1)));
        if (!value) throw Error("the format names a key that is not there");
        rest.remove_prefix(end + 1);
        return *value;
    }

    void insert(std::string_view& rest) {
        arena_.spend(1);
        std::optional<Value> value;
        if (rest.starts_with('(')) value = named(rest);
        const auto star = [&] {
            const auto width = as_integer(next());
            if (!width || *width < 0 || *width > widest) throw Error("a format is too wide");
            return *width;
        };
        const Layout layout = take_percent_layout(rest, star);
        if (layout.type == '%') return out_.append("%");
        if (!value) value = next();
        arena_.hold(static_cast<size_t>(layout.width));
        out_.append(laid_out(*value, layout));
    }

    Text laid_out(const Value& value, const Layout& layout) const {
        if (layout.type == 's') return text_laid_out(printed(arena_, value), layout, '>');
        if (layout.type == 'r' || layout.type == 'a')
            return text_laid_out(repr(arena_, value).text(), layout, '>');
        if (std::string_view("diueEfFgGxXo").find(layout.type) == std::string_view::npos)
            throw Error(std::string("unknown format %") + layout.type);
        if (!is_number(value))
            throw Error(std::string("the format wants a number, got ") + type_name(value));
        return number_laid_out(value, layout);
    }

    Arena& arena_;
    const String& format_;
    const Value& operand_;
    Values values_;
    size_t used_ = 0;
    Text out_;
};

Layout field_layout(std::string_view spec) {
    Layout layout;
    constexpr std::string_view aligns = "<>^=";
    const auto is_align = [&](size_t at) {
        return at < spec.size() && aligns.find(spec[at]) != std::string_view::npos;
    };
    if (is_align(1)) {
        layout.fill = take(spec);
        layout.align = take(spec);
    } else if (is_align(0)) {
        layout.align = take(spec);
    }
    if (!spec.empty() && (spec[0] == '+' || spec[0] == ' ' || spec[0] == '-'))
        layout.sign = take(spec);
    if (spec.starts_with('#')) layout.alternate = take(spec) == '#';
    if (spec.starts_with('0') && !layout.align) {
        layout.fill = '0';
        layout.align = '=';
    }
    layout.width = take_count(spec);
    if (spec.starts_with(',')) layout.thousands = take(spec) == ',';
    if (spec.starts_with('.')) {
        take(spec);
        layout.precision = take_count(spec);
    }
    if (!spec.empty()) layout.type = take(spec);
    if (!spec.empty() ||
        std::string_view("\0dsneEfFgG%xXob", 15).find(layout.type) == std::string_view::npos)
        throw Error("unknown format of a field");
    return layout;
}

class FieldFormat {
  public:
    FieldFormat(Interpreter& interpreter, const Arguments& arguments)
        : interpreter_(interpreter), arguments_(arguments), format_(arguments.string(0)) {}

    Text text() {
        const std::string_view all = format_.text.bytes();
        size_t at = 0;
        while (at < all.size()) {
            const size_t plain = std::min(all.find_first_of("{}", at), all.size());
            out_.append(format_.text, at, plain);
            if (plain == all.size()) break;
            at = plain + 1;
            if (all.substr(at).starts_with(all[plain]))
                out_.append(format_.text, plain, ++at - 1);
            else if (all[plain] == '}')
                throw Error("a single '}' in a format");
            else
                at = insert(all, at);
        }
        return std::move(out_);
    }

  private:
    // A field from behind its brace on; where it ends.
    size_t insert(std::string_view all, size_t begin) {
        interpreter_.arena().spend(1);
        const size_t end = all.find('}', begin);
        if (end == std::string_view::npos) throw Error("a '{' in a format has no end");
        const std::string_view field = all.substr(begin, end - begin);
        const size_t colon = std::min(field.find(':'), field.size());
        std::string_view name = field.substr(0, colon);
        char conversion = '\0';
        if (name.size() >= 2 && name[name.size() - 2] == '!') {
            conversion = name.back();
            name.remove_suffix(2);
        }
        const Layout layout =
            field_layout(colon < field.size() ? field.substr(colon + 1) : std::string_view());
        interpreter_.arena().hold(static_cast<size_t>(layout.width));
        out_.append(laid_out(value(name), conversion, layout));
        return end + 1;
    }

    // "0", "name", "name.attribute[key]".
    Value value(std::string_view path) {
        const size_t size = std::min(path.find_first_of(".["), path.size());
        Value value = argument(path.substr(0, size));
        path.remove_prefix(size);
        while (!path.empty()) {
            const char c = take(path);
            const size_t next = std::min(path.find_first_of(c == '[' ? "]" : ".["), path.size());
            const String* name = interpreter_.arena().string(path.substr(0, next));
            path.remove_prefix(std::min(path.size(), next + (c == '[' ? 1 : 0)));
            value = c == '[' ? interpreter_.item(value, key(*name))
                             : interpreter_.attribute(value, name);
            expect_defined(value);
        }
        return value;
    }

    static Value key(const String& name) {
        std::string_view digits = name.text.bytes();
        if (digits.empty() || !is_digit(digits[0])) return &name;
        return take_count(digits);
    }

    Value argument(std::string_view name) {
        if (name.empty() || is_digit(name[0])) {
            const int64_t at = name.empty() ? next_++ : take_count(name);
            if (!arguments_.has(static_cast<size_t>(at) + 1))
                throw Error("there are too few values for the format");
            return arguments_[static_cast<size_t>(at) + 1];
        }
        for (const auto& [each, value] : arguments_.keywords)
            if (each->text.bytes() == name) return value;
        throw Error("the format wants a value '" + std::string(name) + "'");
    }

    Text laid_out(const Value& value, char conversion, const Layout& layout) {
        Arena& arena = interpreter_.arena();
        if (conversion == 'r') return text_laid_out(repr(arena, value).text(), layout, '<');
        if (layout.type && layout.type != 's' && !is_number(value))
            throw Error(std::string("the format wants a number, got ") + type_name(value));
        const bool plain = !layout.type || layout.type == 's';
        const bool number = is_number(value) && !get<bool>(value);
        if (number && (!plain || layout.thousands || layout.align == '=' || layout.sign != '-' ||
                       layout.precision >= 0)) {
            Layout typed = layout;
            if (plain) typed.type = get<double>(value) ? 'g' : 'd';
            return number_laid_out(value, typed);
        }
        return text_laid_out(printed(arena, value), layout, number ? '>' : '<');
    }

    Interpreter& interpreter_;
    const Arguments& arguments_;
    const String& format_;
    int64_t next_ = 0;
    Text out_;
};

}  // namespace

Text formatted(Arena& arena, const String& format, const Value& operand) {
    return PercentFormat(arena, format, operand).text();
}

Text formatted(Interpreter& interpreter, const Arguments& arguments) {
    return FieldFormat(interpreter, arguments).text();
}

Text printed(Arena& arena, const Value& value) {
    if (const String* string = string_of(value)) {
        arena.hold(string->text.size());
        return string->text;
    }
    if (is_undefined(value)) return Text();
    return repr(arena, value).text();
}

}  // namespace tandem::model::jinja
