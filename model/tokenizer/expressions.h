// The splitting expressions that models publish, each under its text. \x{41} is a code point, UP is
// [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] and LO is [\p{Ll}\p{Lm}\p{Lo}\p{M}].
//
// A stretch that no alternative takes becomes a piece, so \s+ at the end of the older expressions
// need not be said.
#pragma once

#include "model/tokenizer/scanners.h"
#include "model/tokenizer/split.h"

namespace tandem::model::expressions {

constexpr Set blank = any_of(classes::blank);
constexpr Set space = any_of(classes::space);
constexpr Set letter = any_of(classes::letter);
constexpr Set number = any_of(classes::number);
constexpr Set line_break = any_of(classes::line_break);
// [^\s\p{L}\p{N}]
constexpr Set other = none_of(classes::space | classes::letter | classes::number);

constexpr Run spaces{.body = space};                                     // \s+
constexpr Run word{.head = word_head, .body = letter};                   // word_head?\p{L}+
constexpr Run three_numbers{.body = number, .most = 3};                  // \p{N}{1,3}
constexpr Run one_number{.body = number, .most = 1};                     // \p{N}
constexpr Run others{.head = blank, .body = other, .tail = line_break};  //  ?[other]+[\r\n]*

// \p{N}+
constexpr Alternative numbers[] = {Run{.body = number}};
// \p{N}
constexpr Alternative each_number[] = {one_number};
// \p{N}{1,3}
constexpr Alternative numbers_by_three[] = {three_numbers};

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)
constexpr Alternative gpt2[] = {
    contraction,
    Run{.head = blank, .body = letter},
    Run{.head = blank, .body = number},
    Run{.head = blank, .body = other},
    spaces_but_one,
};

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*
// |\s*[\r\n]+|\s+(?!\S)|\s+
constexpr Alternative llama3[] = {
    any_case_contraction, word, three_numbers, others, line_breaks, spaces_but_one, spaces,
};

// llama3 with \p{N}+
constexpr Alternative minicpm5[] = {
    any_case_contraction, word, Run{.body = number}, others, line_breaks, spaces_but_one, spaces,
};

// llama3 with \p{N}. Bailing's has \s*[\r\n] without +, which comes to the same.
constexpr Alternative qwen2[] = {
    any_case_contraction, word, one_number, others, line_breaks, spaces_but_one, spaces,
};

// qwen2 with [\p{L}\p{M}]+ as words and [^\s\p{L}\p{M}\p{N}]+ as others
constexpr Alternative qwen35[] = {
    any_case_contraction,
    Run{.head = word_head, .body = any_of(classes::letter | classes::mark)},
    one_number,
    Run{.head = blank,
        .body = none_of(classes::space | classes::letter | classes::mark | classes::number),
        .tail = line_break},
    line_breaks,
    spaces_but_one,
    spaces,
};

// qwen2 with  ?[^\s\p{L}\p{N}\r\n]+ as others
constexpr Alternative seed_coder[] = {
    any_case_contraction, word,           one_number, Run{.head = blank, .body = other},
    line_breaks,          spaces_but_one, spaces,
};

// qwen2 with [^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+ as words
// and  ?[^\s\p{L}\p{N}]+[\r\n/]? as others
constexpr Alternative exaone_moe[] = {
    any_case_contraction,
    spaced_words,
    one_number,
    Run{.head = blank,
        .body = other,
        .tail = any_of(classes::line_break | classes::slash),
        .most_tail = 1},
    line_breaks,
    spaces_but_one,
    spaces,
};

constexpr CasedWord cased_word{
    .head = word_head,
    .upper = any_of(classes::upper | classes::han | classes::other_letter | classes::mark),
    .lower = any_of(classes::lower | classes::han | classes::other_letter | classes::mark),
    .contractions = false,
};
constexpr CasedWord cased_contraction{word_head, cased_word.upper, cased_word.lower, true};
constexpr Run others_and_slashes{
    .head = blank, .body = other, .tail = any_of(classes::line_break | classes::slash)};

// [^\r\n\p{L}\p{N}]?UP*LO+CON?|[^\r\n\p{L}\p{N}]?UP+LO*CON?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*
// |\s*[\r\n]+|\s+(?!\S)|\s+   where CON is (?i:'s|'t|'re|'ve|'m|'ll|'d)
constexpr Alternative o200k[] = {
    cased_contraction, three_numbers, others_and_slashes, line_breaks, spaces_but_one, spaces,
};

// o200k with \p{N}
constexpr Alternative youtu[] = {
    cased_contraction, one_number, others_and_slashes, line_breaks, spaces_but_one, spaces,
};

// o200k with \p{N} and without CON?
constexpr Alternative tekken[] = {
    cased_word, one_number, others_and_slashes, line_breaks, spaces_but_one, spaces,
};

// [\p{Han}]+|[^\r\n\p{L}\p{N}]?[UP&&[^\p{Han}]]*[LO&&[^\p{Han}]]+CON?
// |[^\r\n\p{L}\p{N}]?[UP&&[^\p{Han}]]+[LO&&[^\p{Han}]]*CON?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*
// |\s*[\r\n]+|\s+(?!\S)|\s+
constexpr Alternative kimi[] = {
    Run{.body = any_of(classes::han)},
    CasedWord{.head = word_head,
              .upper = any_of(classes::upper | classes::other_letter | classes::mark),
              .lower = any_of(classes::lower | classes::other_letter | classes::mark),
              .contractions = true},
    three_numbers,
    others,
    line_breaks,
    spaces_but_one,
    spaces,
};

// [^\n]+|[\n]+
constexpr CodeRange newline_code[] = {{'\n', '\n'}};
constexpr Alternative lines[] = {
    Run{.body = none_of(0, newline_code)},
    Run{.body = any_of(0, newline_code)},
};

// \S+
constexpr Alternative words_between_spaces[] = {Run{.body = none_of(classes::space)}};

// [\p{P}\$\+<=>\^~\|]+
constexpr CodeRange default_signs[] = {{'$', '$'}, {'+', '+'}, {'<', '>'},
                                       {'^', '^'}, {'|', '|'}, {'~', '~'}};
constexpr Alternative default_punctuation[] = {
    Run{.body = any_of(classes::punctuation, default_signs)}};

// [\p{P}\$\+<=>\^~\|\x{60}]+
constexpr CodeRange falcon_signs[] = {{'$', '$'}, {'+', '+'}, {'<', '>'}, {'^', '^'},
                                      {'`', '`'}, {'|', '|'}, {'~', '~'}};
constexpr Alternative falcon_punctuation[] = {
    Run{.body = any_of(classes::punctuation, falcon_signs)}};

// [0-9][0-9][0-9]
constexpr CodeRange ascii_digits[] = {{'0', '9'}};
constexpr Alternative three_ascii_digits[] = {
    Run{.body = any_of(0, ascii_digits), .least = 3, .most = 3}};

//  ?[^(\s|.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{964}\x{6D4}\x{60C})]+
constexpr CodeRange bloom_stops[] = {{'!', '!'},       {'(', ')'},       {',', ','},
                                     {'.', '.'},       {'?', '?'},       {'|', '|'},
                                     {0x60C, 0x60C},   {0x6D4, 0x6D4},   {0x964, 0x964},
                                     {0x2026, 0x2026}, {0x3001, 0x3002}, {0xFF0C, 0xFF0C}};
constexpr Alternative bloom[] = {Run{.head = blank, .body = none_of(classes::space, bloom_stops)}};

constexpr Alternative sentinels[] = {sentinel};
constexpr Alternative image_tokens[] = {image_token};
constexpr Alternative indents[] = {indent};
// [\p{P}!-/:-@\[-\x{60}{-~]
constexpr CodeRange ascii_punctuation[] = {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}};
constexpr Alternative each_punctuation[] = {
    Run{.body = any_of(classes::punctuation, ascii_punctuation), .most = 1}};

}  // namespace tandem::model::expressions
