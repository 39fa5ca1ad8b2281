#include "model/jinja/builtin.h"

#include <algorithm>
#include <string>

#include "gguf/error.h"

namespace tandem::model::jinja {
namespace {

// The next word of a list; empty at its end.
std::string_view take_word(std::string_view& words) {
    const size_t size = std::min(words.find(' '), words.size());
    const std::string_view word = words.substr(0, size);
    words.remove_prefix(std::min(size + 1, words.size()));
    return word;
}

[[noreturn]] void refuse(const Value& value, const char* wanted) {
    expect_defined(value);
    throw Error(std::string("expected ") + wanted + ", got " + type_name(value));
}

}  // namespace

bool Arguments::has(size_t at) const {
    if (at >= positional.size()) return false;
    const auto* undefined = get<Undefined>(positional[at]);
    return !undefined || !undefined->absent();
}

const Value& Arguments::operator[](size_t at) const {
    static constexpr Value absent;
    return at < positional.size() ? positional[at] : absent;
}

const String& Arguments::string(size_t at) const {
    const String* string = string_of((*this)[at]);
    if (!string) refuse((*this)[at], "a string");
    return *string;
}

int64_t Arguments::integer(size_t at) const {
    const Value& value = (*this)[at];
    if (const auto* boolean = get<bool>(value)) return *boolean;
    const auto* integer = get<int64_t>(value);
    if (!integer) refuse(value, "an integer");
    return *integer;
}

int64_t Arguments::integer_or(size_t at, int64_t other) const {
    return has(at) && !is_none((*this)[at]) ? integer(at) : other;
}

bool Arguments::truth_or(size_t at, bool other) const {
    return has(at) ? truth((*this)[at]) : other;
}

std::string_view Arguments::string_or(size_t at, std::string_view other) const {
    return has(at) && !is_none((*this)[at]) ? string(at).text.bytes() : other;
}

const Builtin* find(Table table, std::string_view name) {
    const auto entry = std::find_if(table.begin(), table.end(),
                                    [&](const Builtin& each) { return each.name == name; });
    return entry == table.end() ? nullptr : &*entry;
}

Arguments bound(const Builtin& builtin, Arguments arguments) {
    if (builtin.parameters == "*") return arguments;
    const auto fail = [&](const std::string& what) {
        throw Error(std::string(builtin.name) + "(): " + what);
    };
    std::string_view words = builtin.parameters;
    bool optional = false;
    size_t at = 0, used = 0;
    while (!words.empty()) {
        const std::string_view word = take_word(words);
        if (word == "?") {
            optional = true;
            continue;
        }
        const auto keyword =
            std::find_if(arguments.keywords.begin(), arguments.keywords.end(),
                         [&](const auto& each) { return each.first->text.bytes() == word; });
        const bool named = keyword != arguments.keywords.end();
        if (named && at < arguments.positional.size())
            fail("two values for '" + std::string(word) + "'");
        if (at == arguments.positional.size()) {
            if (!named && !optional) fail("'" + std::string(word) + "' is missing");
            arguments.positional.push_back(named ? keyword->second : Value());
        }
        used += named;
        ++at;
    }
    if (arguments.positional.size() > at) fail("too many arguments");
    if (used < arguments.keywords.size()) {
        // Python does not allow a keyword twice, and the parser neither.
        for (const auto& [name, value] : arguments.keywords) {
            std::string_view names = builtin.parameters;
            bool known = false;
            while (!names.empty()) known |= take_word(names) == name->text.bytes();
            if (!known) fail("there is no argument '" + name->text.bytes() + "'");
        }
    }
    return arguments;
}

}  // namespace tandem::model::jinja
