// Splitting text into the pieces that merging never crosses. The expressions that models publish
// for this are matched without a regular expression engine: at each position the alternatives are
// tried in order and the first that matches wins, as a backtracking engine would have it.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <variant>
#include <vector>

#include "model/tokenizer/characters.h"

namespace tandem::model {

using Text = std::span<const Character>;

struct CodeRange {
    char32_t first, last;
};

// A bracket expression: any of some classes, or of some code points; or anything but those.
struct Set {
    Classes classes = 0;
    std::span<const CodeRange> ranges = {};  // in order
    bool inverted = false;

    bool has(const Character& character) const;
};
constexpr Set any_of(Classes classes, std::span<const CodeRange> ranges = {}) {
    return {classes, ranges};
}
constexpr Set none_of(Classes classes, std::span<const CodeRange> ranges = {}) {
    return {classes, ranges, true};
}

// The end of the longest run of the set's characters from `at`; at most `most` of them.
constexpr size_t unlimited = std::numeric_limits<size_t>::max();
size_t run_end(const Set& set, Text text, size_t at, size_t most = unlimited);

// [head]? [body]{least,most} [tail]*
struct Run {
    Set head = {};
    Set body = {};
    Set tail = {};
    size_t least = 1;
    size_t most = unlimited;
    bool headed = false;  // the head must be there: [head] [body]...
    size_t most_tail = unlimited;
};

// [head]? [upper]* [lower]+ suffix?  |  [head]? [upper]+ [lower]* suffix?
// Letters without case and marks are in both sets.
struct CasedWord {
    Set head;
    Set upper;
    Set lower;
    bool contractions;  // the suffix is an English contraction, or there is none
};

// Anything else: the end of the match at `at`, or `at` where there is none. Matches are never
// empty.
using Scan = size_t (*)(Text text, size_t at);

using Alternative = std::variant<Run, CasedWord, Scan>;
using Expression = std::span<const Alternative>;

// A split that is easier said than matched: appends the parts of the piece to `pieces`.
using Cut = void (*)(Text piece, std::vector<Text>& pieces);

// Each step splits every piece the one before it left. An expression's matches become pieces, and
// so does what lies between them: nothing is lost. A piece sees nothing of its neighbours.
using Step = std::variant<Expression, Cut>;
using Steps = std::span<const Step>;

std::vector<Text> split(Text text, Steps steps);

}  // namespace tandem::model
