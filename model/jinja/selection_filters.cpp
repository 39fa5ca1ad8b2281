// Filters that apply tests and other filters to the elements of a list.
#include <string>

#include "gguf/error.h"
#include "model/jinja/attribute_path.h"
#include "model/jinja/filters.h"
#include "model/jinja/interpreter.h"
#include "model/jinja/operators.h"

namespace tandem::model::jinja {
namespace {

using Args = Arguments;

// The arguments from one on, with an element in front.
Arguments with_element(const Args& args, size_t from, const Value& element) {
    Arguments out{.keywords = args.keywords};
    out.positional.push_back(element);
    if (args.positional.size() > from)
        out.positional.insert(out.positional.end(),
                              args.positional.begin() + static_cast<std::ptrdiff_t>(from),
                              args.positional.end());
    return out;
}

// Those whose truth, or whose attribute's, or a test of it, is what is wanted.
template <bool wanted, bool by_attribute>
Value select(Interpreter& interpreter, const Args& args) {
    constexpr size_t at = by_attribute ? 2 : 1;  // where the name of the test stands
    const Builtin* test = nullptr;
    if (args.has(at)) {
        const std::string& name = args.string(at).text.bytes();
        test = find_test(name);
        if (!test) throw Error("there is no test '" + name + "'");
    }
    if (by_attribute && !args.has(1)) throw Error("the name of an attribute is missing");
    Values out;
    for (const Value& element : interpreter.items(args[0])) {
        interpreter.arena().spend(1);
        const Value value = by_attribute ? attribute_at(interpreter, element, args[1]) : element;
        const bool holds =
            truth(test ? interpreter.call(*test, with_element(args, at + 1, value)) : value);
        if (holds == wanted) out.push_back(element);
    }
    return interpreter.arena().list(std::move(out), List::Form::Generator);
}

const Value* keyword(const Args& args, std::string_view name) {
    for (const auto& [each, value] : args.keywords)
        if (each->text.bytes() == name) return &value;
    return nullptr;
}

// An attribute of each, with a default for what is not there; or a filter of each.
Value map(Interpreter& interpreter, const Args& args) {
    Values out;
    const Value* path = keyword(args, "attribute");
    const Value* otherwise = keyword(args, "default");
    const Builtin* filter = nullptr;
    if (!path) {
        const std::string& name = args.string(1).text.bytes();
        filter = find_filter(name);
        if (!filter) throw Error("there is no filter '" + name + "'");
    } else if (args.keywords.size() > (otherwise ? 2 : 1) || args.positional.size() > 1) {
        throw Error("map() takes an attribute and a default, or a filter");
    }
    for (const Value& element : interpreter.items(args[0])) {
        interpreter.arena().spend(1);
        Value value = path ? attribute_at(interpreter, element, *path)
                           : interpreter.call(*filter, with_element(args, 2, element));
        if (path && otherwise && is_undefined(value)) value = *otherwise;
        out.push_back(value);
    }
    return interpreter.arena().list(std::move(out), List::Form::Generator);
}

// Pairs of a key and the elements that have it, in the order of the keys.
Value group_by(Interpreter& interpreter, const Args& args) {
    Arena& arena = interpreter.arena();
    const Values values = interpreter.items(args[0]);
    Values found = attributes(interpreter, values, args[1]);
    if (args.has(2))
        for (Value& value : found)
            if (is_undefined(value)) value = args[2];
    Values keys, rows;
    for (size_t at = 0; at < values.size(); ++at) {
        keys.push_back(sort_key(arena, found[at], args.truth_or(3, false)));
        rows.push_back(static_cast<int64_t>(at));
    }
    Values groups;
    const Value* before = nullptr;
    List* members = nullptr;
    for (const Value& row : sorted(arena, rows, keys, false)) {
        const auto at = static_cast<size_t>(*as_integer(row));
        if (!before || !equal(arena, *before, keys[at])) {
            members = arena.list({});
            List* group = arena.tuple({found[at], members});
            group->is_group = true;
            groups.push_back(group);
        }
        before = &keys[at];
        arena.append(*members, values[at]);
    }
    return arena.list(std::move(groups));
}

constexpr Builtin filters[] = {
    {"groupby", group_by, "value attribute ? default case_sensitive"},
    {"map", map, "*"},
    {"reject", select<false, false>, "*"},
    {"rejectattr", select<false, true>, "*"},
    {"select", select<true, false>, "*"},
    {"selectattr", select<true, true>, "*"},
};

}  // namespace

Table selection_filters() { return filters; }

}  // namespace tandem::model::jinja
