// Functions that every template may call, and what loops can do.
#include <cmath>
#include <string>

#include "gguf/error.h"
#include "model/jinja/builtin.h"
#include "model/jinja/dates.h"
#include "model/jinja/interpreter.h"
#include "model/jinja/operators.h"

namespace tandem::model::jinja {
namespace {

constexpr size_t longest_range = 1'000'000;

Value raise_exception(Interpreter& interpreter, const Arguments& arguments) {
    interpreter.raise(arguments.string(0).text.bytes());
}

Value strftime_now(Interpreter& interpreter, const Arguments& arguments) {
    const String& format = arguments.string(0);
    return interpreter.arena().string(date_text(format.text.bytes(), interpreter.now()),
                                      format.text.any_given());
}

Value range(Interpreter& interpreter, const Arguments& arguments) {
    const bool one = !arguments.has(1);
    const int64_t begin = one ? 0 : arguments.integer(0);
    const int64_t end = arguments.integer(one ? 0 : 1);
    const int64_t step = arguments.has(2) ? arguments.integer(2) : 1;
    if (step == 0) throw Error("range(): the step is zero");
    Values items;
    for (int64_t at = begin; step > 0 ? at < end : at > end;) {
        if (items.size() == longest_range) throw Error("range(): more than a million numbers");
        items.push_back(at);
        if (__builtin_add_overflow(at, step, &at)) break;
    }
    return interpreter.arena().list(std::move(items), List::Form::Range);
}

// dict(a, b=1), and the attributes of namespace(a, b=1).
void fill(Interpreter& interpreter, Dict& dict, const Arguments& arguments) {
    Arena& arena = interpreter.arena();
    if (arguments.positional.size() > 1) throw Error("expected one dict and values with names");
    if (arguments.has(0)) {
        if (const Dict* other = dict_of(arguments[0])) {
            for (const auto& [key, value] : other->entries()) arena.set(dict, key, value);
        } else {
            expect_defined(arguments[0]);
            for (const Value& pair : interpreter.items(arguments[0])) {
                const Values entry = interpreter.items(pair);
                if (entry.size() != 2) throw Error("expected pairs of keys and values");
                arena.set(dict, entry[0], entry[1]);
            }
        }
    }
    for (const auto& [name, value] : arguments.keywords) arena.set(dict, name, value);
}

Value dict(Interpreter& interpreter, const Arguments& arguments) {
    Dict* dict = interpreter.arena().dict();
    fill(interpreter, *dict, arguments);
    return dict;
}

Value name_space(Interpreter& interpreter, const Arguments& arguments) {
    Namespace* space = interpreter.arena().name_space();
    fill(interpreter, space->attributes, arguments);
    return space;
}

// State of joiners and cyclers is kept in a namespace, under these names.
Value& state(Interpreter& interpreter, const Value& self, std::string_view name) {
    Dict& attributes = (*std::get_if<Namespace*>(&self))->attributes;
    const String* key = interpreter.arena().string(name);
    if (!attributes.find(key)) attributes.set(key, None{});
    return const_cast<Value&>(*attributes.find(key));
}

// Nothing the first time, then the separator.
Value join_next(Interpreter& interpreter, const Arguments& arguments) {
    Value& used = state(interpreter, arguments[0], "used");
    if (truth(used)) return state(interpreter, arguments[0], "separator");
    used = true;
    return interpreter.arena().string("");
}

Value joiner(Interpreter& interpreter, const Arguments& arguments) {
    static constexpr Builtin next = {"joiner", join_next, "self"};
    Arena& arena = interpreter.arena();
    Value self = arena.name_space();
    state(interpreter, self, "separator") = arena.string(arguments.string_or(0, ", "));
    return arena.function({.builtin = &next, .self = self});
}

Value go_to(Interpreter& interpreter, const Value& self, size_t at) {
    const Values& items = list_of(state(interpreter, self, "items"))->items;
    state(interpreter, self, "position") = static_cast<int64_t>(at % items.size());
    return state(interpreter, self, "current") = items[at % items.size()];
}

Value cycle_next(Interpreter& interpreter, const Arguments& arguments) {
    const Value& self = arguments[0];
    const Value now = state(interpreter, self, "current");
    go_to(interpreter, self,
          static_cast<size_t>(as_integer(state(interpreter, self, "position")).value_or(0)) + 1);
    return now;
}

Value cycle_reset(Interpreter& interpreter, const Arguments& arguments) {
    go_to(interpreter, arguments[0], 0);
    return None{};
}

Value cycler(Interpreter& interpreter, const Arguments& arguments) {
    static constexpr Builtin next = {"next", cycle_next, "self"};
    static constexpr Builtin reset = {"reset", cycle_reset, "self"};
    if (arguments.positional.empty()) throw Error("cycler() takes at least one argument");
    Arena& arena = interpreter.arena();
    Value self = arena.name_space();
    state(interpreter, self, "items") = arena.list(arguments.positional);
    state(interpreter, self, "next") = arena.function({.builtin = &next, .self = self});
    state(interpreter, self, "reset") = arena.function({.builtin = &reset, .self = self});
    go_to(interpreter, self, 0);
    return self;
}

constexpr Builtin functions[] = {
    {"raise_exception", raise_exception, "message"},
    {"strftime_now", strftime_now, "format"},
    {"range", range, "start ? stop step"},
    {"dict", dict, "*"},
    {"namespace", name_space, "*"},
    {"joiner", joiner, "? sep"},
    {"cycler", cycler, "*"},
};

}  // namespace

Table global_functions() { return functions; }

}  // namespace tandem::model::jinja
