// The grammar of expressions: from or to postfix, each level binding tighter than the one before.
#pragma once

#include <string>
#include <utility>

#include "model/jinja/syntax.h"
#include "model/jinja/token_stream.h"

namespace tandem::model::jinja {

class ExpressionParser {
  public:
    ExpressionParser(TokenStream& tokens, Syntax& syntax) : tokens_(tokens), syntax_(syntax) {}

    // One expression, or several with commas between them: a tuple.
    ExpressionPtr parse_tuple();
    // The same without `a if b`: the filter of a loop stands behind.
    ExpressionPtr parse_unconditional_tuple();
    ExpressionPtr parse();
    // Further filters behind the operand, which may be null: `| a | b(c)`.
    ExpressionPtr parse_filters(ExpressionPtr operand);
    // The names and calls of a filter block: `a(b) | c`.
    ExpressionPtr parse_filter_chain();
    ExpressionPtr parse_unary(bool with_filters = true);

    // Parsing goes as deep as the source, and the stack does not.
    class Level {
      public:
        explicit Level(ExpressionParser& parser);
        ~Level() { --parser_.depth_; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;

      private:
        ExpressionParser& parser_;
    };

  private:
    template <class Node>
    ExpressionPtr make(int line, Node node);

    ExpressionPtr parse_tuple(ExpressionPtr (ExpressionParser::*parse_item)());
    ExpressionPtr parse_or();
    ExpressionPtr parse_and();
    ExpressionPtr parse_not();
    ExpressionPtr parse_comparison();
    ExpressionPtr parse_sum();
    ExpressionPtr parse_concatenation();
    ExpressionPtr parse_product();
    ExpressionPtr parse_power();
    ExpressionPtr parse_postfix(ExpressionPtr operand);
    ExpressionPtr parse_filters_and_tests(ExpressionPtr operand);
    ExpressionPtr parse_filter(ExpressionPtr operand);
    ExpressionPtr parse_test(ExpressionPtr operand);
    ExpressionPtr parse_attribute(ExpressionPtr object);
    ExpressionPtr parse_subscript(ExpressionPtr object);
    ExpressionPtr parse_call(ExpressionPtr callee);
    ExpressionPtr parse_primary();
    ExpressionPtr parse_name();
    ExpressionPtr parse_strings();
    ExpressionPtr parse_number();
    ExpressionPtr parse_parentheses();
    ExpressionPtr parse_list();
    ExpressionPtr parse_dict();
    ArgumentList parse_arguments();
    std::string parse_dotted_name();
    bool ends_expression() const;

    TokenStream& tokens_;
    Syntax& syntax_;
    int depth_ = 0;
};

}  // namespace tandem::model::jinja
