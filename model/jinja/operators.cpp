#include "model/jinja/operators.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "gguf/error.h"
#include "model/jinja/format.h"

namespace tandem::model::jinja {
namespace {

constexpr int deepest = 100;  // lists in lists that are compared

[[noreturn]] void refuse(const char* op, const Value& left, const Value& right) {
    expect_defined(left);
    expect_defined(right);
    throw Error(std::string("cannot calculate ") + type_name(left) + " " + op + " " +
                type_name(right));
}

[[noreturn]] void overflow() { throw Error("an integer needs more than 64 bits"); }

int64_t power(int64_t base, int64_t exponent) {
    int64_t result = 1;
    for (;; exponent /= 2) {
        if (exponent % 2 == 1 && __builtin_mul_overflow(result, base, &result)) overflow();
        if (exponent <= 1) return result;
        if (__builtin_mul_overflow(base, base, &base)) overflow();
    }
}

// Rounded towards minus infinity. The one quotient that does not fit is refused.
int64_t floor_divided(int64_t left, int64_t right) {
    if (right == -1 && left == INT64_MIN) overflow();
    const int64_t quotient = left / right;
    return quotient - (left % right != 0 && (left < 0) != (right < 0));
}

// With the sign of the divisor.
int64_t modulo(int64_t left, int64_t right) {
    if (right == -1) return 0;
    const int64_t rest = left % right;
    return rest != 0 && (rest < 0) != (right < 0) ? rest + right : rest;
}

double modulo(double left, double right) {
    const double rest = std::fmod(left, right);
    return rest != 0 && (rest < 0) != (right < 0) ? rest + right : rest;
}

Value calculate_integers(Binary::Operator op, int64_t left, int64_t right) {
    int64_t result = 0;
    using enum Binary::Operator;
    switch (op) {
        case Add:
            if (__builtin_add_overflow(left, right, &result)) overflow();
            return result;
        case Subtract:
            if (__builtin_sub_overflow(left, right, &result)) overflow();
            return result;
        case Multiply:
            if (__builtin_mul_overflow(left, right, &result)) overflow();
            return result;
        case Power:
            if (right >= 0) return power(left, right);
            if (left == 0) throw Error("division by zero");
            return std::pow(static_cast<double>(left), static_cast<double>(right));
        case Divide:
        case FloorDivide:
        case Modulo:
            break;
    }
    if (right == 0) throw Error("division by zero");
    if (op == Divide) return static_cast<double>(left) / static_cast<double>(right);
    return op == FloorDivide ? floor_divided(left, right) : modulo(left, right);
}

Value calculate_doubles(Binary::Operator op, double left, double right) {
    using enum Binary::Operator;
    if (right == 0 && (op == Divide || op == FloorDivide || op == Modulo))
        throw Error("division by zero");
    switch (op) {
        case Add:
            return left + right;
        case Subtract:
            return left - right;
        case Multiply:
            return left * right;
        case Divide:
            return left / right;
        case FloorDivide:
            return std::floor((left - modulo(left, right)) / right + 0.5);
        case Modulo:
            return modulo(left, right);
        default:
            return std::pow(left, right);
    }
}

Value concatenated(Arena& arena, const Value& left, const Value& right) {
    const String *text = string_of(left), *more = string_of(right);
    if (text && more) {
        Text whole = text->text;
        whole.append(more->text);
        return arena.string(std::move(whole));
    }
    const List *list = list_of(left), *further = list_of(right);
    if (!list || !further || list->form != further->form || list->form > List::Form::Tuple)
        refuse("+", left, right);
    Values items = list->items;
    items.insert(items.end(), further->items.begin(), further->items.end());
    return arena.list(std::move(items), list->form);
}

Value repeated(Arena& arena, const Value& value, int64_t count) {
    const auto times = static_cast<size_t>(std::max<int64_t>(count, 0));
    if (const String* string = string_of(value)) {
        if (string->text.size() == 0 || times == 0) return arena.string("");
        if (times > (size_t{1} << 31) / string->text.size())
            throw Error("a string is repeated too often");
        arena.hold(times * string->text.size());
        arena.spend(times);
        Text text;
        for (size_t each = 0; each < times; ++each) text.append(string->text);
        return arena.string(std::move(text));
    }
    const List* list = list_of(value);
    Values items;
    if (times > 0 && list->items.size() > (size_t{1} << 24) / times)
        throw Error("a list is repeated too often");
    arena.hold(times * list->items.size() * sizeof(Value));
    for (size_t each = 0; each < times; ++each)
        items.insert(items.end(), list->items.begin(), list->items.end());
    return arena.list(std::move(items), list->form);
}

bool repeatable(const Value& value) {
    const List* list = list_of(value);
    return string_of(value) || (list && list->form <= List::Form::Tuple);
}

bool equal_below(Arena& arena, const Value& left, const Value& right, int depth);

bool equal_lists(Arena& arena, const List& left, const List& right, int depth) {
    if (&left == &right) return true;
    if (left.form != right.form || left.items.size() != right.items.size()) return false;
    for (size_t at = 0; at < left.items.size(); ++at)
        if (!equal_below(arena, left.items[at], right.items[at], depth + 1)) return false;
    return true;
}

bool equal_dicts(Arena& arena, const Dict& left, const Dict& right, int depth) {
    if (&left == &right) return true;
    if (left.entries().size() != right.entries().size()) return false;
    for (const auto& [key, value] : left.entries()) {
        const Value* other = right.find(key);
        if (!other || !equal_below(arena, value, *other, depth + 1)) return false;
    }
    return true;
}

bool equal_below(Arena& arena, const Value& left, const Value& right, int depth) {
    if (depth > deepest) throw Error("what is compared is nested too deeply");
    arena.spend(1);
    if (is_number(left) && is_number(right))
        return !Dict::Less()(left, right) && !Dict::Less()(right, left) &&
               !std::isnan(as_double(left));
    if (left.index() != right.index()) return false;
    if (const String* string = string_of(left)) {
        const std::string& other = string_of(right)->text.bytes();
        if (string->text.size() == other.size()) arena.spend_on(left);
        return string == string_of(right) || string->text.bytes() == other;
    }
    if (const List* list = list_of(left)) return equal_lists(arena, *list, *list_of(right), depth);
    if (const Dict* dict = dict_of(left)) return equal_dicts(arena, *dict, *dict_of(right), depth);
    return left == right;
}

bool less_below(Arena& arena, const Value& left, const Value& right, int depth) {
    if (depth > deepest) throw Error("what is compared is nested too deeply");
    arena.spend(1);
    const String *text = string_of(left), *other = string_of(right);
    const bool numbers = is_number(left) && is_number(right);
    if (numbers && (std::isnan(as_double(left)) || std::isnan(as_double(right)))) return false;
    if (text && other) arena.spend_on(left);
    if (numbers || (text && other)) return Dict::Less()(left, right);
    const List *list = list_of(left), *further = list_of(right);
    if (!list || !further || list->form != further->form || list->form > List::Form::Tuple)
        refuse("<", left, right);
    const Values &a = list->items, &b = further->items;
    for (size_t at = 0; at < std::min(a.size(), b.size()); ++at)
        if (!equal_below(arena, a[at], b[at], depth + 1))
            return less_below(arena, a[at], b[at], depth + 1);
    return a.size() < b.size();
}

}  // namespace

double as_double(const Value& number) {
    if (const auto* real = get<double>(number)) return *real;
    return static_cast<double>(as_integer(number).value_or(0));
}

std::optional<int64_t> as_integer(const Value& value) {
    if (const auto* boolean = get<bool>(value)) return *boolean;
    if (const auto* integer = get<int64_t>(value)) return *integer;
    return std::nullopt;
}

Value calculate(Arena& arena, Binary::Operator op, const Value& left, const Value& right) {
    using enum Binary::Operator;
    const auto integer = as_integer(left), other = as_integer(right);
    if (integer && other) return calculate_integers(op, *integer, *other);
    if (is_number(left) && is_number(right))
        return calculate_doubles(op, as_double(left), as_double(right));
    if (op == Add) return concatenated(arena, left, right);
    if (op == Multiply && other && repeatable(left)) return repeated(arena, left, *other);
    if (op == Multiply && integer && repeatable(right)) return repeated(arena, right, *integer);
    if (op == Modulo && string_of(left)) {
        expect_defined(right);
        return arena.string(formatted(arena, *string_of(left), right));
    }
    constexpr const char* signs[] = {"+", "-", "*", "/", "//", "%", "**"};
    refuse(signs[static_cast<size_t>(op)], left, right);
}

Value negated(const Value& operand) {
    expect_defined(operand);
    if (const auto* real = get<double>(operand)) return -*real;
    const auto integer = as_integer(operand);
    if (!integer) throw Error(std::string("a ") + type_name(operand) + " has no negative");
    if (*integer == INT64_MIN) overflow();
    return -*integer;
}

bool equal(Arena& arena, const Value& left, const Value& right) {
    return equal_below(arena, left, right, 0);
}

bool less(Arena& arena, const Value& left, const Value& right) {
    return less_below(arena, left, right, 0);
}

bool contains(Arena& arena, const Value& container, const Value& element) {
    if (is_undefined(container)) return false;
    arena.spend_on(container);
    if (const String* string = string_of(container)) {
        const String* part = string_of(element);
        if (!part) refuse("in", element, container);
        arena.spend_on_search(*string, *part);
        return string->text.bytes().find(part->text.bytes()) != std::string::npos;
    }
    if (const Dict* dict = dict_of(container)) return dict->find(element) != nullptr;
    const List* list = list_of(container);
    if (!list) refuse("in", element, container);
    return std::any_of(list->items.begin(), list->items.end(),
                       [&](const Value& each) { return equal(arena, each, element); });
}

bool compare(Arena& arena, Comparison::Operator op, const Value& left, const Value& right) {
    using enum Comparison::Operator;
    switch (op) {
        case Equal:
            return equal(arena, left, right);
        case NotEqual:
            return !equal(arena, left, right);
        case Less:
            return less(arena, left, right);
        case Greater:
            return less(arena, right, left);
        case LessEqual:
            return less(arena, left, right) || equal(arena, left, right);
        case GreaterEqual:
            return less(arena, right, left) || equal(arena, left, right);
        case In:
            return contains(arena, right, left);
        case NotIn:
            return !contains(arena, right, left);
    }
    return false;
}

}  // namespace tandem::model::jinja
