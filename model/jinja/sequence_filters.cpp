// Filters of lists and dicts as wholes.
#include <algorithm>
#include <string>

#include "gguf/error.h"
#include "model/jinja/access.h"
#include "model/jinja/attribute_path.h"
#include "model/jinja/filters.h"
#include "model/jinja/interpreter.h"
#include "model/jinja/operators.h"
#include "model/jinja/text_functions.h"

namespace tandem::model::jinja {
namespace {

using Args = Arguments;

Value length(Interpreter&, const Args& args) {
    const Value& value = args[0];
    if (is_undefined(value)) return int64_t{0};
    if (const String* string = string_of(value)) return static_cast<int64_t>(string->characters);
    if (const Dict* dict = dict_of(value)) return static_cast<int64_t>(dict->entries().size());
    const List* list = list_of(value);
    if (list && list->sized()) return static_cast<int64_t>(list->items.size());
    throw Error(std::string("a ") + type_name(value) + " has no length");
}

Value to_list(Interpreter& interpreter, const Args& args) {
    return interpreter.arena().list(interpreter.items(args[0]));
}

Value first(Interpreter& interpreter, const Args& args) {
    const Values items = interpreter.items(args[0]);
    return items.empty() ? Value(Undefined{.owner = "there is no first element"}) : items.front();
}

Value last(Interpreter& interpreter, const Args& args) {
    const Values items = interpreter.items(args[0]);
    return items.empty() ? Value(Undefined{.owner = "there is no last element"}) : items.back();
}

Value reverse(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    if (string_of(args[0])) return slice(arena, args[0], std::nullopt, std::nullopt, -1);
    Values items = interpreter.items(args[0]);
    std::reverse(items.begin(), items.end());
    return arena.list(std::move(items), List::Form::Generator);
}

Value join(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    const Values items = attributes(interpreter, interpreter.items(args[0]), args, 2);
    const String* separator = args.has(1) ? &args.string(1) : arena.string("");
    return joined(arena, items, *separator);
}

Value items(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    const Dict* dict = dict_of(args[0]);
    if (!dict && !is_undefined(args[0])) throw Error("items takes a dict");
    Values pairs;
    if (dict)
        for (const auto& [key, value] : dict->entries()) pairs.push_back(arena.tuple({key, value}));
    return arena.list(std::move(pairs), List::Form::Generator);
}

// By key or value, as text without cases.
Value dict_sort(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    const Dict* dict = dict_of(args[0]);
    if (!dict) {
        expect_defined(args[0]);
        throw Error("dictsort takes a dict");
    }
    const bool by_value = args.string_or(2, "key") == "value";
    const bool cased = args.truth_or(1, false);
    Values pairs, keys;
    for (const auto& [key, value] : dict->entries()) {
        pairs.push_back(arena.tuple({key, value}));
        keys.push_back(sort_key(arena, by_value ? value : key, cased));
    }
    return arena.list(sorted(arena, pairs, keys, args.truth_or(3, false)));
}

Values sort_keys(Interpreter& interpreter, const Values& values, bool cased) {
    Values keys;
    for (const Value& value : values) keys.push_back(sort_key(interpreter.arena(), value, cased));
    return keys;
}

Value sort(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    const Values values = interpreter.items(args[0]);
    const bool cased = args.truth_or(2, false);
    // Several attributes, with commas between them, are compared one after another.
    const String* names = args.has(3) ? string_of(args[3]) : nullptr;
    if (!names || names->text.bytes().find(',') == std::string::npos) {
        const Values keys = sort_keys(interpreter, attributes(interpreter, values, args, 3), cased);
        return arena.list(sorted(arena, values, keys, args.truth_or(1, false)));
    }
    std::vector<Values> columns;
    for (const Value& name : split(arena, *names, ",", -1, false))
        columns.push_back(sort_keys(interpreter, attributes(interpreter, values, name), cased));
    Values keys;
    for (size_t row = 0; row < values.size(); ++row) {
        Values key;
        for (const Values& column : columns) key.push_back(column[row]);
        keys.push_back(arena.tuple(std::move(key)));
    }
    return arena.list(sorted(arena, values, keys, args.truth_or(1, false)));
}

Value unique(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    const Values values = interpreter.items(args[0]);
    const Values keys =
        sort_keys(interpreter, attributes(interpreter, values, args, 2), args.truth_or(1, false));
    Dict* seen = arena.dict();
    Values out;
    for (size_t at = 0; at < values.size(); ++at) {
        if (seen->find(keys[at])) continue;
        arena.set(*seen, keys[at], true);
        out.push_back(values[at]);
    }
    return arena.list(std::move(out), List::Form::Generator);
}

template <bool largest>
Value extreme(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    const Values values = interpreter.items(args[0]);
    if (values.empty()) return Undefined{.owner = "there is no element"};
    const Values keys =
        sort_keys(interpreter, attributes(interpreter, values, args, 2), args.truth_or(1, false));
    size_t best = 0;
    for (size_t at = 1; at < values.size(); ++at)
        if (largest ? less(arena, keys[best], keys[at]) : less(arena, keys[at], keys[best]))
            best = at;
    return values[best];
}

Value sum(Interpreter& interpreter, const Args& args) {
    Value total = args.has(2) ? args[2] : Value(int64_t{0});
    for (const Value& each : attributes(interpreter, interpreter.items(args[0]), args, 1))
        total = calculate(interpreter.arena(), Binary::Operator::Add, total, each);
    return total;
}

size_t positive(const Args& args, size_t at) {
    const int64_t count = args.integer(at);
    if (count < 1 || count > 100'000) throw Error("expected a number from 1 to 100000");
    return static_cast<size_t>(count);
}

// Lists of so many elements each, the last one filled up if asked for.
Value batch(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    const size_t count = positive(args, 1);
    const Values values = interpreter.items(args[0]);
    Values out;
    for (size_t at = 0; at < values.size(); at += count) {
        const size_t end = std::min(at + count, values.size());
        Values part(values.begin() + static_cast<std::ptrdiff_t>(at),
                    values.begin() + static_cast<std::ptrdiff_t>(end));
        if (args.has(2) && !is_none(args[2])) part.resize(count, args[2]);
        out.push_back(arena.list(std::move(part)));
    }
    return arena.list(std::move(out), List::Form::Generator);
}

// So many lists, the first ones longer where that does not come out even.
Value slice_up(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    const size_t count = positive(args, 1);
    const Values values = interpreter.items(args[0]);
    Values out;
    auto from = values.begin();
    for (size_t at = 0; at < count; ++at) {
        const bool longer = at < values.size() % count;
        const auto end = from + static_cast<std::ptrdiff_t>(values.size() / count + longer);
        Values part(from, end);
        if (args.has(2) && !is_none(args[2]) && values.size() % count != 0 && !longer)
            part.push_back(args[2]);
        out.push_back(arena.list(std::move(part)));
        from = end;
    }
    return arena.list(std::move(out), List::Form::Generator);
}

Value default_to(Interpreter& interpreter, const Args& args) {
    const bool wanted = is_undefined(args[0]) || (args.truth_or(2, false) && !truth(args[0]));
    if (!wanted) return args[0];
    return args.has(1) ? args[1] : Value(interpreter.arena().string(""));
}

constexpr Builtin filters[] = {
    {"batch", batch, "value linecount ? fill_with"},
    {"count", length, "obj"},
    {"d", default_to, "value ? default_value boolean"},
    {"default", default_to, "value ? default_value boolean"},
    {"dictsort", dict_sort, "value ? case_sensitive by reverse"},
    {"first", first, "seq"},
    {"items", items, "value"},
    {"join", join, "value ? d attribute"},
    {"last", last, "seq"},
    {"length", length, "obj"},
    {"list", to_list, "value"},
    {"max", extreme<true>, "value ? case_sensitive attribute"},
    {"min", extreme<false>, "value ? case_sensitive attribute"},
    {"reverse", reverse, "value"},
    {"slice", slice_up, "value slices ? fill_with"},
    {"sort", sort, "value ? reverse case_sensitive attribute"},
    {"sum", sum, "iterable ? attribute start"},
    {"unique", unique, "value ? case_sensitive attribute"},
};

}  // namespace

Table sequence_filters() { return filters; }

}  // namespace tandem::model::jinja
