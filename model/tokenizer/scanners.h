// The parts of splitting expressions that are neither runs nor cased words (split.h). Each stands
// under the expression that it implements.
#pragma once

#include <vector>

#include "model/tokenizer/split.h"

namespace tandem::model {

// [^\r\n\p{L}\p{N}], which may stand in front of a word
constexpr Set word_head = none_of(classes::line_break | classes::letter | classes::number);

// 's|'t|'re|'ve|'m|'ll|'d
size_t contraction(Text text, size_t at);
// The same in either case: 's|'S|'rE|...
size_t any_case_contraction(Text text, size_t at);

// \s*[\r\n]+   and   \s*[\r\n], which ends at the same line break
size_t line_breaks(Text text, size_t at);
// \s+(?!\S)
size_t spaces_but_one(Text text, size_t at);

// [^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+
size_t spaced_words(Text text, size_t at);

// <sentinel:[0-9]+>
size_t sentinel(Text text, size_t at);
// (IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z
size_t image_token(Text text, size_t at);
// ([\t\n]|    |  )
size_t indent(Text text, size_t at);

// \s+$
void cut_last_spaces(Text piece, std::vector<Text>& pieces);
// \s{512}(?!\S)|\s{256}(?!\S)| ... |\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1} instead of \s+(?!\S)|\s+, whose
// pieces this cuts: as one expression, every part would look for a line break behind all the
// others.
void cut_spaces_by_halves(Text piece, std::vector<Text>& pieces);
// (?=(\d{3})+(?!\d)): between the digits, counted in threes from the end of their run
void cut_thousands(Text piece, std::vector<Text>& pieces);
// Every run of digits stands apart and is cut in threes, counted from its end.
void cut_digits(Text piece, std::vector<Text>& pieces);
// \d{1,3}(?=(?:\d{3})*\b): the same where no letter, mark, number or underscore follows the run
void cut_whole_numbers(Text piece, std::vector<Text>& pieces);

}  // namespace tandem::model
