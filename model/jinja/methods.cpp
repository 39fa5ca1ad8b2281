// Methods of strings, lists, dicts and loops.
#include <algorithm>
#include <string>

#include "gguf/error.h"
#include "model/jinja/access.h"
#include "model/jinja/builtin.h"
#include "model/jinja/format.h"
#include "model/jinja/interpreter.h"
#include "model/jinja/letters.h"
#include "model/jinja/operators.h"
#include "model/jinja/text_functions.h"

namespace tandem::model::jinja {
namespace {

using Args = Arguments;

std::optional<std::string_view> optional_text(const Args& args, size_t at) {
    if (!args.has(at) || is_none(args[at])) return std::nullopt;
    return args.string(at).text.bytes();
}

template <bool front, bool back>
Value strip(Interpreter& interpreter, const Args& args) {
    return stripped(interpreter.arena(), args.string(0), optional_text(args, 1), front, back);
}

template <bool from_back>
Value split_text(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    return arena.list(
        split(arena, args.string(0), optional_text(args, 1), args.integer_or(2, -1), from_back));
}

Value splitlines(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    return arena.list(split_lines(arena, args.string(0), args.truth_or(1, false)));
}

// Of three parts: before the separator, itself, behind it.
template <bool from_back>
Value partition(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    const String& separator = args.string(1);
    Values parts = split(arena, args.string(0), separator.text.bytes(), 1, from_back);
    const Value empty = arena.string("");
    if (parts.size() == 2)
        parts.insert(parts.begin() + 1, &separator);
    else
        parts.insert(from_back ? parts.begin() : parts.end(), 2, empty);
    return arena.tuple(std::move(parts));
}

bool matches(std::string_view text, std::string_view part, bool at_end) {
    return at_end ? text.ends_with(part) : text.starts_with(part);
}

// The part may be a tuple of several.
template <bool at_end>
Value has_end(Interpreter& interpreter, const Args& args) {
    const std::string_view text = args.string(0).text.bytes();
    const List* parts = list_of(args[1]);
    if (!parts) return matches(text, args.string(1).text.bytes(), at_end);
    interpreter.arena().spend(parts->items.size());
    return std::any_of(parts->items.begin(), parts->items.end(), [&](const Value& each) {
        const String* part = string_of(each);
        if (!part) throw Error("expected a tuple of strings");
        interpreter.arena().spend_on(each);
        return matches(text, part->text.bytes(), at_end);
    });
}

template <bool at_end>
Value remove_end(Interpreter& interpreter, const Args& args) {
    const String& string = args.string(0);
    const std::string_view end = args.string(1).text.bytes();
    if (!matches(string.text.bytes(), end, at_end)) return &string;
    const size_t size = string.text.size();
    return at_end ? part(interpreter.arena(), string, 0, size - end.size())
                  : part(interpreter.arena(), string, end.size(), size);
}

Value replace(Interpreter& interpreter, const Args& args) {
    return replaced(interpreter.arena(), args.string(0), args.string(1), args.string(2),
                    args.integer_or(3, -1));
}

template <Case wanted>
Value change_case(Interpreter& interpreter, const Args& args) {
    return in_case(interpreter.arena(), args.string(0), wanted);
}

Value join(Interpreter& interpreter, const Args& args) {
    const Values items = interpreter.items(args[1]);
    for (const Value& item : items)
        if (!string_of(item)) throw Error("join() takes strings only");
    return joined(interpreter.arena(), items, args.string(0));
}

// Bytes of the part of the text that bounds in characters leave.
std::pair<size_t, size_t> bounds(const Args& args) {
    const String& string = args.string(0);
    const auto size = static_cast<int64_t>(string.characters);
    const auto place = [&](size_t at, int64_t other) {
        const int64_t index = args.integer_or(at, other);
        const int64_t wanted =
            index < 0 ? std::max<int64_t>(index + size, 0) : std::min(index, size);
        return byte_of(string, static_cast<size_t>(wanted));
    };
    const size_t begin = place(2, 0);
    return {begin, std::max(begin, place(3, size))};
}

template <bool from_back, bool must>
Value find_text(Interpreter&, const Args& args) {
    const auto [begin, end] = bounds(args);
    const std::string_view text = std::string_view(args.string(0).text.bytes()).substr(0, end);
    const std::string_view part = args.string(1).text.bytes();
    size_t found = from_back ? text.rfind(part) : text.find(part, begin);
    if (found != std::string_view::npos && found < begin) found = std::string_view::npos;
    if (found == std::string_view::npos) {
        if (must) throw Error("the text that index() looks for is not there");
        return int64_t{-1};
    }
    return static_cast<int64_t>(count_characters(text.substr(0, found)));
}

Value count_text(Interpreter&, const Args& args) {
    const auto [begin, end] = bounds(args);
    const std::string_view text =
        std::string_view(args.string(0).text.bytes()).substr(begin, end - begin);
    const std::string_view part = args.string(1).text.bytes();
    if (part.empty()) return static_cast<int64_t>(count_characters(text)) + 1;
    int64_t count = 0;
    for (size_t at = text.find(part); at != std::string_view::npos;
         at = text.find(part, at + part.size()))
        ++count;
    return count;
}

// Whether that holds for all characters, of which there must be some.
template <bool (*holds)(char32_t)>
Value all_letters(Interpreter&, const Args& args) {
    std::string_view text = args.string(0).text.bytes();
    if (text.empty()) return false;
    for (; !text.empty(); text.remove_prefix(front_letter(text).bytes))
        if (!holds(front_letter(text).code)) return false;
    return true;
}

bool is_letter_or_decimal(char32_t code) { return is_letter(code) || is_decimal(code); }

// Whether letters with cases are there and are all of that one.
template <bool (*wanted)(char32_t), bool (*other)(char32_t)>
Value all_cased(Interpreter&, const Args& args) {
    bool some = false;
    std::string_view text = args.string(0).text.bytes();
    for (; !text.empty(); text.remove_prefix(front_letter(text).bytes)) {
        const char32_t code = front_letter(text).code;
        if (other(code)) return false;
        some |= wanted(code);
    }
    return some;
}

Value format(Interpreter& interpreter, const Args& args) {
    return interpreter.arena().string(formatted(interpreter, args));
}

template <char align>
Value justify(Interpreter& interpreter, const Args& args) {
    const String& string = args.string(0);
    const int64_t width = args.integer(1);
    if (width > 1'000'000) throw Error("a text is filled up too far");
    const std::string_view fill = args.string_or(2, " ");
    if (count_characters(fill) != 1) throw Error("texts are filled up with one character");
    const auto missing =
        static_cast<size_t>(std::max<int64_t>(width - static_cast<int64_t>(string.characters), 0));
    const size_t before = align == '>' ? missing : align == '^' ? missing / 2 : 0;
    interpreter.arena().hold(missing * fill.size());
    Text out;
    for (size_t at = 0; at < before; ++at) out.append(fill);
    out.append(string.text);
    for (size_t at = before; at < missing; ++at) out.append(fill);
    return interpreter.arena().string(std::move(out));
}

List& list(const Args& args) {
    List* list = list_of(args[0]);
    if (!list) throw Error("expected a list");
    return *list;
}

size_t place(const List& list, int64_t index) {
    const auto size = static_cast<int64_t>(list.items.size());
    if (index < -size || index >= size) throw Error("the list has no such element");
    return static_cast<size_t>(index < 0 ? index + size : index);
}

std::ptrdiff_t insertion_place(const List& list, int64_t index) {
    const auto size = static_cast<int64_t>(list.items.size());
    return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
}

Value append(Interpreter& interpreter, const Args& args) {
    interpreter.arena().append(list(args), args[1]);
    return None{};
}

Value extend(Interpreter& interpreter, const Args& args) {
    for (const Value& each : interpreter.items(args[1]))
        interpreter.arena().append(list(args), each);
    return None{};
}

Value insert(Interpreter& interpreter, const Args& args) {
    List& into = list(args);
    interpreter.arena().spend_on(args[0]);
    interpreter.arena().hold(sizeof(Value));
    into.items.insert(into.items.begin() + insertion_place(into, args.integer(1)), args[2]);
    return None{};
}

Value pop(Interpreter& interpreter, const Args& args) {
    List& from = list(args);
    const size_t at = place(from, args.integer_or(1, -1));
    interpreter.arena().spend(from.items.size() - at);
    const Value value = from.items[at];
    from.items.erase(from.items.begin() + static_cast<std::ptrdiff_t>(at));
    return value;
}

Value remove(Interpreter& interpreter, const Args& args) {
    List& from = list(args);
    for (size_t at = 0; at < from.items.size(); ++at) {
        if (!equal(interpreter.arena(), from.items[at], args[1])) continue;
        from.items.erase(from.items.begin() + static_cast<std::ptrdiff_t>(at));
        return None{};
    }
    throw Error("what remove() looks for is not in the list");
}

Value index(Interpreter& interpreter, const Args& args) {
    const Values& items = list(args).items;
    for (size_t at = 0; at < items.size(); ++at)
        if (equal(interpreter.arena(), items[at], args[1])) return static_cast<int64_t>(at);
    throw Error("what index() looks for is not in the list");
}

Value count(Interpreter& interpreter, const Args& args) {
    int64_t count = 0;
    for (const Value& each : list(args).items) count += equal(interpreter.arena(), each, args[1]);
    return count;
}

Value clear(Interpreter&, const Args& args) {
    list(args).items.clear();
    return None{};
}

Value copy(Interpreter& interpreter, const Args& args) {
    return interpreter.arena().list(list(args).items);
}

Value reverse(Interpreter& interpreter, const Args& args) {
    interpreter.arena().spend_on(args[0]);
    std::reverse(list(args).items.begin(), list(args).items.end());
    return None{};
}

Dict& dict(const Args& args) {
    Dict* dict = dict_of(args[0]);
    if (!dict) throw Error("expected a dict");
    return *dict;
}

Value get_or(Interpreter&, const Args& args) {
    if (const Value* value = dict(args).find(args[1])) return *value;
    return args.has(2) ? args[2] : Value(None{});
}

template <List::Form form>
Value view(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    Values out;
    for (const auto& [key, value] : dict(args).entries())
        out.push_back(form == List::Form::Keys     ? key
                      : form == List::Form::Values ? value
                                                   : Value(arena.tuple({key, value})));
    return arena.list(std::move(out), form);
}

Value update(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    if (args.positional.size() > 2) throw Error("update() takes one dict");
    if (args.has(1)) {
        const Dict* other = dict_of(args[1]);
        if (!other) throw Error("update() takes a dict");
        const auto entries = other->entries();  // of the same dict, maybe
        for (const auto& [key, value] : entries) arena.set(dict(args), key, value);
    }
    for (const auto& [name, value] : args.keywords) arena.set(dict(args), name, value);
    return None{};
}

Value pop_key(Interpreter& interpreter, const Args& args) {
    interpreter.arena().spend_on(args[0]);
    const Value* found = dict(args).find(args[1]);
    if (!found && !args.has(2)) throw Error("the dict has no such key");
    const Value value = found ? *found : args[2];
    dict(args).erase(args[1]);
    return value;
}

Value set_default(Interpreter& interpreter, const Args& args) {
    if (const Value* value = dict(args).find(args[1])) return *value;
    const Value value = args.has(2) ? args[2] : Value(None{});
    interpreter.arena().set(dict(args), args[1], value);
    return value;
}

Value copy_dict(Interpreter& interpreter, const Args& args) {
    Dict* copy = interpreter.arena().dict();
    for (const auto& [key, value] : dict(args).entries())
        interpreter.arena().set(*copy, key, value);
    return copy;
}

Loop& loop(const Args& args) { return **std::get_if<Loop*>(&args.positional[0]); }

Value cycle(Interpreter&, const Args& args) {
    const size_t count = args.positional.size() - 1;
    if (count == 0) throw Error("cycle() takes at least one argument");
    return args[1 + loop(args).index % count];
}

Value changed(Interpreter& interpreter, const Args& args) {
    const Values now(args.positional.begin() + 1, args.positional.end());
    Loop& self = loop(args);
    bool same = self.changed_before && self.changed.size() == now.size();
    for (size_t at = 0; same && at < now.size(); ++at)
        same = equal(interpreter.arena(), self.changed[at], now[at]);
    self.changed_before = true;
    if (!same) self.changed = now;
    return !same;
}

constexpr Builtin methods_of_strings[] = {
    {"capitalize", change_case<Case::Capitalize>, "self"},
    {"center", justify<'^'>, "self width ? fillchar"},
    {"count", count_text, "self sub ? start end"},
    {"endswith", has_end<true>, "self suffix"},
    {"find", find_text<false, false>, "self sub ? start end"},
    {"format", format, "*"},
    {"index", find_text<false, true>, "self sub ? start end"},
    {"isalnum", all_letters<is_letter_or_decimal>, "self"},
    {"isalpha", all_letters<is_letter>, "self"},
    {"isdecimal", all_letters<is_decimal>, "self"},
    {"isdigit", all_letters<is_decimal>, "self"},
    {"islower", all_cased<is_lower, is_upper>, "self"},
    {"isnumeric", all_letters<is_decimal>, "self"},
    {"isspace", all_letters<is_white>, "self"},
    {"isupper", all_cased<is_upper, is_lower>, "self"},
    {"join", join, "self iterable"},
    {"ljust", justify<'<'>, "self width ? fillchar"},
    {"lower", change_case<Case::Lower>, "self"},
    {"lstrip", strip<true, false>, "self ? chars"},
    {"partition", partition<false>, "self sep"},
    {"removeprefix", remove_end<false>, "self prefix"},
    {"removesuffix", remove_end<true>, "self suffix"},
    {"replace", replace, "self old new ? count"},
    {"rfind", find_text<true, false>, "self sub ? start end"},
    {"rjust", justify<'>'>, "self width ? fillchar"},
    {"rpartition", partition<true>, "self sep"},
    {"rsplit", split_text<true>, "self ? sep maxsplit"},
    {"rstrip", strip<false, true>, "self ? chars"},
    {"split", split_text<false>, "self ? sep maxsplit"},
    {"splitlines", splitlines, "self ? keepends"},
    {"startswith", has_end<false>, "self prefix"},
    {"strip", strip<true, true>, "self ? chars"},
    {"title", change_case<Case::Title>, "self"},
    {"upper", change_case<Case::Upper>, "self"},
};

constexpr Builtin methods_of_lists[] = {
    {"append", append, "self object"},
    {"clear", clear, "self"},
    {"copy", copy, "self"},
    {"count", count, "self value"},
    {"extend", extend, "self iterable"},
    {"index", index, "self value"},
    {"insert", insert, "self index object"},
    {"pop", pop, "self ? index"},
    {"remove", remove, "self value"},
    {"reverse", reverse, "self"},
};

constexpr Builtin methods_of_tuples[] = {
    {"count", count, "self value"},
    {"index", index, "self value"},
};

constexpr Builtin methods_of_dicts[] = {
    {"copy", copy_dict, "self"},
    {"get", get_or, "self key ? default"},
    {"items", view<List::Form::Items>, "self"},
    {"keys", view<List::Form::Keys>, "self"},
    {"pop", pop_key, "self key ? default"},
    {"setdefault", set_default, "self key ? default"},
    {"update", update, "*"},
    {"values", view<List::Form::Values>, "self"},
};

constexpr Builtin methods_of_loops[] = {
    {"changed", changed, "*"},
    {"cycle", cycle, "*"},
};

}  // namespace

const Builtin* find_method(const Value& value, std::string_view name) {
    if (string_of(value)) return find(methods_of_strings, name);
    if (dict_of(value)) return find(methods_of_dicts, name);
    if (get<Loop*>(value)) return find(methods_of_loops, name);
    const List* list = list_of(value);
    if (!list || !list->indexed()) return nullptr;
    return list->form == List::Form::List ? find(methods_of_lists, name)
                                          : find(methods_of_tuples, name);
}

}  // namespace tandem::model::jinja
