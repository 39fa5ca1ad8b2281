#include "model/jinja/interpreter.h"

#include <utility>

#include "gguf/error.h"
#include "model/jinja/access.h"
#include "model/jinja/format.h"
#include "model/jinja/letters.h"
#include "model/jinja/operators.h"
#include "model/jinja/variables.h"

namespace tandem::model::jinja {
namespace {

// Statements and expressions inside of one another, through all calls. Each takes a few hundred
// bytes of the stack.
constexpr int deepest = 1500;

}  // namespace

Interpreter::Level::Level(Interpreter& interpreter) : interpreter_(interpreter) {
    if (interpreter.depth_ >= deepest)
        throw Error("calls are nested too deeply: does a macro call itself without end?");
    ++interpreter.depth_;
    interpreter.arena_.spend(1);
}

Text Interpreter::render(const nlohmann::ordered_json& variables) {
    loop_id_ = syntax_.find("loop");
    caller_id_ = syntax_.find("caller");
    scope_ = scopes_.open(nullptr);
    for (const Builtin& builtin : global_functions())
        if (const int id = syntax_.find(builtin.name); id >= 0)
            scope_->set(id, arena_.function({.builtin = &builtin}));
    for (const auto& [name, value] : variables.items())
        if (const int id = syntax_.find(name); id >= 0)
            scope_->set(id, value_of(arena_, value, name == "messages"));
    Text text;
    out_ = &text;
    line_ = 1;
    execute(syntax_.body);
    return text;
}

void Interpreter::raise(const std::string& words) {
    line_ = 0;
    throw Error(words);
}

Value Interpreter::evaluate(const Expression& expression) {
    const Level level(*this);
    const int line = std::exchange(line_, expression.line);
    const Value value =
        std::visit([this](const auto& node) { return evaluate(node); }, expression.node);
    line_ = line;
    return value;
}

Value Interpreter::evaluate(const Name& node) {
    const Value* value = scope_->find(node.id);
    return value ? *value : Undefined{.name = syntax_.names[static_cast<size_t>(node.id)]};
}

Value Interpreter::evaluate(const Display& node) {
    Values items;
    items.reserve(node.items.size());
    for (const ExpressionPtr& item : node.items) items.push_back(evaluate(*item));
    return arena_.list(std::move(items), node.tuple ? List::Form::Tuple : List::Form::List);
}

Value Interpreter::evaluate(const DictDisplay& node) {
    Dict* dict = arena_.dict();
    for (const auto& [key, value] : node.entries) {
        const Value key_value = evaluate(*key);
        arena_.set(*dict, key_value, evaluate(*value));
    }
    return dict;
}

Value Interpreter::evaluate(const Unary& node) {
    const Value operand = evaluate(*node.operand);
    if (node.op == Unary::Operator::Not) return !truth(operand);
    if (node.op == Unary::Operator::Minus) return negated(operand);
    if (!is_number(operand)) negated(operand);  // says what is wrong
    return get<bool>(operand) ? Value(*as_integer(operand)) : operand;
}

Value Interpreter::evaluate(const Binary& node) {
    const Value left = evaluate(*node.left);
    return calculate(arena_, node.op, left, evaluate(*node.right));
}

Value Interpreter::evaluate(const Concatenation& node) {
    Text whole;
    for (const ExpressionPtr& part : node.parts) {
        const Value value = evaluate(*part);
        if (const String* string = string_of(value)) {
            arena_.hold(string->text.size());
            whole.append(string->text);
        } else {
            whole.append(printed(arena_, value));
        }
    }
    return arena_.string(std::move(whole));
}

Value Interpreter::evaluate(const Logic& node) {
    const Value left = evaluate(*node.left);
    return truth(left) == node.conjunction ? evaluate(*node.right) : left;
}

Value Interpreter::evaluate(const Comparison& node) {
    Value left = evaluate(*node.first);
    for (const auto& [op, operand] : node.rest) {
        const Value right = evaluate(*operand);
        if (!compare(arena_, op, left, right)) return false;
        left = right;
    }
    return true;
}

Value Interpreter::evaluate(const Conditional& node) {
    if (truth(evaluate(*node.condition))) return evaluate(*node.then);
    if (node.otherwise) return evaluate(*node.otherwise);
    return Undefined{.owner = "the condition of an 'if' without 'else' is false"};
}

Value Interpreter::evaluate(const Attribute& node) {
    return attribute(evaluate(*node.object), node.name);
}

Value Interpreter::evaluate(const Item& node) {
    const Value object = evaluate(*node.object);
    return item(object, evaluate(*node.key));
}

Value Interpreter::evaluate(const Slice& node) {
    const Value object = evaluate(*node.object);
    std::optional<int64_t> parts[3];
    const ExpressionPtr* expressions[] = {&node.begin, &node.end, &node.step};
    for (size_t each = 0; each < 3; ++each) {
        if (!*expressions[each]) continue;
        const Value part = evaluate(**expressions[each]);
        if (is_none(part)) continue;
        parts[each] = as_integer(part);
        expect_defined(part);
        if (!parts[each]) throw Error("the bounds of a slice are integers");
    }
    return slice(arena_, object, parts[0], parts[1], parts[2]);
}

Arguments Interpreter::evaluate(const ArgumentList& list) {
    Arguments arguments;
    arguments.positional.reserve(list.positional.size() + 1);
    for (const ExpressionPtr& value : list.positional)
        arguments.positional.push_back(evaluate(*value));
    for (const auto& [name, value] : list.keywords)
        arguments.keywords.emplace_back(name, evaluate(*value));
    return arguments;
}

Value Interpreter::evaluate(const Call& node) {
    const Value callee = evaluate(*node.callee);
    return call(callee, evaluate(node.arguments));
}

Value Interpreter::evaluate(const Filter& node) {
    const Value operand = node.operand ? evaluate(*node.operand) : Value(block_text_);
    if (!node.builtin) throw Error("there is no filter '" + node.name + "'");
    Arguments arguments = evaluate(node.arguments);
    arguments.positional.insert(arguments.positional.begin(), operand);
    return call(*node.builtin, std::move(arguments));
}

Value Interpreter::evaluate(const Test& node) {
    const Value operand = evaluate(*node.operand);
    if (!node.builtin) throw Error("there is no test '" + node.name + "'");
    Arguments arguments = evaluate(node.arguments);
    arguments.positional.insert(arguments.positional.begin(), operand);
    return truth(call(*node.builtin, std::move(arguments))) != node.negated;
}

Value Interpreter::call(const Builtin& builtin, Arguments arguments) {
    // What walks over lists counts that itself: append() does not.
    for (const Value& argument : arguments.positional)
        if (string_of(argument)) arena_.spend_on(argument);
    if (arguments.positional.size() > 1) {
        const String* text = string_of(arguments.positional[0]);
        const String* part = string_of(arguments.positional[1]);
        if (text && part) arena_.spend_on_search(*text, *part);
    }
    return builtin.run(*this, bound(builtin, std::move(arguments)));
}

Value Interpreter::call(const Value& callee, Arguments arguments) {
    if (const auto* loop = get<Loop*>(callee)) return call_loop(**loop, arguments);
    const auto* function = get<const Function*>(callee);
    if (!function) {
        expect_defined(callee);
        throw Error(std::string("a ") + type_name(callee) + " cannot be called");
    }
    if ((*function)->macro) return call_macro(**function, std::move(arguments));
    const Value& self = (*function)->self;
    if (!is_undefined(self)) arguments.positional.insert(arguments.positional.begin(), self);
    return call(*(*function)->builtin, std::move(arguments));
}

Value Interpreter::call_macro(const Function& function, Arguments arguments) {
    const Level level(*this);
    const Macro& macro = *function.macro;
    const std::string name = macro.name->text.bytes();
    if (arguments.positional.size() > macro.parameters.size())
        throw Error(name + "(): too many arguments");
    Scope* const outer = std::exchange(scope_, scopes_.open(function.scope));
    for (const auto& [keyword, value] : arguments.keywords) {
        const int id = syntax_.find(keyword->text.bytes());
        bool known = id == caller_id_;
        for (size_t at = 0; at < macro.parameters.size(); ++at)
            known |= macro.parameters[at].id == id && at >= arguments.positional.size();
        if (!known)
            throw Error(name + "(): there is no argument '" + keyword->text.bytes() +
                        "', or it is there twice");
        scope_->set(id, value);
    }
    for (size_t at = 0; at < macro.parameters.size(); ++at) {
        const Macro::Parameter& parameter = macro.parameters[at];
        if (at < arguments.positional.size())
            scope_->set(parameter.id, arguments.positional[at]);
        else if (!scope_->holds(parameter.id))
            scope_->set(parameter.id, parameter.value ? evaluate(*parameter.value)
                                                      : Undefined{.name = parameter.name});
    }
    const String* text = captured(macro.body);
    scopes_.close(std::exchange(scope_, outer));
    return text;
}

Value Interpreter::call_loop(Loop& loop, const Arguments& arguments) {
    if (!loop.syntax->recursive) throw Error("the loop is not recursive");
    if (loop.ended) throw Error("the loop has ended");
    if (arguments.positional.size() != 1 || !arguments.keywords.empty())
        throw Error("loop() takes one argument");
    const Level level(*this);
    Scope* const outer = std::exchange(scope_, loop.scope);
    Text text;
    Text* const out = std::exchange(out_, &text);
    walk(*loop.syntax, arguments.positional[0], loop.depth + 1);
    out_ = out;
    scope_ = outer;
    return arena_.string(std::move(text));
}

}  // namespace tandem::model::jinja
