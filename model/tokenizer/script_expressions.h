// The expressions of the DeepSeek family and others that list code points of East Asian scripts;
// see expressions.h.
#pragma once

#include "model/tokenizer/expressions.h"

namespace tandem::model::expressions {

// [\r\n]
constexpr Alternative each_line_break[] = {Run{.body = line_break, .most = 1}};

// \s?[A-Za-z\x{B5}\x{C0}-\x{D6} ... ]+ : letters of the alphabets with case, as a list
constexpr CodeRange cased_letters[] = {
    // clang-format off
    {'A', 'Z'}, {'a', 'z'}, {0xB5, 0xB5}, {0xC0, 0xD6}, {0xD8, 0xF6}, {0xF8, 0x1BA}, {0x1BC, 0x1BF},
    {0x1C4, 0x293}, {0x295, 0x2AF}, {0x370, 0x373}, {0x376, 0x376}, {0x377, 0x377}, {0x37B, 0x37D},
    {0x37F, 0x37F}, {0x386, 0x386}, {0x388, 0x38A}, {0x38C, 0x38C}, {0x38E, 0x3A1}, {0x3A3, 0x3F5},
    {0x3F7, 0x481}, {0x48A, 0x52F}, {0x531, 0x556}, {0x10A0, 0x10C5}, {0x13A0, 0x13F5},
    {0x13F8, 0x13FD}, {0x1C90, 0x1CBA}, {0x1CBD, 0x1CBF}, {0x1D00, 0x1D2B}, {0x1D6B, 0x1D77},
    {0x1D79, 0x1D9A}, {0x1E00, 0x1F15}, {0x1F18, 0x1F1D}, {0x1F20, 0x1F45}, {0x1F48, 0x1F4D},
    {0x1F50, 0x1F57}, {0x1F59, 0x1F59}, {0x1F5B, 0x1F5B}, {0x1F5D, 0x1F5D}, {0x1F5F, 0x1F7D},
    {0x1F80, 0x1FB4}, {0x1FB6, 0x1FBC}, {0x1FBE, 0x1FBE}, {0x1FC2, 0x1FC4}, {0x1FC6, 0x1FCC},
    {0x1FD0, 0x1FD3}, {0x1FD6, 0x1FDB}, {0x1FE0, 0x1FEC}, {0x1FF2, 0x1FF4}, {0x1FF6, 0x1FFC},
    {0x2102, 0x2102}, {0x2107, 0x2107}, {0x210A, 0x2113}, {0x2115, 0x2115}, {0x2119, 0x211D},
    {0x2124, 0x2124}, {0x2126, 0x2126}, {0x2128, 0x2128}, {0x212A, 0x212D}, {0x212F, 0x2134},
    {0x2139, 0x2139}, {0x213C, 0x213F}, {0x2145, 0x2149}, {0x214E, 0x214E}, {0x2183, 0x2183},
    {0x2184, 0x2184}, {0x2C00, 0x2C7B}, {0x2C7E, 0x2CE4}, {0x2CEB, 0x2CEE}, {0x2CF2, 0x2CF2},
    {0x2CF3, 0x2CF3}, {0xA640, 0xA66D}, {0xA680, 0xA69B}, {0xA722, 0xA76F}, {0xA771, 0xA787},
    {0xA78B, 0xA78E}, {0xAB70, 0xABBF}, {0xFB00, 0xFB06}, {0xFB13, 0xFB17}, {0xFF21, 0xFF3A},
    {0xFF41, 0xFF5A}, {0x10400, 0x1044F}, {0x104B0, 0x104D3}, {0x104D8, 0x104FB},
    {0x10C80, 0x10CB2}, {0x10CC0, 0x10CF2}, {0x118A0, 0x118DF}, {0x1E900, 0x1E943},
    // clang-format on
};
constexpr Alternative deepseek_llm_words[] = {Run{.head = space, .body = any_of(0, cased_letters)}};

// \s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3000}-\x{3002}]+
constexpr CodeRange wide_punctuation[] = {{'!', '/'},       {':', '~'},       {0x2018, 0x201F},
                                          {0x3000, 0x3002}, {0xFF01, 0xFF0F}, {0xFF1A, 0xFF5E}};
constexpr Alternative deepseek_llm_punctuation[] = {
    Run{.head = space, .body = any_of(0, wide_punctuation)}};

// \s?\p{L}+
constexpr Alternative deepseek_coder_words[] = {Run{.head = space, .body = letter}};
// \s?\p{P}+
constexpr Alternative deepseek_coder_punctuation[] = {
    Run{.head = space, .body = any_of(classes::punctuation)}};

// [\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+
constexpr CodeRange asian_codes[] = {{0x800, 0x9FA5}, {0xAC00, 0xD7FF}};
constexpr Alternative asian_words[] = {Run{.body = any_of(0, asian_codes)}};

// [\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+
constexpr CodeRange han_and_kana_codes[] = {{0x3040, 0x30FF}, {0x4E00, 0x9FA5}};
constexpr Run han_and_kana_run{.body = any_of(0, han_and_kana_codes)};
constexpr Alternative han_and_kana[] = {han_and_kana_run};

// [!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+
// | ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
constexpr CodeRange ascii_letters[] = {{'A', 'Z'}, {'a', 'z'}};
constexpr Alternative deepseek_v3[] = {
    Run{.head = any_of(0, ascii_punctuation), .body = any_of(0, ascii_letters), .headed = true},
    Run{.head =
            none_of(classes::line_break | classes::letter | classes::punctuation | classes::symbol),
        .body = any_of(classes::letter | classes::mark)},
    Run{.head = blank, .body = any_of(classes::punctuation | classes::symbol), .tail = line_break},
    line_breaks,
    spaces_but_one,
    spaces,
};

// [\x{AC00}-\x{D7A3}\x{3131}-\x{318E}]+
// |[\x{FF01}\x{2026}\x{201C}\x{201D}\x{2018}\x{2019}\x{2014}\x{FF1A}\x{FF1B}\x{FF0C}
//   \x{3001}-\x{303F}\x{FE30}-\x{FE4F}]+
// |[\x{3105}-\x{312F}]+|[\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+
constexpr CodeRange hangul_codes[] = {{0x3131, 0x318E}, {0xAC00, 0xD7A3}};
constexpr CodeRange youtu_punctuation[] = {{0x2014, 0x2014}, {0x2018, 0x2019}, {0x201C, 0x201D},
                                           {0x2026, 0x2026}, {0x3001, 0x303F}, {0xFE30, 0xFE4F},
                                           {0xFF01, 0xFF01}, {0xFF0C, 0xFF0C}, {0xFF1A, 0xFF1B}};
constexpr CodeRange bopomofo_codes[] = {{0x3105, 0x312F}};
constexpr Alternative youtu_scripts[] = {
    Run{.body = any_of(0, hangul_codes)},
    Run{.body = any_of(0, youtu_punctuation)},
    Run{.body = any_of(0, bopomofo_codes)},
    han_and_kana_run,
};

// [\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{F900}-\x{FAFF}\x{3040}-\x{309F}\x{30A0}-\x{30FF}
//  \x{FF65}-\x{FF9F}\x{2F00}-\x{2FDF}\x{E40}-\x{E7F}\x{E80}-\x{EFF}\x{1780}-\x{17FF}
//  \x{1000}-\x{109F}\x{AA60}-\x{AA7F}\x{A9E0}-\x{A9FF}\x{AC00}-\x{D7AF}\x{1100}-\x{11FF}]+
constexpr CodeRange afmoe_codes[] = {
    {0xE40, 0xEFF},   {0x1000, 0x109F}, {0x1100, 0x11FF}, {0x1780, 0x17FF}, {0x2F00, 0x2FDF},
    {0x3040, 0x30FF}, {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xA9E0, 0xA9FF}, {0xAA60, 0xAA7F},
    {0xAC00, 0xD7AF}, {0xF900, 0xFAFF}, {0xFF65, 0xFF9F}};
constexpr Alternative afmoe_scripts[] = {Run{.body = any_of(0, afmoe_codes)}};

}  // namespace tandem::model::expressions
