#include "model/jinja/parser.h"

#include <algorithm>
#include <initializer_list>

#include "gguf/error.h"
#include "model/jinja/expressions.h"

namespace tandem::model::jinja {
namespace {

using Words = std::initializer_list<std::string_view>;

class Parser {
  public:
    explicit Parser(std::string_view source)
        : tokens_(tokenize(source)), expressions_(tokens_, syntax_) {}

    Syntax parse() {
        syntax_.body = parse_body({});
        return std::move(syntax_);
    }

  private:
    Statements parse_body(Words ends);
    void parse_block(Statements& body);
    void end_block() { tokens_.expect(TokenKind::BlockEnd, "'%}'"); }
    // The rest of a tag, what stands behind it, and the tag that ends it, but for its "%}".
    // Only tags that the loop around it sees through may end its round.
    Statements parse_rest(std::string_view end, bool within_loop = false);

    If parse_if();
    For parse_for();
    void parse_set(Statements& body, int line);
    Macro parse_macro();
    std::vector<Macro::Parameter> parse_parameters();
    CallBlock parse_call();
    With parse_with();
    Target parse_target();
    Target parse_single_target();

    Syntax syntax_;
    TokenStream tokens_;
    ExpressionParser expressions_;
    int loops_ = 0;  // around the statement, within its macro
    // Blocks that are open, for messages: their names and lines.
    std::vector<std::pair<std::string, int>> open_;
};

// Up to the tag that begins with one of these words, which is taken off but for the words; without
// any: up to the end.
Statements Parser::parse_body(Words ends) {
    const ExpressionParser::Level level(expressions_);
    Statements body;
    for (;;) {
        const Token token = tokens_.front();
        if (token.kind == TokenKind::End) {
            if (ends.size() == 0) return body;
            throw Error(at_line(open_.back().second) + "'" + open_.back().first +
                        "' begins here and has no end" + open_.back().first);
        }
        tokens_.take();
        if (token.kind == TokenKind::Text) {
            body.push_back({Plain{syntax_.string(token.text)}, token.line});
        } else if (token.kind == TokenKind::PrintBegin) {
            body.push_back({Print{expressions_.parse_tuple()}, token.line});
            tokens_.expect(TokenKind::PrintEnd, "'}}'");
        } else {
            if (std::any_of(ends.begin(), ends.end(),
                            [&](std::string_view each) { return tokens_.is_name(each); }))
                return body;
            parse_block(body);
        }
    }
}

Statements Parser::parse_rest(std::string_view end, bool within_loop) {
    end_block();
    const int loops = std::exchange(loops_, within_loop ? loops_ : 0);
    Statements body = parse_body({end});
    loops_ = loops;
    tokens_.expect_name(end);
    return body;
}

void Parser::parse_block(Statements& body) {
    const int line = tokens_.line();
    const std::string name = tokens_.expect_any_name();
    open_.emplace_back(name, line);
    const auto add = [&](auto node) { body.push_back({std::move(node), line}); };
    if (name == "if") {
        add(parse_if());
    } else if (name == "for") {
        add(parse_for());
    } else if (name == "set") {
        parse_set(body, line);
    } else if (name == "macro") {
        add(MacroDefinition{parse_macro()});
    } else if (name == "call") {
        add(parse_call());
    } else if (name == "filter") {
        ExpressionPtr filters = expressions_.parse_filter_chain();
        add(FilterBlock{std::move(filters), parse_rest("endfilter")});
    } else if (name == "with") {
        add(parse_with());
    } else if (name == "do") {
        add(Evaluate{expressions_.parse_tuple()});
    } else if (name == "generation") {
        add(Block{parse_rest("endgeneration", true)});
    } else if ((name == "break" || name == "continue") && loops_ > 0) {
        if (name == "break")
            add(Break{});
        else
            add(Continue{});
    } else if (name == "break" || name == "continue") {
        throw Error(at_line(line) + "'" + name + "' outside of a loop");
    } else {
        throw Error(at_line(line) + "unknown tag '" + name + "'");
    }
    end_block();
    open_.pop_back();
}

If Parser::parse_if() {
    If node;
    node.branches.push_back({expressions_.parse_tuple(), {}});
    for (;;) {
        end_block();
        node.branches.back().body = parse_body({"elif", "else", "endif"});
        if (tokens_.take_name("endif")) return node;
        if (!node.branches.back().condition) tokens_.fail("unexpected tag behind an else");
        const bool otherwise = tokens_.take_name("else");
        if (!otherwise) tokens_.expect_name("elif");
        node.branches.push_back({otherwise ? nullptr : expressions_.parse_tuple(), {}});
    }
}

For Parser::parse_for() {
    For node{.target = parse_target()};
    tokens_.expect_name("in");
    node.items = expressions_.parse_unconditional_tuple();
    if (tokens_.take_name("if")) node.condition = expressions_.parse();
    node.recursive = tokens_.take_name("recursive");
    end_block();
    ++loops_;
    node.body = parse_body({"else", "endfor"});
    --loops_;
    if (tokens_.take_name("else")) {
        end_block();
        node.otherwise = parse_body({"endfor"});
    }
    tokens_.expect_name("endfor");
    return node;
}

void Parser::parse_set(Statements& body, int line) {
    Target target = parse_target();
    if (tokens_.take_operator("=")) {
        body.push_back({Set{std::move(target), expressions_.parse_tuple()}, line});
        return;
    }
    ExpressionPtr filters =
        tokens_.take_operator("|") ? expressions_.parse_filter_chain() : nullptr;
    Statements text = parse_rest("endset");
    body.push_back({SetBlock{std::move(target), std::move(filters), std::move(text)}, line});
}

Target Parser::parse_target() {
    const ExpressionParser::Level level(expressions_);
    Target target = parse_single_target();
    if (!tokens_.is_operator(",")) return target;
    Target tuple;
    tuple.parts.push_back(std::move(target));
    while (tokens_.take_operator(",")) {
        if (tokens_.is_operator(")") || tokens_.is_operator("=") || tokens_.is_name("in")) break;
        tuple.parts.push_back(parse_single_target());
    }
    return tuple;
}

Target Parser::parse_single_target() {
    if (tokens_.take_operator("(")) {
        Target target = parse_target();
        tokens_.expect_operator(")");
        return target;
    }
    const std::string name = tokens_.expect_any_name();
    for (const std::string_view literal : {"true", "True", "false", "False", "none", "None"})
        if (name == literal) tokens_.fail("'" + name + "' cannot be set");
    Target target{.id = syntax_.id(name)};
    if (tokens_.take_operator("."))
        target.attribute = syntax_.names[syntax_.id(tokens_.expect_any_name())];
    return target;
}

Macro Parser::parse_macro() {
    const int id = syntax_.id(tokens_.expect_any_name());
    Macro macro{.name = syntax_.names[id], .id = id, .parameters = parse_parameters()};
    macro.body = parse_rest("endmacro");
    return macro;
}

std::vector<Macro::Parameter> Parser::parse_parameters() {
    std::vector<Macro::Parameter> parameters;
    tokens_.expect_operator("(");
    while (!tokens_.take_operator(")")) {
        const int id = syntax_.id(tokens_.expect_any_name());
        parameters.push_back({.id = id, .name = syntax_.names[id]});
        if (tokens_.take_operator("="))
            parameters.back().value = expressions_.parse();
        else if (parameters.size() > 1 && parameters.end()[-2].value)
            tokens_.fail("a parameter without a default stands behind one with a default");
        if (!tokens_.is_operator(")")) tokens_.expect_operator(",");
    }
    return parameters;
}

CallBlock Parser::parse_call() {
    CallBlock node;
    const int id = syntax_.id("caller");
    node.caller = {.name = syntax_.names[id], .id = id};
    if (tokens_.is_operator("(")) node.caller.parameters = parse_parameters();
    node.call = expressions_.parse_unary();
    if (!std::holds_alternative<Call>(node.call->node)) tokens_.fail("expected a call");
    node.caller.body = parse_rest("endcall");
    return node;
}

With Parser::parse_with() {
    With node;
    while (!tokens_.is(TokenKind::BlockEnd)) {
        Target target = parse_target();
        tokens_.expect_operator("=");
        node.values.emplace_back(std::move(target), expressions_.parse());
        if (!tokens_.take_operator(",")) break;
    }
    node.body = parse_rest("endwith", true);
    return node;
}

}  // namespace

Syntax parse(std::string_view source) { return Parser(source).parse(); }

}  // namespace tandem::model::jinja
