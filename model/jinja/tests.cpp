// What stands behind `is`.
#include <string>

#include "gguf/error.h"
#include "model/jinja/builtin.h"
#include "model/jinja/interpreter.h"
#include "model/jinja/operators.h"

namespace tandem::model::jinja {
namespace {

using Args = Arguments;

template <Comparison::Operator op>
Value compared(Interpreter& interpreter, const Args& args) {
    return compare(interpreter.arena(), op, args[0], args[1]);
}

template <class T>
Value holds(Interpreter&, const Args& args) {
    return get<T>(args[0]) != nullptr;
}

template <bool wanted>
Value is_boolean(Interpreter&, const Args& args) {
    const auto* boolean = get<bool>(args[0]);
    return boolean && *boolean == wanted;
}

Value is_defined(Interpreter&, const Args& args) { return !is_undefined(args[0]); }
Value is_any_number(Interpreter&, const Args& args) { return is_number(args[0]); }

Value is_iterable(Interpreter&, const Args& args) {
    return is_undefined(args[0]) || string_of(args[0]) || list_of(args[0]) || dict_of(args[0]);
}

// What has a length and elements, as Jinja asks for it.
Value is_sequence(Interpreter&, const Args& args) {
    const List* list = list_of(args[0]);
    return is_undefined(args[0]) || string_of(args[0]) || dict_of(args[0]) ||
           (list && list->indexed());
}

Value is_callable(Interpreter&, const Args& args) {
    return get<const Function*>(args[0]) || get<Loop*>(args[0]) || is_undefined(args[0]);
}

// By the remainder of a division.
template <int64_t divisor, int64_t remainder>
Value has_remainder(Interpreter& interpreter, const Args& args) {
    const Value rest = calculate(interpreter.arena(), Binary::Operator::Modulo, args[0], divisor);
    return equal(interpreter.arena(), rest, remainder);
}

Value is_divisible(Interpreter& interpreter, const Args& args) {
    const Value rest = calculate(interpreter.arena(), Binary::Operator::Modulo, args[0], args[1]);
    return equal(interpreter.arena(), rest, int64_t{0});
}

// The same object, or equal where values are no objects.
Value is_same(Interpreter& interpreter, const Args& args) {
    if (args[0].index() != args[1].index()) return false;
    if (list_of(args[0])) return list_of(args[0]) == list_of(args[1]);
    if (dict_of(args[0])) return dict_of(args[0]) == dict_of(args[1]);
    return equal(interpreter.arena(), args[0], args[1]);
}

// As the method of that name says for what is printed.
Value ask_method(Interpreter& interpreter, const Args& args, std::string_view name) {
    if (!string_of(args[0])) return false;
    return interpreter.call(*find_method(args[0], name), args);
}
Value is_lower_case(Interpreter& interpreter, const Args& args) {
    return ask_method(interpreter, args, "islower");
}
Value is_upper_case(Interpreter& interpreter, const Args& args) {
    return ask_method(interpreter, args, "isupper");
}

Value is_filter(Interpreter&, const Args& args) {
    return find_filter(args.string(0).text.bytes()) != nullptr;
}
Value is_test(Interpreter&, const Args& args) {
    return find_test(args.string(0).text.bytes()) != nullptr;
}

using enum Comparison::Operator;

constexpr Builtin tests[] = {
    {"!=", compared<NotEqual>, "value other"},
    {"<", compared<Less>, "value other"},
    {"<=", compared<LessEqual>, "value other"},
    {"==", compared<Equal>, "value other"},
    {">", compared<Greater>, "value other"},
    {">=", compared<GreaterEqual>, "value other"},
    {"boolean", holds<bool>, "value"},
    {"callable", is_callable, "value"},
    {"defined", is_defined, "value"},
    {"divisibleby", is_divisible, "value num"},
    {"eq", compared<Equal>, "value other"},
    {"equalto", compared<Equal>, "value other"},
    {"even", has_remainder<2, 0>, "value"},
    {"false", is_boolean<false>, "value"},
    {"filter", is_filter, "value"},
    {"float", holds<double>, "value"},
    {"ge", compared<GreaterEqual>, "value other"},
    {"greaterthan", compared<Greater>, "value other"},
    {"gt", compared<Greater>, "value other"},
    {"in", compared<In>, "value seq"},
    {"integer", holds<int64_t>, "value"},
    {"iterable", is_iterable, "value"},
    {"le", compared<LessEqual>, "value other"},
    {"lessthan", compared<Less>, "value other"},
    {"lower", is_lower_case, "value"},
    {"lt", compared<Less>, "value other"},
    {"mapping", holds<Dict*>, "value"},
    {"ne", compared<NotEqual>, "value other"},
    {"none", holds<None>, "value"},
    {"number", is_any_number, "value"},
    {"odd", has_remainder<2, 1>, "value"},
    {"sameas", is_same, "value other"},
    {"sequence", is_sequence, "value"},
    {"string", holds<const String*>, "value"},
    {"test", is_test, "value"},
    {"true", is_boolean<true>, "value"},
    {"undefined", holds<Undefined>, "value"},
    {"upper", is_upper_case, "value"},
};

}  // namespace

const Builtin* find_test(std::string_view name) { return find(tests, name); }

}  // namespace tandem::model::jinja
