#include "model/tokenizer/scanners.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace tandem::model {
namespace {

constexpr Set space = any_of(classes::space);
constexpr Set letter = any_of(classes::letter);
constexpr Set mark = any_of(classes::mark);
constexpr Set decimal = any_of(classes::decimal);

bool is_at(Text text, size_t at, char32_t code) {
    return at < text.size() && text[at].code == code;
}

// The end of this very text, or `at`.
size_t literal(std::string_view wanted, Text text, size_t at) {
    for (size_t i = 0; i < wanted.size(); ++i) {
        if (!is_at(text, at + i, static_cast<unsigned char>(wanted[i]))) return at;
    }
    return at + wanted.size();
}

char32_t ascii_lower(char32_t code) { return code >= 'A' && code <= 'Z' ? code + 32 : code; }

size_t match_contraction(Text text, size_t at, bool any_case) {
    if (!is_at(text, at, '\'') || at + 1 == text.size()) return at;
    const auto letter_at = [&](size_t i) {
        return any_case ? ascii_lower(text[i].code) : text[i].code;
    };
    const char32_t first = letter_at(at + 1);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 2;
    if (at + 2 == text.size()) return at;
    const char32_t second = letter_at(at + 2);
    const bool whole =
        ((first == 'r' || first == 'v') && second == 'e') || (first == 'l' && second == 'l');
    return whole ? at + 3 : at;
}

// Cuts the runs of digits of a piece in threes from their end.
struct DigitGroups {
    bool apart;           // also between digits and what stands around them
    bool before_no_word;  // only runs that no word character follows
};

void cut_runs(const DigitGroups& groups, Text text, std::vector<Text>& pieces) {
    static constexpr Set word =
        any_of(classes::letter | classes::mark | classes::number | classes::connector);
    size_t start = 0;
    const auto cut = [&](size_t at) {
        if (at > start) pieces.push_back(text.subspan(start, at - start));
        start = at;
    };
    for (size_t at = 0; at < text.size(); ++at) {
        const size_t end = run_end(decimal, text, at);
        if (end == at) continue;
        const bool in_word = end < text.size() && word.has(text[end]);
        if (!groups.before_no_word || !in_word) {
            if (groups.apart) cut(at);
            for (size_t three = at + (end - at) % 3; three < end; three += 3) cut(three);
            if (groups.apart) cut(end);
        }
        at = end - 1;
    }
    cut(text.size());
}

}  // namespace

size_t contraction(Text text, size_t at) { return match_contraction(text, at, false); }

size_t any_case_contraction(Text text, size_t at) { return match_contraction(text, at, true); }

size_t line_breaks(Text text, size_t at) {
    size_t end = run_end(space, text, at);
    while (end > at && (text[end - 1].classes & classes::line_break) == 0) --end;
    return end;
}

size_t spaces_but_one(Text text, size_t at) {
    const size_t end = run_end(space, text, at);
    return end == text.size() || end == at ? end : end - 1;
}

size_t spaced_words(Text text, size_t at) {
    const auto words = [&](size_t start) {
        size_t end = start;
        while (end < text.size()) {
            // The first word brings no space of its own.
            const size_t first = end > start && is_at(text, end, ' ') ? end + 1 : end;
            if (run_end(letter, text, first, 1) == first) break;
            end = run_end(mark, text, first + 1);
        }
        return end;
    };
    if (word_head.has(text[at])) {
        if (const size_t end = words(at + 1); end > at + 1) return end;
    }
    return words(at);
}

size_t sentinel(Text text, size_t at) {
    static constexpr CodeRange digits[] = {{'0', '9'}};
    const size_t number = literal("<sentinel:", text, at);
    if (number == at) return at;
    const size_t end = run_end(any_of(0, digits), text, number);
    return end > number && is_at(text, end, '>') ? end + 1 : at;
}

size_t image_token(Text text, size_t at) {
    static constexpr CodeRange digits[] = {{'A', 'I'}};
    const size_t number = literal("IMGIMG", text, at);
    if (number == at) return at;
    const size_t end = run_end(any_of(0, digits), text, number, 4);
    return end > number && is_at(text, end, 'Z') ? end + 1 : at;
}

size_t indent(Text text, size_t at) {
    for (const std::string_view wanted : {"\t", "\n", "    ", "  "}) {
        if (const size_t end = literal(wanted, text, at); end > at) return end;
    }
    return at;
}

void cut_last_spaces(Text piece, std::vector<Text>& pieces) {
    size_t start = piece.size();
    while (start > 0 && space.has(piece[start - 1])) --start;
    if (start > 0) pieces.push_back(piece.first(start));
    if (start < piece.size()) pieces.push_back(piece.subspan(start));
}

void cut_spaces_by_halves(Text piece, std::vector<Text>& pieces) {
    static constexpr size_t longest = 512;
    const auto same_line = [](const Character& c) {
        return space.has(c) && (c.classes & classes::line_break) == 0;
    };
    if (!std::all_of(piece.begin(), piece.end(), same_line)) return pieces.push_back(piece);
    while (!piece.empty()) {
        const size_t length = std::min(std::bit_floor(piece.size()), longest);
        pieces.push_back(piece.first(length));
        piece = piece.subspan(length);
    }
}

void cut_thousands(Text piece, std::vector<Text>& pieces) {
    cut_runs({.apart = false, .before_no_word = false}, piece, pieces);
}

void cut_digits(Text piece, std::vector<Text>& pieces) {
    cut_runs({.apart = true, .before_no_word = false}, piece, pieces);
}

void cut_whole_numbers(Text piece, std::vector<Text>& pieces) {
    cut_runs({.apart = true, .before_no_word = true}, piece, pieces);
}

}  // namespace tandem::model
