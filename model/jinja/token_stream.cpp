#include "model/jinja/token_stream.h"

#include <algorithm>

#include "gguf/error.h"

namespace tandem::model::jinja {
namespace {

std::string words_of(const Token& token) {
    switch (token.kind) {
        case TokenKind::Text:
            return "text";
        case TokenKind::PrintBegin:
            return "'{{'";
        case TokenKind::PrintEnd:
            return "'}}'";
        case TokenKind::BlockBegin:
            return "'{%'";
        case TokenKind::BlockEnd:
            return "'%}'";
        case TokenKind::String:
            return "a string";
        case TokenKind::End:
            return "the end of the template";
        default:
            return "'" + token.text + "'";
    }
}

}  // namespace

bool TokenStream::is(TokenKind kind, std::string_view text, size_t offset) const {
    const Token& token = tokens_[std::min(at_ + offset, tokens_.size() - 1)];
    return token.kind == kind && token.text == text;
}

Token TokenStream::take() {
    Token token = tokens_[at_];
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
}

bool TokenStream::take_operator(std::string_view text) {
    if (!is_operator(text)) return false;
    ++at_;
    return true;
}

bool TokenStream::take_name(std::string_view text) {
    if (!is_name(text)) return false;
    ++at_;
    return true;
}

void TokenStream::expect_operator(std::string_view text) {
    if (!take_operator(text)) fail_unexpected("'" + std::string(text) + "'");
}

void TokenStream::expect_name(std::string_view text) {
    if (!take_name(text)) fail_unexpected("'" + std::string(text) + "'");
}

void TokenStream::expect(TokenKind kind, const char* what) {
    if (!is(kind)) fail_unexpected(what);
    take();
}

std::string TokenStream::expect_any_name() {
    if (!is(TokenKind::Name)) fail_unexpected("a name");
    return take().text;
}

void TokenStream::fail_unexpected(const std::string& wanted) const {
    fail("unexpected " + words_of(front()) + ", expected " + wanted);
}

void TokenStream::fail(const std::string& what) const { throw Error(at_line(line()) + what); }

}  // namespace tandem::model::jinja
