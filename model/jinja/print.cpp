#include "model/jinja/print.h"

#include <array>
#include <charconv>
#include <cmath>

#include "gguf/error.h"
#include "model/jinja/builtin.h"
#include "model/jinja/escapes.h"
#include "model/jinja/syntax.h"

namespace tandem::model::jinja {
namespace {

constexpr int deepest = 100;

class Printer {
  public:
    explicit Printer(Arena& arena) : arena_(arena) {}

    Written written() && { return std::move(out_); }

    void add(const Value& value) {
        if (++depth_ > deepest) throw Error("what is printed is nested too deeply");
        arena_.spend(1);
        if (const String* string = string_of(value)) {
            add(*string);
        } else if (const List* list = list_of(value)) {
            add(*list);
        } else if (const Dict* dict = dict_of(value)) {
            add(*dict);
        } else {
            out_.bytes += scalar(value);
        }
        --depth_;
    }

  private:
    void add(const String& string) {
        arena_.hold(string.text.size());
        arena_.spend_on(&string);
        out_.bytes += quoted(string.text.bytes());
        out_.given |= string.text.any_given();
    }

    void add(const List& list);
    void add(const Dict& dict) {
        out_.bytes += '{';
        const char* between = "";
        for (const auto& [key, value] : dict.entries()) {
            out_.bytes += between;
            add(key);
            out_.bytes += ": ";
            add(value);
            between = ", ";
        }
        out_.bytes += '}';
    }

    static std::string scalar(const Value& value);

    Arena& arena_;
    Written out_;
    int depth_ = 0;
};

void Printer::add(const List& list) {
    const bool tuple = list.form == List::Form::Tuple;
    if (!list.sized()) {
        out_.bytes += "<generator object>";
        return;
    }
    const bool named = list.form > List::Form::Tuple;
    if (named) out_.bytes += std::string(type_name(const_cast<List*>(&list))) + "(";
    out_.bytes += tuple ? '(' : '[';
    const char* between = "";
    for (const Value& item : list.items) {
        out_.bytes += between;
        add(item);
        between = ", ";
    }
    if (tuple && list.items.size() == 1) out_.bytes += ',';
    out_.bytes += tuple ? ')' : ']';
    if (named) out_.bytes += ')';
}

std::string function_words(const Function& function) {
    if (function.macro) return "<Macro '" + function.macro->name->text.bytes() + "'>";
    const std::string name(function.builtin->name);
    if (is_undefined(function.self)) return "<function " + name + ">";
    return "<built-in method " + name + " of " + type_name(function.self) + " object at 0x0>";
}

std::string Printer::scalar(const Value& value) {
    if (const auto* boolean = get<bool>(value)) return *boolean ? "True" : "False";
    if (const auto* integer = get<int64_t>(value)) return std::to_string(*integer);
    if (const auto* number = get<double>(value)) return number_text(*number);
    if (is_none(value)) return "None";
    if (is_undefined(value)) return "Undefined";
    if (const auto* function = get<const Function*>(value)) return function_words(**function);
    return std::string("<") + type_name(value) + ">";
}

}  // namespace

Written repr(Arena& arena, const Value& value) {
    Printer printer(arena);
    printer.add(value);
    return std::move(printer).written();
}

std::string number_text(double number) {
    if (std::isnan(number)) return "nan";
    if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
    std::array<char, 64> buffer;
    const auto [end, fault] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                            std::chars_format::scientific);
    const std::string_view text(buffer.data(), static_cast<size_t>(end - buffer.data()));
    const size_t e = text.find('e');
    const int exponent = std::stoi(std::string(text.substr(e + 1)));
    if (exponent < -4 || exponent >= 16) return std::string(text);
    const auto [fixed_end, fixed_fault] = std::to_chars(
        buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::fixed);
    const std::string fixed(buffer.data(), static_cast<size_t>(fixed_end - buffer.data()));
    return fixed.find('.') == std::string::npos ? fixed + ".0" : fixed;
}

}  // namespace tandem::model::jinja
