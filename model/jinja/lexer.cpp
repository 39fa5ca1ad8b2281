#include "model/jinja/lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "gguf/error.h"
#include "model/jinja/escapes.h"
#include "model/jinja/letters.h"

namespace tandem::model::jinja {
namespace {

// Lines end in \n alone, and the last one in nothing.
std::string normalized(std::string_view source) {
    std::string lines;
    lines.reserve(source.size());
    for (size_t at = 0; at < source.size(); ++at) {
        const char c = source[at];
        if (c == '\r' && at + 1 < source.size() && source[at + 1] == '\n') continue;
        lines.push_back(c == '\r' ? '\n' : c);
    }
    if (!lines.empty() && lines.back() == '\n') lines.pop_back();
    return lines;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}
bool continues_name(char c) { return begins_name(c) || is_digit(c); }

// Longer ones first.
constexpr std::array<std::string_view, 26> operators = {
    "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
    "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};

class Lexer {
  public:
    explicit Lexer(std::string_view source) : source_(normalized(source)) {}

    std::vector<Token> tokens() {
        while (at_ < source_.size()) read_text_and_tag();
        add(TokenKind::End, "");
        return std::move(tokens_);
    }

  private:
    std::string_view rest() const { return std::string_view(source_).substr(at_); }
    char sign_at(size_t at) const {
        const bool signs = at < source_.size() && (source_[at] == '-' || source_[at] == '+');
        return signs ? source_[at] : '\0';
    }
    [[noreturn]] void fail(const std::string& what) const { throw Error(at_line(line_) + what); }

    void advance(size_t count);
    void skip_white() { advance(rest().size() - without_front_white(rest()).size()); }
    void add(TokenKind kind, std::string text) {
        tokens_.push_back({kind, std::move(text), line_});
    }

    void read_text_and_tag();
    void add_text(size_t end, char sign, bool strips_line);
    void end_tag(std::string_view mark, char sign, bool trims_newline);
    void skip_comment();
    bool read_raw();
    void read_words(TokenKind end_kind, std::string_view end);
    void read_word();
    void read_number();
    size_t digits_from(size_t at) const;
    void read_string();
    void read_operator();

    std::string source_;
    size_t at_ = 0;
    int line_ = 1;
    std::vector<Token> tokens_;
    std::string open_;  // brackets of the tag that wait for their other half
};

void Lexer::advance(size_t count) {
    const auto from = source_.begin() + static_cast<std::ptrdiff_t>(at_);
    line_ += static_cast<int>(std::count(from, from + static_cast<std::ptrdiff_t>(count), '\n'));
    at_ += count;
}

// Text from here to `end`, where a tag begins, without the white space that the tag takes away: all
// of it for "-", the indentation of a tag that is the first on its line (strips_line) unless "+".
void Lexer::add_text(size_t end, char sign, bool strips_line) {
    std::string_view text = std::string_view(source_).substr(at_, end - at_);
    const size_t bytes = text.size();
    if (sign == '-') {
        text = without_back_white(text);
    } else if (sign != '+' && strips_line) {
        const size_t line = text.rfind('\n') + 1;  // 0 where there is none
        const bool begins_line = line > 0 || at_ == 0 || source_[at_ - 1] == '\n';
        if (begins_line && without_front_white(text.substr(line)).empty())
            text = text.substr(0, line);
    }
    if (!text.empty()) add(TokenKind::Text, std::string(text));
    advance(bytes);
}

// Behind the mark that ends a tag, "-" takes all white space away, and tags other than {{ }} one
// newline unless "+" is there.
void Lexer::end_tag(std::string_view mark, char sign, bool trims_newline) {
    advance(mark.size() + (sign ? 1 : 0));
    if (sign == '-')
        skip_white();
    else if (sign != '+' && trims_newline && rest().starts_with('\n'))
        advance(1);
}

void Lexer::read_text_and_tag() {
    size_t end = at_;
    for (;; ++end) {
        end = source_.find('{', end);
        if (end == std::string::npos || end + 1 == source_.size())
            return add_text(source_.size(), '\0', false);
        if (std::string_view("{%#").find(source_[end + 1]) != std::string_view::npos) break;
    }
    const char type = source_[end + 1];
    const char sign = sign_at(end + 2);
    add_text(end, sign, type != '{');
    if (type == '#') return skip_comment();
    if (type == '%' && read_raw()) return;
    add(type == '{' ? TokenKind::PrintBegin : TokenKind::BlockBegin, "");
    advance(sign ? 3 : 2);
    if (type == '{')
        read_words(TokenKind::PrintEnd, "}}");
    else
        read_words(TokenKind::BlockEnd, "%}");
}

void Lexer::skip_comment() {
    const size_t begin = at_ + (sign_at(at_ + 2) ? 3 : 2);
    const size_t end = source_.find("#}", begin);
    if (end == std::string::npos) fail("the comment that begins here has no end");
    const char sign = end > begin ? sign_at(end - 1) : '\0';
    advance((sign ? end - 1 : end) - at_);
    end_tag("#}", sign, true);
}

// Of a tag that consists of one word: {% raw %}.
struct WordTag {
    size_t bytes = 0;  // 0: it is another tag
    char front_sign = '\0';
    char back_sign = '\0';
};

WordTag word_tag(std::string_view text, std::string_view word) {
    WordTag tag;
    std::string_view left = text.substr(2);
    const auto sign = [&](char& into) {
        if (left.starts_with('-') || left.starts_with('+')) {
            into = left[0];
            left.remove_prefix(1);
        }
    };
    sign(tag.front_sign);
    left = without_front_white(left);
    if (!left.starts_with(word)) return {};
    left = without_front_white(left.substr(word.size()));
    sign(tag.back_sign);
    if (!left.starts_with("%}")) return {};
    tag.bytes = text.size() - left.size() + 2;
    return tag;
}

// Whether {% raw %} is here; then all up to {% endraw %} is text.
bool Lexer::read_raw() {
    const WordTag begin = word_tag(rest(), "raw");
    if (begin.bytes == 0) return false;
    const int line = line_;
    advance(begin.bytes);
    if (begin.back_sign == '-') skip_white();
    for (size_t end = at_;; end += 2) {
        end = source_.find("{%", end);
        if (end == std::string::npos)
            throw Error(at_line(line) + "the raw block that begins here has no endraw");
        const WordTag tag = word_tag(std::string_view(source_).substr(end), "endraw");
        if (tag.bytes == 0) continue;
        add_text(end, tag.front_sign, true);
        advance(tag.bytes - 2 - (tag.back_sign ? 1 : 0));
        end_tag("%}", tag.back_sign, true);
        return true;
    }
}

void Lexer::read_words(TokenKind end_kind, std::string_view end) {
    const int line = line_;
    open_.clear();
    for (skip_white(); at_ < source_.size(); skip_white()) {
        const char sign = sign_at(at_);
        const bool may_sign = sign == '-' || (sign == '+' && end_kind == TokenKind::BlockEnd);
        const size_t signs = may_sign && rest().substr(1).starts_with(end) ? 1 : 0;
        if (open_.empty() && (signs || rest().starts_with(end))) {
            add(end_kind, "");
            return end_tag(end, signs ? sign : '\0', end_kind == TokenKind::BlockEnd);
        }
        read_word();
    }
    throw Error(at_line(line) + "the tag that begins here has no " + std::string(end));
}

void Lexer::read_word() {
    const char c = source_[at_];
    if (is_digit(c)) return read_number();
    if (c == '\'' || c == '"') return read_string();
    if (!begins_name(c)) return read_operator();
    const std::string_view text = rest();
    size_t size = 1;
    while (size < text.size() && continues_name(text[size])) ++size;
    add(TokenKind::Name, std::string(text.substr(0, size)));
    advance(size);
}

// Where digits that begin at `at` end; single underscores may stand between them.
size_t Lexer::digits_from(size_t at) const {
    const auto digit = [&](size_t where) {
        return where < source_.size() && is_digit(source_[where]);
    };
    while (digit(at) ||
           (at > 0 && digit(at - 1) && at < source_.size() && source_[at] == '_' && digit(at + 1)))
        ++at;
    return at;
}

// Integers are decimal, or hexadecimal, octal or binary with their prefix.
void Lexer::read_number() {
    const auto letter_at = [&](size_t at) { return at < source_.size() ? source_[at] | 0x20 : 0; };
    const auto digit_at = [&](size_t at) { return at < source_.size() && is_digit(source_[at]); };
    size_t end = digits_from(at_);
    TokenKind kind = TokenKind::Integer;
    if (source_[at_] == '0' && end == at_ + 1 &&
        (letter_at(end) == 'x' || letter_at(end) == 'o' || letter_at(end) == 'b')) {
        while (end < source_.size() && continues_name(source_[end])) ++end;
    } else {
        // Behind a dot, digits are the index of an element.
        const bool element = !tokens_.empty() && tokens_.back().kind == TokenKind::Operator &&
                             tokens_.back().text == ".";
        if (!element && end < source_.size() && source_[end] == '.' && digit_at(end + 1)) {
            kind = TokenKind::Float;
            end = digits_from(end + 1);
        }
        const size_t exponent = end + 1 + (sign_at(end + 1) ? 1 : 0);
        if (!element && letter_at(end) == 'e' && digit_at(exponent)) {
            kind = TokenKind::Float;
            end = digits_from(exponent);
        }
    }
    std::string digits = source_.substr(at_, end - at_);
    std::erase(digits, '_');
    add(kind, std::move(digits));
    advance(end - at_);
}

void Lexer::read_string() {
    const char quote = source_[at_];
    size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) fail("the string that begins here has no end");
    add(TokenKind::String, "");
    try {
        tokens_.back().text = unescaped(source_.substr(at_ + 1, end - at_ - 1));
    } catch (const Error& error) {
        fail(error.what());
    }
    advance(end + 1 - at_);
}

void Lexer::read_operator() {
    const auto found = std::find_if(operators.begin(), operators.end(), [&](std::string_view each) {
        return rest().starts_with(each);
    });
    if (found == operators.end()) fail("unexpected character '" + source_.substr(at_, 1) + "'");
    const char c = (*found)[0];
    if (c == '(') open_.push_back(')');
    if (c == '[') open_.push_back(']');
    if (c == '{') open_.push_back('}');
    if (c == ')' || c == ']' || c == '}') {
        if (open_.empty() || open_.back() != c)
            fail("unexpected '" + std::string(*found) + "'" +
                 (open_.empty() ? "" : ", expected '" + open_.substr(open_.size() - 1) + "'"));
        open_.pop_back();
    }
    add(TokenKind::Operator, std::string(*found));
    advance(found->size());
}

}  // namespace

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).tokens(); }

std::string at_line(int line) { return "line " + std::to_string(line) + ": "; }

}  // namespace tandem::model::jinja
