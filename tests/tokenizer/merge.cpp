// Merging against the plain reading of its definition.
#include "model/tokenizer/merge.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace tandem::model {
namespace {

// Joins while the text of both is short enough; the rank is a scrambled function of the text.
struct Rule {
    std::string text;
    size_t longest;

    std::optional<Joint> operator()(const Symbol& left, const Symbol& right) const {
        const size_t length = left.length + right.length;
        if (length > longest) return std::nullopt;
        const auto hash = std::hash<std::string>{}(text.substr(left.begin, length));
        if (hash % 4 == 0) return std::nullopt;
        return Joint{static_cast<uint32_t>(hash % 100), static_cast<int32_t>(length)};
    }
};

void merge_plainly(std::vector<Symbol>& symbols, const Rule& rule) {
    while (true) {
        std::optional<Joint> best;
        size_t best_at = 0;
        for (size_t at = 0; at + 1 < symbols.size(); ++at) {
            const auto joint = rule(symbols[at], symbols[at + 1]);
            if (joint && (!best || joint->rank < best->rank)) {
                best = joint;
                best_at = at;
            }
        }
        if (!best) return;
        symbols[best_at].length += symbols[best_at + 1].length;
        symbols[best_at].id = best->id;
        symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(best_at) + 1);
    }
}

TEST(Merge, agrees_with_its_definition_at_every_length) {
    std::mt19937 random(7);
    for (size_t length = 0; length < 120; ++length) {
        Rule rule{.text = {}, .longest = 1 + length % 9};
        std::vector<Symbol> symbols;
        for (size_t at = 0; at < length; ++at) {
            rule.text.push_back("ab"[random() % 2]);
            symbols.push_back({at, 1, 1});
        }
        std::vector<Symbol> expected = symbols;
        merge_plainly(expected, rule);
        merge(symbols, rule);
        ASSERT_EQ(symbols.size(), expected.size()) << rule.text;
        for (size_t i = 0; i < symbols.size(); ++i) {
            EXPECT_EQ(symbols[i].begin, expected[i].begin);
            EXPECT_EQ(symbols[i].length, expected[i].length);
            EXPECT_EQ(symbols[i].id, expected[i].id);
        }
    }
}

}  // namespace
}  // namespace tandem::model
