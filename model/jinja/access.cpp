#include "model/jinja/access.h"

#include <algorithm>
#include <string>

#include "gguf/error.h"
#include "model/jinja/interpreter.h"
#include "model/jinja/letters.h"
#include "model/jinja/operators.h"

namespace tandem::model::jinja {
namespace {

// Positions of a slice of `size` elements: from first on, count of them, step apart.
struct Positions {
    int64_t first = 0;
    int64_t step = 1;
    size_t count = 0;
};

Positions positions(int64_t size, std::optional<int64_t> begin, std::optional<int64_t> end,
                    std::optional<int64_t> step) {
    Positions out{.step = std::clamp<int64_t>(step.value_or(1), -INT64_MAX, INT64_MAX)};
    if (out.step == 0) throw Error("the step of a slice is zero");
    const bool forward = out.step > 0;
    const int64_t low = forward ? 0 : -1, high = forward ? size : size - 1;
    const auto bounded = [&](std::optional<int64_t> at, int64_t otherwise) {
        if (!at) return otherwise;
        return *at < 0 ? std::max(*at + size, low) : std::min(*at, high);
    };
    out.first = bounded(begin, forward ? low : high);
    const int64_t last = bounded(end, forward ? high : low);
    const int64_t span = forward ? last - out.first : out.first - last;
    if (span > 0)
        out.count = static_cast<size_t>((span - 1) / (forward ? out.step : -out.step) + 1);
    return out;
}

Value slice_of_string(Arena& arena, const String& string, const Positions& at) {
    const auto first = static_cast<size_t>(at.first);
    if (at.count == 0) return arena.string("");
    if (at.step == 1)
        return part(arena, string, byte_of(string, first), byte_of(string, first + at.count));
    Text text;
    const Values all = characters(arena, string);
    for (size_t each = 0; each < at.count; ++each)
        text.append(string_of(all[first + each * static_cast<size_t>(at.step)])->text);
    return arena.string(std::move(text));
}

// Of a list or string: where an index that may count from the end lies.
std::optional<size_t> place(int64_t index, size_t size) {
    const auto count = static_cast<int64_t>(size);
    if (index < -count || index >= count) return std::nullopt;
    return static_cast<size_t>(index < 0 ? index + count : index);
}

Value loop_attribute(const Loop& loop, std::string_view name) {
    if (loop.ended) throw Error("the loop has ended");
    const auto size = static_cast<int64_t>(loop.items.size());
    const auto index = static_cast<int64_t>(loop.index);
    if (name == "index") return index + 1;
    if (name == "index0") return index;
    if (name == "first") return index == 0;
    if (name == "last") return index == size - 1;
    if (name == "length") return size;
    if (name == "revindex") return size - index;
    if (name == "revindex0") return size - index - 1;
    if (name == "depth") return int64_t{loop.depth} + 1;
    if (name == "depth0") return int64_t{loop.depth};
    if (name == "previtem" && index > 0) return loop.items[loop.index - 1];
    if (name == "nextitem" && index + 1 < size) return loop.items[loop.index + 1];
    return Undefined{.owner = "there is no such item of the loop"};
}

Value missing(const Value& object, const String* name) {
    return Undefined{.name = name, .owner = type_name(object)};
}

}  // namespace

size_t byte_of(const String& string, size_t character) {
    const std::string_view bytes = string.text.bytes();
    if (string.characters == bytes.size()) return character;
    size_t at = 0;
    for (; character > 0; --character) at += front_letter(bytes.substr(at)).bytes;
    return at;
}

const String* part(Arena& arena, const String& string, size_t begin, size_t end) {
    if (begin == 0 && end == string.text.size()) return &string;
    Text text;
    text.append(string.text, begin, end);
    return arena.string(std::move(text));
}

const String* character(Arena& arena, const String& string, size_t at) {
    arena.spend_on(&string);
    const size_t begin = byte_of(string, at);
    const std::string_view rest = std::string_view(string.text.bytes()).substr(begin);
    return part(arena, string, begin, begin + front_letter(rest).bytes);
}

Values characters(Arena& arena, const String& string) {
    arena.hold(string.characters * sizeof(Value));
    arena.spend(string.characters);
    Values out;
    const std::string_view bytes = string.text.bytes();
    for (size_t at = 0; at < bytes.size();) {
        const size_t end = at + front_letter(bytes.substr(at)).bytes;
        out.push_back(part(arena, string, at, end));
        at = end;
    }
    return out;
}

Value slice(Arena& arena, const Value& value, std::optional<int64_t> begin,
            std::optional<int64_t> end, std::optional<int64_t> step) {
    expect_defined(value);
    arena.spend_on(value);
    if (const String* string = string_of(value)) {
        const auto size = static_cast<int64_t>(string->characters);
        return slice_of_string(arena, *string, positions(size, begin, end, step));
    }
    const List* list = list_of(value);
    if (!list || !list->indexed())
        throw Error(std::string("a ") + type_name(value) + " has no slices");
    const auto at = positions(static_cast<int64_t>(list->items.size()), begin, end, step);
    Values items;
    items.reserve(at.count);
    for (size_t each = 0; each < at.count; ++each)
        items.push_back(
            list->items[static_cast<size_t>(at.first) + each * static_cast<size_t>(at.step)]);
    return arena.list(std::move(items), list->form);
}

Value Interpreter::attribute(const Value& object, const String* name) {
    expect_defined(object);
    const std::string_view word = name->text.bytes();
    if (const Builtin* method = find_method(object, word))
        return arena_.function({.builtin = method, .self = object});
    if (const auto* loop = get<Loop*>(object)) return loop_attribute(**loop, word);
    const Value* value = nullptr;
    if (const List* list = list_of(object); list && list->is_group) {
        if (word == "grouper") return list->items[0];
        if (word == "list") return list->items[1];
    }
    if (const Dict* dict = dict_of(object)) value = dict->find(name);
    if (const auto* space = get<Namespace*>(object)) value = (*space)->attributes.find(name);
    return value ? *value : missing(object, name);
}

Value Interpreter::item(const Value& object, const Value& key) {
    expect_defined(object);
    if (const Dict* dict = dict_of(object)) {
        arena_.spend_on(key);
        if (const Value* value = dict->find(key)) return *value;
    }
    if (const String* name = string_of(key)) return attribute(object, name);
    const auto index = as_integer(key);
    const List* list = list_of(object);
    if (index && list && list->indexed()) {
        if (const auto at = place(*index, list->items.size())) return list->items[*at];
    }
    const String* string = string_of(object);
    if (index && string) {
        if (const auto at = place(*index, string->characters))
            return character(arena_, *string, *at);
    }
    return Undefined{.owner = "there is no such element"};
}

Values Interpreter::items(const Value& value) {
    if (is_undefined(value)) return {};
    if (const String* string = string_of(value)) return characters(arena_, *string);
    arena_.spend_on(value);
    Values all;
    if (List* list = list_of(value)) {
        if (!list->sized()) return std::exchange(list->items, {});
        all = list->items;
    } else if (const Dict* dict = dict_of(value)) {
        for (const auto& [key, entry] : dict->entries()) all.push_back(key);
    } else {
        throw Error(std::string("a ") + type_name(value) + " has no elements to walk over");
    }
    arena_.hold(all.size() * sizeof(Value));
    return all;
}

}  // namespace tandem::model::jinja
