#include "model/grammar/schema/pattern.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "gguf/error.h"
#include "gguf/fault.h"
#include "model/grammar/schema/notation.h"
#include "model/tokenizer/utf8.h"

namespace tandem::model::grammar::schema {

namespace {

constexpr int most_nested = 50;

const CharacterSet& digits() {
    static const CharacterSet set({{'0', '9'}});
    return set;
}
const CharacterSet& word_characters() {
    static const CharacterSet set({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
    return set;
}
const CharacterSet& white_space() {
    static const CharacterSet set({{'\t', '\r'},
                                   {' ', ' '},
                                   {0xA0, 0xA0},
                                   {0x1680, 0x1680},
                                   {0x2000, 0x200A},
                                   {0x2028, 0x2029},
                                   {0x202F, 0x202F},
                                   {0x205F, 0x205F},
                                   {0x3000, 0x3000},
                                   {0xFEFF, 0xFEFF}});
    return set;
}
const CharacterSet& line_ends() {
    static const CharacterSet set({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}});
    return set;
}

class Pattern {
  public:
    Pattern(std::string_view text, const std::string& character)
        : text_(text), anything_(character + "*") {}
    std::string whole();

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw Error("the pattern " + gguf::in_quotes(text_) + " " + what);
    }
    bool done() const { return at_ == text_.size(); }
    bool take(std::string_view text) {
        if (!text_.substr(at_).starts_with(text)) return false;
        at_ += text.size();
        return true;
    }
    std::string choice();
    std::string sequence(bool& from_start, bool& to_end);
    std::string symbol();
    std::string group();
    std::string repetition();
    CharacterSet set();
    CharacterSet set_member();
    CharacterSet escape(bool in_set);
    char32_t code(int digits);
    char32_t character();

    std::string_view text_;
    const std::string anything_;  // what stands before and behind what is found
    size_t at_ = 0;
    int nested_ = 0;
};

char32_t Pattern::character() {
    const std::string_view front = front_character(text_.substr(at_));
    at_ += front.size();
    return code_point(front);
}

char32_t Pattern::code(int digits) {
    char32_t value = 0;
    for (int i = 0; i < digits; ++i) {
        const std::string_view all = "0123456789abcdef";
        const char digit = done() ? '\0' : text_[at_++];
        const size_t found = all.find(char(digit >= 'A' && digit <= 'F' ? digit + 32 : digit));
        if (found == all.npos) fail("has an escape without its hexadecimal digits");
        value = value << 4 | char32_t(found);
    }
    if (value >= 0xD800 && value <= 0xDFFF)
        fail("has half a character (\\ud800 to \\udfff), which is not supported");
    return value;
}

// Behind the backslash.
CharacterSet Pattern::escape(bool in_set) {
    if (done()) fail("ends with a backslash");
    const char kind = text_[at_];
    const auto one = [](char32_t code) { return CharacterSet({{code, code}}); };
    if (uint8_t(kind) >= 0x80) return one(character());
    ++at_;
    static constexpr std::string_view letters = "tnrfv0", meanings("\t\n\r\f\v\0", 6);
    if (const size_t found = letters.find(kind); found != letters.npos)
        return one(char32_t(meanings[found]));
    switch (kind) {
        case 'd':
            return digits();
        case 'D':
            return digits().complement();
        case 'w':
            return word_characters();
        case 'W':
            return word_characters().complement();
        case 's':
            return white_space();
        case 'S':
            return white_space().complement();
        case 'x':
            return one(code(2));
        case 'u':
            return one(code(4));
        default:
            break;
    }
    if (in_set && kind == 'b') return one('\b');
    if (word_characters().has(char32_t(kind)))
        fail("has \\" + std::string(1, kind) + ", which is not supported");
    return one(char32_t(kind));
}

CharacterSet Pattern::set_member() {
    if (done()) fail("has a [ without ]");
    if (take("\\")) return escape(true);
    const char32_t code = character();
    return CharacterSet({{code, code}});
}

// Behind the bracket.
CharacterSet Pattern::set() {
    const bool negated = take("^");
    std::vector<Range> ranges;
    while (!take("]")) {
        const CharacterSet first = set_member();
        const bool is_range = text_.substr(at_).starts_with("-") &&
                              !text_.substr(at_).starts_with("-]") && at_ + 1 < text_.size();
        if (!is_range) {
            ranges.insert(ranges.end(), first.ranges().begin(), first.ranges().end());
            continue;
        }
        take("-");
        const CharacterSet last = set_member();
        const auto single = [](const CharacterSet& each) {
            return each.ranges().size() == 1 && each.ranges()[0].first == each.ranges()[0].last;
        };
        if (!single(first) || !single(last)) fail("has a range of characters that ends in a set");
        const Range range{first.ranges()[0].first, last.ranges()[0].first};
        if (range.last < range.first) fail("has a range of characters that ends before it begins");
        ranges.push_back(range);
    }
    const CharacterSet all(std::move(ranges));
    return negated ? all.complement() : all;
}

std::string Pattern::group() {
    if (++nested_ > most_nested) fail("has too many groups inside each other");
    if (take("?")) {
        const bool named = text_.substr(at_).starts_with("<") &&
                           !text_.substr(at_).starts_with("<=") &&
                           !text_.substr(at_).starts_with("<!");
        if (named)
            at_ = std::min(text_.find('>', at_), text_.size() - 1) + 1;
        else if (!take(":"))
            fail("looks ahead or behind, (?=...) or alike, which is not supported");
    }
    const std::string inside = choice();
    if (!take(")")) fail("has a ( without )");
    --nested_;
    return "(" + inside + ")";
}

std::string Pattern::symbol() {
    if (take("(")) return group();
    CharacterSet all;
    if (take("[")) {
        all = set();
    } else if (take(".")) {
        all = line_ends().complement();
    } else if (take("\\")) {
        all = escape(false);
    } else {
        if (std::string_view("*+?{").find(text_[at_]) != text_.npos)
            fail("repeats nothing, at byte " + std::to_string(at_));
        const char32_t code = character();
        all = CharacterSet({{code, code}});
    }
    if (all.empty()) fail("has a set that no character is in");
    return in_string(all);
}

// Empty where there is none.
std::string Pattern::repetition() {
    const size_t begin = at_;
    if (take("{")) {
        while (!done() && (digits().has(uint8_t(text_[at_])) || text_[at_] == ',')) ++at_;
        if (!take("}") || text_[begin + 1] == ',' || text_[begin + 1] == '}')
            fail("has a { that is no repetition: write \\{");
    } else if (!take("*") && !take("+")) {
        take("?");
    }
    const std::string said(text_.substr(begin, at_ - begin));
    if (!said.empty()) take("?");  // whether it takes few or many makes no other texts
    return said;
}

std::string Pattern::sequence(bool& from_start, bool& to_end) {
    std::string all;
    from_start = take("^");
    to_end = false;
    while (!done() && text_[at_] != '|' && text_[at_] != ')') {
        if (take("$")) {
            to_end = true;
            if (!done() && text_[at_] != '|') fail("has $ elsewhere than at its end");
            break;
        }
        if (text_[at_] == '^') fail("has ^ elsewhere than at its beginning");
        const std::string one = symbol();
        all += (all.empty() ? "" : " ") + one + repetition();
    }
    return all;
}

std::string Pattern::choice() {
    std::string all;
    do {
        bool from_start = false, to_end = false;
        const std::string one = sequence(from_start, to_end);
        if (from_start || to_end) fail("has ^ or $ in a group, which is not supported");
        all += (all.empty() ? "" : " | ") + (one.empty() ? "\"\"" : one);
    } while (take("|"));
    return all;
}

std::string Pattern::whole() {
    std::string all;
    do {
        bool from_start = false, to_end = false;
        const std::string one = sequence(from_start, to_end);
        all += (all.empty() ? "" : " | ") + (from_start ? "" : anything_ + " ") +
               (one.empty() ? "\"\"" : one) + (to_end ? "" : " " + anything_);
    } while (take("|"));
    if (!done()) fail("has a ) without (");
    return "(" + all + ")";
}

}  // namespace

std::string pattern(std::string_view text, const std::string& character) {
    return Pattern(text, character).whole();
}

}  // namespace tandem::model::grammar::schema
