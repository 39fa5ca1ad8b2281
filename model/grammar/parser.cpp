#include <algorithm>
#include <map>
#include <optional>

#include "gguf/error.h"
#include "gguf/fault.h"
#include "model/grammar/syntax.h"
#include "model/tokenizer/utf8.h"

namespace tandem::model::grammar {

namespace {

constexpr int most_nested = 200;   // groups inside each other
constexpr int most_postfixes = 8;  // repetitions of one thing: a{2}{3}

struct Place {
    size_t at = 0;
    int line = 1, column = 1;
};

bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

int hexadecimal(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

class Parser {
  public:
    Parser(std::string_view text, const std::string& source) : text_(text), source_(source) {}
    Syntax parse();

  private:
    enum class Lines { One, Several };  // where an expression may go on

    [[noreturn]] void fail(const Place& place, const std::string& what) const;
    [[noreturn]] void expected(const std::string& what) const;
    bool done() const { return place_.at == text_.size(); }
    char peek(size_t ahead = 0) const {
        return place_.at + ahead < text_.size() ? text_[place_.at + ahead] : '\0';
    }
    bool at_newline() const { return peek() == '\n' || peek() == '\r'; }
    bool at_repetition() const {
        return peek() == '*' || peek() == '+' || peek() == '?' || peek() == '{';
    }
    void advance(size_t bytes = 1);
    bool take(char c);
    void skip(Lines lines);

    void rule();
    std::string_view name();
    int32_t rule_named(std::string_view name, const Place& place);
    Expression choice(Lines lines);
    Expression sequence(Lines lines);
    std::optional<Expression> symbol();
    Expression literal();
    Expression characters();
    Expression group();
    Expression repeated(Expression part);
    Expression counted(Expression part);
    int32_t count();
    char32_t character();
    char32_t escape();
    Expression one_of(CharacterSet set);

    std::string_view text_;
    const std::string& source_;
    Place place_;
    int nested_ = 0;
    Syntax syntax_;
    std::map<std::string, int32_t, std::less<>> rules_;
    std::vector<Place> first_uses_;  // of rules, by index
    std::map<CharacterSet, int32_t> sets_;
};

void Parser::fail(const Place& place, const std::string& what) const {
    throw Error(source_ + ": line " + std::to_string(place.line) + ", column " +
                std::to_string(place.column) + ": " + what);
}

void Parser::expected(const std::string& what) const {
    std::string found = "the end";
    if (at_newline())
        found = "the end of the line";
    else if (!done())
        found = gguf::in_quotes(front_character(text_.substr(place_.at)));
    fail(place_, "expected " + what + ", found " + found);
}

void Parser::advance(size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
        const char c = text_[place_.at++];
        if (c == '\n') {
            ++place_.line;
            place_.column = 1;
        } else if ((c & 0xC0) != 0x80) {  // characters count, not bytes
            ++place_.column;
        }
    }
}

bool Parser::take(char c) {
    if (done() || peek() != c) return false;
    advance();
    return true;
}

// Spaces and comments.
void Parser::skip(Lines lines) {
    while (!done()) {
        if (peek() == '#') {
            while (!done() && !at_newline()) advance();
        } else if (peek() == ' ' || peek() == '\t' || (at_newline() && lines == Lines::Several)) {
            advance();
        } else {
            return;
        }
    }
}

std::string_view Parser::name() {
    const size_t begin = place_.at;
    while (is_name(peek())) advance();
    return text_.substr(begin, place_.at - begin);
}

int32_t Parser::rule_named(std::string_view name, const Place& place) {
    const auto known = rules_.find(name);
    if (known != rules_.end()) return known->second;
    const auto index = int32_t(syntax_.rules.size());
    rules_.emplace(name, index);
    syntax_.rules.push_back({.name = std::string(name)});
    first_uses_.emplace_back(place);
    return index;
}

Expression Parser::one_of(CharacterSet set) {
    const auto [entry, is_new] = sets_.try_emplace(set, int32_t(syntax_.sets.size()));
    if (is_new) syntax_.sets.push_back(std::move(set));
    return {.kind = Expression::Kind::Characters, .index = entry->second};
}

char32_t Parser::escape() {
    const Place begin = place_;
    advance();
    const char kind = peek();
    if (done()) expected("an escaped character");
    advance();
    static constexpr std::string_view letters = "nrt\\\"[]-^", meanings = "\n\r\t\\\"[]-^";
    if (const size_t at = letters.find(kind); at != letters.npos) return char32_t(meanings[at]);
    const int digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (digits == 0)
        fail(begin, "unknown escape " + gguf::in_quotes(text_.substr(begin.at, 2)) +
                        R"(; there are \n \r \t \\ \" \[ \] \- \^ \xHH \uHHHH \UHHHHHHHH)");
    char32_t code = 0;
    for (int i = 0; i < digits; ++i) {
        const int digit = hexadecimal(peek());
        if (digit < 0)
            expected(std::to_string(digits) + " hexadecimal digits behind \\" +
                     std::string(1, kind));
        code = code << 4 | char32_t(digit);
        advance();
    }
    if (code > last_character || (code >= 0xD800 && code <= 0xDFFF))
        fail(begin, std::string(text_.substr(begin.at, place_.at - begin.at)) +
                        " is no character of Unicode");
    return code;
}

char32_t Parser::character() {
    if (peek() == '\\') return escape();
    const std::string_view front = front_character(text_.substr(place_.at));
    if (!utf8_front(front).whole) fail(place_, "the text is not UTF-8");
    advance(front.size());
    return code_point(front);
}

Expression Parser::literal() {
    const Place begin = place_;
    advance();
    Expression all;
    while (!take('"')) {
        if (done()) fail(begin, "the text that begins here has no closing \"");
        const char32_t code = character();
        all.parts.push_back(one_of(CharacterSet({{code, code}})));
    }
    return all;
}

Expression Parser::characters() {
    const Place begin = place_;
    advance();
    const bool negated = take('^');
    std::vector<Range> ranges;
    while (!take(']')) {
        if (done()) fail(begin, "the set of characters that begins here has no closing ]");
        const Place first_place = place_;
        const char32_t first = character();
        char32_t last = first;
        if (peek() == '-' && peek(1) != ']') {
            advance();
            if (done()) fail(begin, "the set of characters that begins here has no closing ]");
            last = character();
        }
        if (last < first) fail(first_place, "the range of characters ends before it begins");
        ranges.push_back({first, last});
    }
    CharacterSet set(std::move(ranges));
    if (negated) set = set.complement();
    if (set.empty()) fail(begin, "no character is in this set, so that nothing could match it");
    return one_of(std::move(set));
}

Expression Parser::group() {
    const Place begin = place_;
    advance();
    if (++nested_ > most_nested)
        fail(begin, "more than " + std::to_string(most_nested) + " groups inside each other");
    skip(Lines::Several);
    Expression inside = choice(Lines::Several);
    if (done()) fail(begin, "the group that begins here has no closing )");
    if (!take(')')) expected("a symbol, | or )");
    --nested_;
    return inside;
}

std::optional<Expression> Parser::symbol() {
    const Place begin = place_;
    if (done()) return {};
    switch (peek()) {
        case '"':
            return literal();
        case '[':
            return characters();
        case '(':
            return group();
        case '.':
            advance();
            return one_of(CharacterSet().complement());
        case '<':
        case '!':
            fail(begin,
                 "tokens, such as <think> and !<[1000]>, are not supported: a grammar is "
                 "about characters");
        default:
            break;
    }
    const std::string_view said = name();
    if (said.empty()) return {};
    return Expression{.kind = Expression::Kind::Reference, .index = rule_named(said, begin)};
}

int32_t Parser::count() {
    const Place begin = place_;
    int64_t value = 0;
    if (peek() < '0' || peek() > '9') expected("a number of repetitions");
    for (; peek() >= '0' && peek() <= '9'; advance())
        value = std::min<int64_t>(value * 10 + (peek() - '0'), 1 << 30);
    if (value > most_repetitions)
        fail(begin, "at most " + std::to_string(most_repetitions) + " repetitions can be counted");
    return int32_t(value);
}

Expression Parser::counted(Expression part) {
    const Place begin = place_;
    advance();
    skip(Lines::One);
    const int32_t least = count();
    int32_t most = least;
    skip(Lines::One);
    if (take(',')) {
        skip(Lines::One);
        most = peek() == '}' ? Expression::endless : count();
        skip(Lines::One);
    }
    if (!take('}')) expected("} behind the number of repetitions");
    if (most != Expression::endless && most < least)
        fail(begin, "the most repetitions are fewer than the least");
    Expression all{.kind = Expression::Kind::Repeat, .least = least, .most = most};
    all.parts.push_back(std::move(part));
    return all;
}

Expression Parser::repeated(Expression part) {
    for (int postfixes = 0;; ++postfixes) {
        Expression all{.kind = Expression::Kind::Repeat, .most = Expression::endless};
        const Place begin = place_;
        if (peek() == '{') {
            part = counted(std::move(part));
        } else if (take('*') || take('+') || take('?')) {
            const char kind = text_[begin.at];
            if (kind == '+') all.least = 1;
            if (kind == '?') all.most = 1;
            all.parts.push_back(std::move(part));
            part = std::move(all);
        } else {
            return part;
        }
        if (postfixes == most_postfixes)
            fail(begin, "more than " + std::to_string(most_postfixes) +
                            " repetitions of repetitions; parentheses tell what is meant");
    }
}

Expression Parser::sequence(Lines lines) {
    Expression all;
    while (std::optional<Expression> part = symbol()) {
        skip(lines);
        if (at_repetition()) {
            part = repeated(std::move(*part));
            skip(lines);
        }
        all.parts.push_back(std::move(*part));
    }
    if (at_repetition()) expected("a symbol in front of the repetition");
    return all.parts.size() == 1 ? std::move(all.parts[0]) : all;
}

Expression Parser::choice(Lines lines) {
    Expression all{.kind = Expression::Kind::Choice};
    all.parts.push_back(sequence(lines));
    while (take('|')) {
        skip(Lines::Several);
        all.parts.push_back(sequence(lines));
    }
    return all.parts.size() == 1 ? std::move(all.parts[0]) : all;
}

void Parser::rule() {
    const Place begin = place_;
    const std::string_view said = name();
    if (said.empty()) expected("the name of a rule");
    skip(Lines::One);
    if (text_.substr(place_.at, 3) != "::=")
        expected("::= behind the name of the rule " + gguf::in_quotes(said));
    advance(3);
    const int32_t index = rule_named(said, begin);
    if (syntax_.rules[size_t(index)].line > 0)
        fail(begin, "the rule " + gguf::in_quotes(said) + " is defined twice, first in line " +
                        std::to_string(syntax_.rules[size_t(index)].line));
    syntax_.rules[size_t(index)].line = begin.line;
    skip(Lines::Several);
    Expression body = choice(Lines::One);
    if (!done() && !at_newline()) expected("a symbol, | or the end of the rule's line");
    syntax_.rules[size_t(index)].body = std::move(body);
    skip(Lines::Several);
}

Syntax Parser::parse() {
    skip(Lines::Several);
    while (!done()) rule();
    for (size_t i = 0; i < syntax_.rules.size(); ++i)
        if (syntax_.rules[i].line == 0)
            fail(first_uses_[i], "there is no rule " + gguf::in_quotes(syntax_.rules[i].name));
    const auto root = rules_.find("root");
    if (root == rules_.end())
        throw Error(source_ + ": there is no rule \"root\", which stands for the whole text");
    syntax_.root = root->second;
    return std::move(syntax_);
}

}  // namespace

Syntax parse(std::string_view text, const std::string& source) {
    return Parser(text, source).parse();
}

}  // namespace tandem::model::grammar
