#include "model/jinja/attribute_path.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string>

#include "model/jinja/operators.h"
#include "model/jinja/text_functions.h"

namespace tandem::model::jinja {
namespace {

// Digits are an index.
Value step(const String* name) {
    const std::string& text = name->text.bytes();
    int64_t index = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (fault == std::errc() && end == text.data() + text.size() && index >= 0) return index;
    return name;
}

}  // namespace

Value attribute_at(Interpreter& interpreter, const Value& object, const Value& path) {
    const String* names = string_of(path);
    if (!names) return interpreter.item(object, path);
    Value value = object;
    if (names->text.bytes().find('.') == std::string::npos)
        return interpreter.item(value, step(names));
    for (const Value& name : split(interpreter.arena(), *names, ".", -1, false))
        value = interpreter.item(value, step(string_of(name)));
    return value;
}

Values attributes(Interpreter& interpreter, const Values& values, const Value& path) {
    Values out;
    out.reserve(values.size());
    for (const Value& value : values) {
        interpreter.arena().spend(1);
        out.push_back(attribute_at(interpreter, value, path));
    }
    return out;
}

Values attributes(Interpreter& interpreter, const Values& values, const Arguments& arguments,
                  size_t at) {
    if (!arguments.has(at) || is_none(arguments[at])) return values;
    return attributes(interpreter, values, arguments[at]);
}

Value sort_key(Arena& arena, const Value& value, bool case_sensitive) {
    const String* string = string_of(value);
    return string && !case_sensitive ? in_case(arena, *string, Case::Lower) : value;
}

Values sorted(Arena& arena, const Values& values, const Values& keys, bool reverse) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t left, size_t right) {
        return reverse ? less(arena, keys[right], keys[left])
                       : less(arena, keys[left], keys[right]);
    });
    Values out;
    out.reserve(values.size());
    for (const size_t at : order) out.push_back(values[at]);
    return out;
}

}  // namespace tandem::model::jinja
