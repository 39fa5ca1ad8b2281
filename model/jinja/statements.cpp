// The part of the interpreter that executes statements.
#include <utility>

#include "gguf/error.h"
#include "model/jinja/format.h"
#include "model/jinja/interpreter.h"

namespace tandem::model::jinja {

Interpreter::Flow Interpreter::execute(const Statements& statements) {
    for (const Statement& statement : statements)
        if (const Flow flow = execute(statement); flow != Flow::Next) return flow;
    return Flow::Next;
}

Interpreter::Flow Interpreter::execute(const Statement& statement) {
    const Level level(*this);
    line_ = statement.line;
    return std::visit([this](const auto& node) { return execute(node); }, statement.node);
}

void Interpreter::write(const Text& text) {
    arena_.hold(text.size() + text.given().size() * sizeof(ByteRange));
    out_->append(text);
}

Interpreter::Flow Interpreter::execute(const Plain& node) {
    write(node.text->text);
    return Flow::Next;
}

Interpreter::Flow Interpreter::execute(const Print& node) {
    const Value value = evaluate(*node.value);
    if (const String* string = string_of(value))
        write(string->text);
    else
        write(printed(arena_, value));
    return Flow::Next;
}

Interpreter::Flow Interpreter::execute(const If& node) {
    for (const auto& [condition, body] : node.branches)
        if (!condition || truth(evaluate(*condition))) return execute(body);
    return Flow::Next;
}

Interpreter::Flow Interpreter::execute(const For& node) {
    return walk(node, evaluate(*node.items), 0);
}

Interpreter::Flow Interpreter::walk(const For& node, const Value& walked, int depth) {
    Values all = items(walked);
    if (node.condition) all = chosen(node, std::move(all));
    Scope* const outer = scope_;
    scope_ = scopes_.open(outer);
    if (all.empty()) {
        const Flow flow = execute(node.otherwise);
        scopes_.close(std::exchange(scope_, outer));
        return flow;
    }
    Loop* loop = arena_.loop();
    loop->items = std::move(all);
    loop->depth = depth;
    loop->syntax = &node;
    loop->scope = outer;
    for (; loop->index < loop->items.size(); ++loop->index) {
        arena_.spend(1);
        scope_ = scopes_.renew(scope_);
        if (loop_id_ >= 0) scope_->set(loop_id_, loop);
        assign(node.target, loop->items[loop->index]);
        if (execute(node.body) == Flow::Break) break;
    }
    loop->ended = true;
    arena_.release(loop->items.size() * sizeof(Value));
    loop->items = {};
    scopes_.close(std::exchange(scope_, outer));
    return Flow::Next;
}

// Those that the condition of the loop holds for.
Values Interpreter::chosen(const For& node, Values all) {
    Scope* const outer = scope_;
    scope_ = scopes_.open(outer);
    Values chosen;
    for (const Value& value : all) {
        scope_ = scopes_.renew(scope_);
        assign(node.target, value);
        if (truth(evaluate(*node.condition))) chosen.push_back(value);
    }
    scopes_.close(std::exchange(scope_, outer));
    return chosen;
}

void Interpreter::assign(const Target& target, const Value& value) {
    if (!target.parts.empty()) {
        const Values values = items(value);
        if (values.size() != target.parts.size())
            throw Error("there are " + std::to_string(values.size()) + " values for " +
                        std::to_string(target.parts.size()) + " variables");
        for (size_t at = 0; at < values.size(); ++at) assign(target.parts[at], values[at]);
        return;
    }
    if (!target.attribute) {
        scope_->set(target.id, value);
        return;
    }
    const Value* object = scope_->find(target.id);
    const auto* name_space = object ? get<Namespace*>(*object) : nullptr;
    if (!name_space) throw Error("only attributes of a namespace can be set");
    arena_.set((*name_space)->attributes, target.attribute, value);
}

Interpreter::Flow Interpreter::execute(const Set& node) {
    assign(node.target, evaluate(*node.value));
    return Flow::Next;
}

const String* Interpreter::captured(const Statements& statements) {
    Text text;
    Text* const out = std::exchange(out_, &text);
    Scope* const outer = std::exchange(scope_, scopes_.open(scope_));
    execute(statements);
    scopes_.close(std::exchange(scope_, outer));
    out_ = out;
    return arena_.string(std::move(text));
}

Value Interpreter::filtered(const ExpressionPtr& filters, const String* text) {
    if (!filters) return text;
    block_text_ = text;
    return evaluate(*filters);
}

Interpreter::Flow Interpreter::execute(const SetBlock& node) {
    assign(node.target, filtered(node.filters, captured(node.body)));
    return Flow::Next;
}

Interpreter::Flow Interpreter::execute(const FilterBlock& node) {
    write(printed(arena_, filtered(node.filters, captured(node.body))));
    return Flow::Next;
}

void Interpreter::keep_scope() {
    arena_.hold(sizeof(Scope) + scope_->variables.size() * sizeof(Value));
    Scopes::keep(scope_);
}

Interpreter::Flow Interpreter::execute(const MacroDefinition& node) {
    keep_scope();
    scope_->set(node.macro.id, arena_.function({.macro = &node.macro, .scope = scope_}));
    return Flow::Next;
}

Interpreter::Flow Interpreter::execute(const CallBlock& node) {
    const Call& call_node = std::get<Call>(node.call->node);
    const Value callee = evaluate(*call_node.callee);
    Arguments arguments = evaluate(call_node.arguments);
    keep_scope();
    arguments.keywords.emplace_back(node.caller.name,
                                    arena_.function({.macro = &node.caller, .scope = scope_}));
    write(printed(arena_, call(callee, std::move(arguments))));
    return Flow::Next;
}

Interpreter::Flow Interpreter::execute(const With& node) {
    Scope* const outer = std::exchange(scope_, scopes_.open(scope_));
    for (const auto& [target, value] : node.values) assign(target, evaluate(*value));
    const Flow flow = execute(node.body);
    scopes_.close(std::exchange(scope_, outer));
    return flow;
}

Interpreter::Flow Interpreter::execute(const Evaluate& node) {
    evaluate(*node.value);
    return Flow::Next;
}

}  // namespace tandem::model::jinja
