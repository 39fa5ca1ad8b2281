#include "model/tokenizer/split.h"

#include <algorithm>
#include <utility>

#include "model/tokenizer/scanners.h"

namespace tandem::model {
namespace {

bool in_ranges(std::span<const CodeRange> ranges, char32_t code) {
    const auto after = std::upper_bound(
        ranges.begin(), ranges.end(), code,
        [](char32_t wanted, const CodeRange& range) { return wanted < range.first; });
    return after != ranges.begin() && code <= std::prev(after)->last;
}

size_t match(const Run& run, Text text, size_t at) {
    const auto from = [&](size_t start) {
        const size_t end = run_end(run.body, text, start, run.most);
        return end - start < run.least ? at : run_end(run.tail, text, end, run.most_tail);
    };
    if (run.head.has(text[at])) {
        const size_t end = from(at + 1);
        if (end > at) return end;
    }
    return run.headed ? at : from(at);
}

size_t match(const CasedWord& word, Text text, size_t at) {
    // [upper]* [lower]+ gives back as much of the upper run as leaves one lower character.
    const auto ends_lower = [&](size_t start) {
        size_t end = run_end(word.upper, text, start);
        if (end < text.size() && word.lower.has(text[end])) return run_end(word.lower, text, end);
        while (end > start && !word.lower.has(text[end - 1])) --end;
        return end;
    };
    const auto starts_upper = [&](size_t start) {
        const size_t end = run_end(word.upper, text, start);
        return end == start ? start : run_end(word.lower, text, end);
    };
    const auto finish = [&](size_t end) {
        return word.contractions ? any_case_contraction(text, end) : end;
    };
    const bool headed = word.head.has(text[at]);
    if (headed) {
        if (const size_t end = ends_lower(at + 1); end > at + 1) return finish(end);
    }
    if (const size_t end = ends_lower(at); end > at) return finish(end);
    if (headed) {
        if (const size_t end = starts_upper(at + 1); end > at + 1) return finish(end);
    }
    const size_t end = starts_upper(at);
    return end > at ? finish(end) : at;
}

size_t match(Scan scan, Text text, size_t at) { return scan(text, at); }

size_t first_match(Expression expression, Text text, size_t at) {
    for (const Alternative& alternative : expression) {
        const size_t end =
            std::visit([&](const auto& kind) { return match(kind, text, at); }, alternative);
        if (end > at) return end;
    }
    return at;
}

void apply(Expression expression, Text text, std::vector<Text>& pieces) {
    size_t start = 0;  // of what no match has taken yet
    for (size_t at = 0; at < text.size();) {
        const size_t end = first_match(expression, text, at);
        if (end == at) {
            ++at;
            continue;
        }
        if (start < at) pieces.push_back(text.subspan(start, at - start));
        pieces.push_back(text.subspan(at, end - at));
        start = at = end;
    }
    if (start < text.size()) pieces.push_back(text.subspan(start));
}

void apply(Cut cut, Text text, std::vector<Text>& pieces) { cut(text, pieces); }

}  // namespace

bool Set::has(const Character& character) const {
    return ((character.classes & classes) != 0 || in_ranges(ranges, character.code)) != inverted;
}

size_t run_end(const Set& set, Text text, size_t at, size_t most) {
    const size_t end = text.size() - at > most ? at + most : text.size();
    while (at < end && set.has(text[at])) ++at;
    return at;
}

std::vector<Text> split(Text text, Steps steps) {
    std::vector<Text> pieces;
    if (!text.empty()) pieces.push_back(text);
    for (const Step& step : steps) {
        std::vector<Text> smaller;
        for (const Text piece : pieces) {
            std::visit([&](const auto& kind) { apply(kind, piece, smaller); }, step);
        }
        pieces = std::move(smaller);
    }
    return pieces;
}

}  // namespace tandem::model
