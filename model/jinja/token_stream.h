// The tokens of a template, read one after another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/jinja/lexer.h"

namespace tandem::model::jinja {

class TokenStream {
  public:
    explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

    const Token& front() const { return tokens_[at_]; }
    int line() const { return front().line; }
    bool is(TokenKind kind) const { return front().kind == kind; }
    bool is_operator(std::string_view text) const { return is(TokenKind::Operator, text, 0); }
    bool is_name(std::string_view text) const { return is(TokenKind::Name, text, 0); }
    bool second_is_operator(std::string_view text) const {
        return is(TokenKind::Operator, text, 1);
    }
    bool second_is_name(std::string_view text) const { return is(TokenKind::Name, text, 1); }

    Token take();
    // Whether it was there.
    bool take_operator(std::string_view text);
    bool take_name(std::string_view text);
    // Throw Error where it is not there.
    void expect_operator(std::string_view text);
    void expect_name(std::string_view text);
    void expect(TokenKind kind, const char* what);
    std::string expect_any_name();

    // Throws Error about the token in front.
    [[noreturn]] void fail_unexpected(const std::string& wanted) const;
    [[noreturn]] void fail(const std::string& what) const;

  private:
    bool is(TokenKind kind, std::string_view text, size_t offset) const;

    std::vector<Token> tokens_;
    size_t at_ = 0;
};

}  // namespace tandem::model::jinja
