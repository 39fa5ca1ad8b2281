// A template as a tree of statements and expressions. Names of variables are numbers.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/jinja/builtin.h"
#include "model/jinja/value.h"

namespace tandem::model::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;
using Expressions = std::vector<ExpressionPtr>;

struct ArgumentList {
    Expressions positional;
    std::vector<std::pair<const String*, ExpressionPtr>> keywords;
};

struct Literal {
    Value value;
};
struct Name {
    int id = 0;
};
struct Display {  // [a, b] or (a, b)
    Expressions items;
    bool tuple = false;
};
struct DictDisplay {
    std::vector<std::pair<ExpressionPtr, ExpressionPtr>> entries;
};
struct Unary {
    enum class Operator { Not, Minus, Plus } op;
    ExpressionPtr operand;
};
struct Binary {
    enum class Operator { Add, Subtract, Multiply, Divide, FloorDivide, Modulo, Power } op;
    ExpressionPtr left, right;
};
struct Concatenation {  // a ~ b ~ c
    Expressions parts;
};
struct Logic {  // `and`, or else `or`
    bool conjunction = false;
    ExpressionPtr left, right;
};
struct Comparison {  // a < b <= c
    enum class Operator { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, In, NotIn };
    ExpressionPtr first;
    std::vector<std::pair<Operator, ExpressionPtr>> rest;
};
struct Conditional {
    ExpressionPtr condition, then, otherwise;  // otherwise may be null
};
struct Attribute {
    ExpressionPtr object;
    const String* name = nullptr;
};
struct Item {
    ExpressionPtr object, key;
};
struct Slice {
    ExpressionPtr object, begin, end, step;  // all but the object may be null
};
struct Call {
    ExpressionPtr callee;
    ArgumentList arguments;
};
// Filters and tests that do not exist are an error only where they are used: a template may have
// them in branches that nobody takes.
struct Filter {
    ExpressionPtr operand;  // null: the text of a block
    std::string name;
    const Builtin* builtin = nullptr;
    ArgumentList arguments;
};
struct Test {
    ExpressionPtr operand;
    std::string name;
    const Builtin* builtin = nullptr;
    ArgumentList arguments;
    bool negated = false;
};

struct Expression {
    std::variant<Literal, Name, Display, DictDisplay, Unary, Binary, Concatenation, Logic,
                 Comparison, Conditional, Attribute, Item, Slice, Call, Filter, Test>
        node;
    int line = 0;
    int height = 1;  // of the tree below
};

struct Statement;
using Statements = std::vector<Statement>;

// What is assigned to: a variable, an attribute of a namespace, or several of them.
struct Target {
    int id = 0;
    const String* attribute = nullptr;  // null: the variable itself
    std::vector<Target> parts;          // not empty: a tuple
};

struct Macro {
    struct Parameter {
        int id = 0;
        const String* name = nullptr;
        ExpressionPtr value;  // may be null
    };
    const String* name = nullptr;
    int id = 0;
    std::vector<Parameter> parameters;
    Statements body;
};

struct Plain {  // text between tags
    const String* text = nullptr;
};
struct Print {
    ExpressionPtr value;
};
struct If {
    struct Branch {
        ExpressionPtr condition;  // null: else
        Statements body;
    };
    std::vector<Branch> branches;
};
struct For {
    Target target;
    ExpressionPtr items, condition;  // the condition may be null
    bool recursive = false;
    Statements body, otherwise;
};
struct Set {
    Target target;
    ExpressionPtr value;
};
struct SetBlock {
    Target target;
    ExpressionPtr filters;  // null: none
    Statements body;
};
struct MacroDefinition {
    Macro macro;
};
struct CallBlock {
    ExpressionPtr call;
    Macro caller;
};
struct FilterBlock {
    ExpressionPtr filters;
    Statements body;
};
struct With {
    std::vector<std::pair<Target, ExpressionPtr>> values;
    Statements body;
};
struct Evaluate {  // {% do ... %}
    ExpressionPtr value;
};
struct Block {  // {% generation %}
    Statements body;
};
struct Break {};
struct Continue {};

struct Statement {
    std::variant<Plain, Print, If, For, Set, SetBlock, MacroDefinition, CallBlock, FilterBlock,
                 With, Evaluate, Block, Break, Continue>
        node;
    int line = 0;
};

struct Syntax {
    Statements body;
    std::deque<String> strings;        // literals
    std::vector<const String*> names;  // by id
    std::map<std::string, int, std::less<>> ids;

    const String* string(std::string text);
    int id(std::string_view name);
    // Of a name that may not occur at all: -1.
    int find(std::string_view name) const;
};

}  // namespace tandem::model::jinja
