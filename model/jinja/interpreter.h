// Renders a syntax tree: evaluates its expressions, executes its statements.
#pragma once

#include <ctime>

#include <nlohmann/json.hpp>

#include "model/jinja/arena.h"
#include "model/jinja/scope.h"
#include "model/jinja/syntax.h"

namespace tandem::model::jinja {

class Interpreter {
  public:
    Interpreter(const Syntax& syntax, const std::tm& now) : syntax_(syntax), now_(now) {}

    // Throws Error, once only: then the interpreter is done.
    Text render(const nlohmann::ordered_json& variables);

    Arena& arena() { return arena_; }
    const std::tm& now() const { return now_; }
    // Where an Error comes from; 0: it is the template's own, raised.
    int line() const { return line_; }

    // For what is built in.
    Value call(const Value& callee, Arguments arguments);
    Value call(const Builtin& builtin, Arguments arguments);
    Value attribute(const Value& object, const String* name);
    Value item(const Value& object, const Value& key);
    // What a `for` walks over. Generators are empty thereafter.
    Values items(const Value& value);
    [[noreturn]] void raise(const std::string& words);

  private:
    enum class Flow { Next, Break, Continue };

    // A statement or an expression inside of others: the stack has an end, and so has time.
    class Level {
      public:
        explicit Level(Interpreter& interpreter);
        ~Level() { --interpreter_.depth_; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;

      private:
        Interpreter& interpreter_;
    };

    Value evaluate(const Expression& expression);
    Value evaluate(const Literal& node) { return node.value; }
    Value evaluate(const Name& node);
    Value evaluate(const Display& node);
    Value evaluate(const DictDisplay& node);
    Value evaluate(const Unary& node);
    Value evaluate(const Binary& node);
    Value evaluate(const Concatenation& node);
    Value evaluate(const Logic& node);
    Value evaluate(const Comparison& node);
    Value evaluate(const Conditional& node);
    Value evaluate(const Attribute& node);
    Value evaluate(const Item& node);
    Value evaluate(const Slice& node);
    Value evaluate(const Call& node);
    Value evaluate(const Filter& node);
    Value evaluate(const Test& node);
    Arguments evaluate(const ArgumentList& list);
    // The filters of a block; without any the text itself.
    Value filtered(const ExpressionPtr& filters, const String* text);

    Flow execute(const Statements& statements);
    Flow execute(const Statement& statement);
    Flow execute(const Plain& node);
    Flow execute(const Print& node);
    Flow execute(const If& node);
    Flow execute(const For& node);
    Flow execute(const Set& node);
    Flow execute(const SetBlock& node);
    Flow execute(const MacroDefinition& node);
    Flow execute(const CallBlock& node);
    Flow execute(const FilterBlock& node);
    Flow execute(const With& node);
    Flow execute(const Evaluate& node);
    Flow execute(const Block& node) { return execute(node.body); }
    Flow execute(const Break&) { return Flow::Break; }
    Flow execute(const Continue&) { return Flow::Continue; }

    Flow walk(const For& node, const Value& items, int depth);
    Values chosen(const For& node, Values items);
    void assign(const Target& target, const Value& value);
    void write(const Text& text);
    // For a macro that is defined in it.
    void keep_scope();
    // What the statements write, in a scope of their own.
    const String* captured(const Statements& statements);
    Value call_macro(const Function& function, Arguments arguments);
    Value call_loop(Loop& loop, const Arguments& arguments);

    const Syntax& syntax_;
    const std::tm now_;
    Arena arena_;
    Scopes scopes_;
    Scope* scope_ = nullptr;
    Text* out_ = nullptr;
    const String* block_text_ = nullptr;  // what the filters of a block begin with
    int line_ = 0;
    int depth_ = 0;
    int loop_id_ = -1;
    int caller_id_ = -1;
};

}  // namespace tandem::model::jinja
