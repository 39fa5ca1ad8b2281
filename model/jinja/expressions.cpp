#include "model/jinja/expressions.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "gguf/error.h"

namespace tandem::model::jinja {
namespace {

constexpr int deepest = 400;  // brackets in brackets, blocks in blocks
constexpr int highest = 500;  // operators whose operands are operators

// The tree below a node is as high as the highest below its parts.
void measure(int& height, const ExpressionPtr& part) {
    if (part) height = std::max(height, part->height + 1);
}
void measure(int& height, const Expressions& parts) {
    for (const ExpressionPtr& part : parts) measure(height, part);
}
void measure(int& height, const ArgumentList& arguments) {
    measure(height, arguments.positional);
    for (const auto& [name, value] : arguments.keywords) measure(height, value);
}
void measure(int&, const Literal&) {}
void measure(int&, const Name&) {}
void measure(int& height, const Display& node) { measure(height, node.items); }
void measure(int& height, const DictDisplay& node) {
    for (const auto& [key, value] : node.entries) {
        measure(height, key);
        measure(height, value);
    }
}
void measure(int& height, const Unary& node) { measure(height, node.operand); }
void measure(int& height, const Binary& node) {
    measure(height, node.left);
    measure(height, node.right);
}
void measure(int& height, const Concatenation& node) { measure(height, node.parts); }
void measure(int& height, const Logic& node) {
    measure(height, node.left);
    measure(height, node.right);
}
void measure(int& height, const Comparison& node) {
    measure(height, node.first);
    for (const auto& [op, operand] : node.rest) measure(height, operand);
}
void measure(int& height, const Conditional& node) {
    measure(height, node.condition);
    measure(height, node.then);
    measure(height, node.otherwise);
}
void measure(int& height, const Attribute& node) { measure(height, node.object); }
void measure(int& height, const Item& node) {
    measure(height, node.object);
    measure(height, node.key);
}
void measure(int& height, const Slice& node) {
    for (const auto* part : {&node.object, &node.begin, &node.end, &node.step})
        measure(height, *part);
}
void measure(int& height, const Call& node) {
    measure(height, node.callee);
    measure(height, node.arguments);
}
void measure(int& height, const Filter& node) {
    measure(height, node.operand);
    measure(height, node.arguments);
}
void measure(int& height, const Test& node) {
    measure(height, node.operand);
    measure(height, node.arguments);
}

template <class Operator>
struct Spelling {
    std::string_view text;
    Operator op;
};

template <class Operator, size_t count>
std::optional<Operator> take_any(TokenStream& tokens,
                                 const Spelling<Operator> (&spellings)[count]) {
    for (const auto& [text, op] : spellings)
        if (tokens.take_operator(text)) return op;
    return std::nullopt;
}

std::optional<Comparison::Operator> take_comparison(TokenStream& tokens) {
    using enum Comparison::Operator;
    static constexpr Spelling<Comparison::Operator> spellings[] = {
        {"==", Equal},     {"!=", NotEqual}, {"<", Less},
        {"<=", LessEqual}, {">", Greater},   {">=", GreaterEqual}};
    if (const auto op = take_any(tokens, spellings)) return op;
    if (tokens.take_name("in")) return In;
    if (!tokens.is_name("not") || !tokens.second_is_name("in")) return std::nullopt;
    tokens.take();
    tokens.take();
    return NotIn;
}

int64_t integer(const TokenStream& tokens, std::string_view digits) {
    const char prefix = digits.size() > 1 ? static_cast<char>(digits[1] | 0x20) : '\0';
    const int base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 10;
    if (base != 10) digits.remove_prefix(2);
    int64_t number = 0;
    const auto [end, fault] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    if (fault == std::errc::result_out_of_range)
        tokens.fail("the number " + std::string(digits) + " needs more than 64 bits");
    if (fault != std::errc() || end != digits.data() + digits.size())
        tokens.fail("'" + std::string(digits) + "' is no number");
    return number;
}

}  // namespace

ExpressionParser::Level::Level(ExpressionParser& parser) : parser_(parser) {
    if (parser.depth_ >= deepest) parser.tokens_.fail("the template is nested too deeply");
    ++parser.depth_;
}

template <class Node>
ExpressionPtr ExpressionParser::make(int line, Node node) {
    int height = 1;
    measure(height, node);
    if (height > highest) tokens_.fail("the expression is too long");
    return std::make_unique<Expression>(Expression{std::move(node), line, height});
}

// Whether a tuple has no further element here.
bool ExpressionParser::ends_expression() const {
    return tokens_.is(TokenKind::PrintEnd) || tokens_.is(TokenKind::BlockEnd) ||
           tokens_.is_operator(")") || tokens_.is_operator("]") || tokens_.is_operator(":") ||
           tokens_.is_operator("=") || tokens_.is_name("in") || tokens_.is_name("recursive") ||
           tokens_.is_name("if");
}

ExpressionPtr ExpressionParser::parse_tuple() { return parse_tuple(&ExpressionParser::parse); }
ExpressionPtr ExpressionParser::parse_unconditional_tuple() {
    return parse_tuple(&ExpressionParser::parse_or);
}

ExpressionPtr ExpressionParser::parse_tuple(ExpressionPtr (ExpressionParser::*parse_item)()) {
    const Level level(*this);
    const int line = tokens_.line();
    Display tuple{.tuple = true};
    tuple.items.push_back((this->*parse_item)());
    if (!tokens_.is_operator(",")) return std::move(tuple.items[0]);
    while (tokens_.take_operator(",") && !ends_expression())
        tuple.items.push_back((this->*parse_item)());
    return make(line, std::move(tuple));
}

ExpressionPtr ExpressionParser::parse() {
    const Level level(*this);
    const int line = tokens_.line();
    ExpressionPtr value = parse_or();
    while (tokens_.take_name("if")) {
        Conditional node{.condition = parse_or(), .then = std::move(value)};
        if (tokens_.take_name("else")) node.otherwise = parse();
        value = make(line, std::move(node));
    }
    return value;
}

ExpressionPtr ExpressionParser::parse_or() {
    const int line = tokens_.line();
    ExpressionPtr left = parse_and();
    while (tokens_.take_name("or"))
        left = make(line, Logic{.left = std::move(left), .right = parse_and()});
    return left;
}

ExpressionPtr ExpressionParser::parse_and() {
    const int line = tokens_.line();
    ExpressionPtr left = parse_not();
    while (tokens_.take_name("and"))
        left =
            make(line, Logic{.conjunction = true, .left = std::move(left), .right = parse_not()});
    return left;
}

ExpressionPtr ExpressionParser::parse_not() {
    const Level level(*this);
    const int line = tokens_.line();
    if (!tokens_.take_name("not")) return parse_comparison();
    return make(line, Unary{Unary::Operator::Not, parse_not()});
}

ExpressionPtr ExpressionParser::parse_comparison() {
    const int line = tokens_.line();
    Comparison node{.first = parse_sum()};
    while (const auto op = take_comparison(tokens_)) node.rest.emplace_back(*op, parse_sum());
    return node.rest.empty() ? std::move(node.first) : make(line, std::move(node));
}

ExpressionPtr ExpressionParser::parse_sum() {
    using enum Binary::Operator;
    static constexpr Spelling<Binary::Operator> spellings[] = {{"+", Add}, {"-", Subtract}};
    const int line = tokens_.line();
    ExpressionPtr left = parse_concatenation();
    while (const auto op = take_any(tokens_, spellings))
        left = make(line, Binary{*op, std::move(left), parse_concatenation()});
    return left;
}

ExpressionPtr ExpressionParser::parse_concatenation() {
    const int line = tokens_.line();
    Concatenation node;
    do node.parts.push_back(parse_product());
    while (tokens_.take_operator("~"));
    return node.parts.size() == 1 ? std::move(node.parts[0]) : make(line, std::move(node));
}

ExpressionPtr ExpressionParser::parse_product() {
    using enum Binary::Operator;
    static constexpr Spelling<Binary::Operator> spellings[] = {
        {"*", Multiply}, {"/", Divide}, {"//", FloorDivide}, {"%", Modulo}};
    const int line = tokens_.line();
    ExpressionPtr left = parse_power();
    while (const auto op = take_any(tokens_, spellings))
        left = make(line, Binary{*op, std::move(left), parse_power()});
    return left;
}

// From the left, other than in Python.
ExpressionPtr ExpressionParser::parse_power() {
    const int line = tokens_.line();
    ExpressionPtr left = parse_unary();
    while (tokens_.take_operator("**"))
        left = make(line, Binary{Binary::Operator::Power, std::move(left), parse_unary()});
    return left;
}

// Filters apply to the number with its sign, attributes to what stands behind it.
ExpressionPtr ExpressionParser::parse_unary(bool with_filters) {
    const Level level(*this);
    const int line = tokens_.line();
    ExpressionPtr value;
    if (tokens_.take_operator("-"))
        value = make(line, Unary{Unary::Operator::Minus, parse_unary(false)});
    else if (tokens_.take_operator("+"))
        value = make(line, Unary{Unary::Operator::Plus, parse_unary(false)});
    else
        value = parse_primary();
    value = parse_postfix(std::move(value));
    return with_filters ? parse_filters_and_tests(std::move(value)) : std::move(value);
}

ExpressionPtr ExpressionParser::parse_postfix(ExpressionPtr operand) {
    for (;;) {
        if (tokens_.is_operator("."))
            operand = parse_attribute(std::move(operand));
        else if (tokens_.is_operator("["))
            operand = parse_subscript(std::move(operand));
        else if (tokens_.is_operator("("))
            operand = parse_call(std::move(operand));
        else
            return operand;
    }
}

ExpressionPtr ExpressionParser::parse_filters_and_tests(ExpressionPtr operand) {
    for (;;) {
        if (tokens_.take_operator("|"))
            operand = parse_filter(std::move(operand));
        else if (tokens_.take_name("is"))
            operand = parse_test(std::move(operand));
        else if (tokens_.is_operator("("))
            operand = parse_call(std::move(operand));
        else
            return operand;
    }
}

ExpressionPtr ExpressionParser::parse_filters(ExpressionPtr operand) {
    while (tokens_.take_operator("|")) operand = parse_filter(std::move(operand));
    return operand;
}

ExpressionPtr ExpressionParser::parse_filter_chain() {
    return parse_filters(parse_filter(nullptr));
}

std::string ExpressionParser::parse_dotted_name() {
    std::string name = tokens_.expect_any_name();
    while (tokens_.take_operator(".")) name += "." + tokens_.expect_any_name();
    return name;
}

ExpressionPtr ExpressionParser::parse_filter(ExpressionPtr operand) {
    const int line = tokens_.line();
    Filter node{.operand = std::move(operand), .name = parse_dotted_name()};
    node.builtin = find_filter(node.name);
    if (tokens_.is_operator("(")) node.arguments = parse_arguments();
    return make(line, std::move(node));
}

// One argument may stand behind the test without parentheses.
ExpressionPtr ExpressionParser::parse_test(ExpressionPtr operand) {
    const int line = tokens_.line();
    const bool negated = tokens_.take_name("not");
    Test node{.operand = std::move(operand), .name = parse_dotted_name(), .negated = negated};
    node.builtin = find_test(node.name);
    constexpr std::string_view keywords[] = {"and", "or", "else", "if", "in", "not", "is"};
    const bool keyword = std::any_of(std::begin(keywords), std::end(keywords),
                                     [&](std::string_view each) { return tokens_.is_name(each); });
    const bool begins_operand = tokens_.is(TokenKind::Name) || tokens_.is(TokenKind::String) ||
                                tokens_.is(TokenKind::Integer) || tokens_.is(TokenKind::Float) ||
                                tokens_.is_operator("[") || tokens_.is_operator("{");
    if (tokens_.is_operator("("))
        node.arguments = parse_arguments();
    else if (begins_operand && !keyword)
        node.arguments.positional.push_back(parse_postfix(parse_primary()));
    return make(line, std::move(node));
}

ExpressionPtr ExpressionParser::parse_attribute(ExpressionPtr object) {
    const int line = tokens_.line();
    tokens_.expect_operator(".");
    if (tokens_.is(TokenKind::Integer)) return make(line, Item{std::move(object), parse_number()});
    const std::string name = tokens_.expect_any_name();
    return make(line, Attribute{std::move(object), syntax_.names[syntax_.id(name)]});
}

ExpressionPtr ExpressionParser::parse_subscript(ExpressionPtr object) {
    const int line = tokens_.line();
    tokens_.expect_operator("[");
    const auto parse_part = [&]() -> ExpressionPtr {
        return tokens_.is_operator(":") || tokens_.is_operator("]") ? nullptr : parse_tuple();
    };
    Slice slice{.begin = parse_part()};
    if (!tokens_.is_operator(":")) {
        tokens_.expect_operator("]");
        if (!slice.begin) tokens_.fail("expected an index between brackets");
        return make(line, Item{std::move(object), std::move(slice.begin)});
    }
    tokens_.take();
    slice.end = parse_part();
    if (tokens_.take_operator(":")) slice.step = parse_part();
    tokens_.expect_operator("]");
    slice.object = std::move(object);
    return make(line, std::move(slice));
}

ExpressionPtr ExpressionParser::parse_call(ExpressionPtr callee) {
    const int line = tokens_.line();
    return make(line, Call{std::move(callee), parse_arguments()});
}

ArgumentList ExpressionParser::parse_arguments() {
    ArgumentList arguments;
    tokens_.expect_operator("(");
    while (!tokens_.take_operator(")")) {
        if (tokens_.is_operator("*") || tokens_.is_operator("**"))
            tokens_.fail("arguments with * are not supported");
        if (tokens_.is(TokenKind::Name) && tokens_.second_is_operator("=")) {
            const String* name = syntax_.names[syntax_.id(tokens_.take().text)];
            tokens_.take();
            for (const auto& [other, value] : arguments.keywords)
                if (other == name) tokens_.fail("the argument is there twice");
            arguments.keywords.emplace_back(name, parse());
        } else if (arguments.keywords.empty()) {
            arguments.positional.push_back(parse());
        } else {
            tokens_.fail("an argument without a name stands behind one with a name");
        }
        if (!tokens_.is_operator(")")) tokens_.expect_operator(",");
    }
    return arguments;
}

ExpressionPtr ExpressionParser::parse_primary() {
    if (tokens_.is(TokenKind::Name)) return parse_name();
    if (tokens_.is(TokenKind::String)) return parse_strings();
    if (tokens_.is(TokenKind::Integer) || tokens_.is(TokenKind::Float)) return parse_number();
    if (tokens_.is_operator("(")) return parse_parentheses();
    if (tokens_.is_operator("[")) return parse_list();
    if (tokens_.is_operator("{")) return parse_dict();
    tokens_.fail_unexpected("an expression");
}

ExpressionPtr ExpressionParser::parse_name() {
    const Token token = tokens_.take();
    if (token.text == "true" || token.text == "True") return make(token.line, Literal{true});
    if (token.text == "false" || token.text == "False") return make(token.line, Literal{false});
    if (token.text == "none" || token.text == "None") return make(token.line, Literal{None{}});
    return make(token.line, Name{syntax_.id(token.text)});
}

// Strings that stand one behind another are one.
ExpressionPtr ExpressionParser::parse_strings() {
    const int line = tokens_.line();
    std::string text;
    while (tokens_.is(TokenKind::String)) text += tokens_.take().text;
    return make(line, Literal{syntax_.string(std::move(text))});
}

ExpressionPtr ExpressionParser::parse_number() {
    const Token token = tokens_.front();
    if (token.kind == TokenKind::Integer) {
        const int64_t number = integer(tokens_, token.text);
        tokens_.take();
        return make(token.line, Literal{number});
    }
    double number = 0;
    const auto [end, fault] =
        std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
    if (fault != std::errc()) tokens_.fail("the number " + token.text + " is too large or small");
    tokens_.take();
    return make(token.line, Literal{number});
}

ExpressionPtr ExpressionParser::parse_parentheses() {
    const int line = tokens_.line();
    tokens_.expect_operator("(");
    if (tokens_.take_operator(")")) return make(line, Display{.tuple = true});
    ExpressionPtr value = parse_tuple();
    tokens_.expect_operator(")");
    return value;
}

ExpressionPtr ExpressionParser::parse_list() {
    const int line = tokens_.line();
    Display list;
    tokens_.expect_operator("[");
    while (!tokens_.take_operator("]")) {
        list.items.push_back(parse());
        if (!tokens_.is_operator("]")) tokens_.expect_operator(",");
    }
    return make(line, std::move(list));
}

ExpressionPtr ExpressionParser::parse_dict() {
    const int line = tokens_.line();
    DictDisplay dict;
    tokens_.expect_operator("{");
    while (!tokens_.take_operator("}")) {
        ExpressionPtr key = parse();
        tokens_.expect_operator(":");
        dict.entries.emplace_back(std::move(key), parse());
        if (!tokens_.is_operator("}")) tokens_.expect_operator(",");
    }
    return make(line, std::move(dict));
}

}  // namespace tandem::model::jinja
