// A grammar as it is written: rules, each an expression over characters and other rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/grammar/character_set.h"

namespace tandem::model::grammar {

struct Expression {
    enum class Kind : uint8_t {
        Characters,  // one of a set
        Reference,   // what a rule stands for
        Sequence,    // all parts; without any, nothing
        Choice,      // one of the parts
        Repeat       // the only part, `least` to `most` times
    };
    static constexpr int32_t endless = -1;

    Kind kind = Kind::Sequence;
    int32_t index = 0;  // of the set or the rule
    int32_t least = 0, most = 0;
    std::vector<Expression> parts = {};
};

struct Rule {
    std::string name;
    int line = 0;
    Expression body = {};
};

struct Syntax {
    std::vector<CharacterSet> sets;
    std::vector<Rule> rules;
    int32_t root = 0;
};

// How often something may be repeated at most, where there is a limit.
inline constexpr int32_t most_repetitions = 100000;

// Reads GBNF, the notation of llama.cpp's grammars: rules name ::= "text" [a-z] . other-rule (a |
// b) with * + ? {m} {m,} {m,n} behind what is repeated, and comments from # to the end of a line. A
// rule ends with its line, except in parentheses and behind | and ::=. Throws Error, in the name
// of `source`, with the line, the column, and what was expected there.
Syntax parse(std::string_view text, const std::string& source);

}  // namespace tandem::model::grammar
