// Texts held against grammars.
#pragma once

#include <string>
#include <string_view>

#include "gguf/vectors.h"
#include "model/grammar/matcher.h"

namespace tandem::test {

using model::grammar::Grammar;
using model::grammar::Matcher;

// Whether a grammar has a text; with `begun`, a text that begins with it.
inline bool matches(Matcher& matcher, std::string_view text, bool begun = false) {
    Matcher::Position position = matcher.start();
    for (const char byte : text)
        if (!matcher.push(position, uint8_t(byte)) || !matcher.goes_on(position)) return false;
    return begun || matcher.can_end(position);
}

inline bool matches(std::string_view grammar, std::string_view text, bool begun = false) {
    Matcher matcher{Grammar(grammar)};
    return matches(matcher, text, begun);
}

}  // namespace tandem::test
