// Special tokens in text: their texts are cut out before anything else is looked at.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/byte_range.h"
#include "model/tokenizer/vocabulary.h"

namespace tandem::model {

// A part of a text: one special token, or raw text without a token.
struct Fragment {
    std::string_view text;
    std::optional<int32_t> token;
};

// White space that special tokens take with them, as a few families' tokenizers do.
struct Swallowing {
    // Behind every special token but <unk>, <s> and <|endoftext|>.
    bool right = false;
    // Before the token with this text.
    std::string_view left = {};
};

class SpecialTokens {
  public:
    SpecialTokens() = default;  // none
    // `shown`: user-defined tokens that are the syntax of conversations, as control tokens are.
    SpecialTokens(const Vocabulary& vocabulary, const Swallowing& swallowing,
                  const std::set<int32_t>& shown = {});

    // The fragments of a text, in order. Longer special texts are cut out before shorter ones,
    // wherever they stand. User-defined tokens are always found, control and unknown tokens where
    // `all` says so. In one of the `plain` ranges, which are in order, syntax has not a byte.
    std::vector<Fragment> partition(std::string_view text, bool all,
                                    std::span<const ByteRange> plain = {}) const;

  private:
    struct Candidate {
        std::string text;
        int32_t id = 0;
        bool always = false;  // user-defined
        bool syntax = true;   // no part of what a text says
        bool swallows_left = false;
        bool swallows_right = false;
    };

    std::vector<bool> present(std::string_view text) const;
    // Leaves occurrences alone for whose place in the text `stays` is true.
    template <typename Stays>
    static void cut_out(const Candidate& candidate, std::vector<Fragment>& fragments,
                        const Stays& stays);

    std::vector<Candidate> candidates_;  // longest text first, then by id
    std::vector<size_t> by_text_;        // of `candidates_`, in the order of their texts
    std::array<size_t, 257> by_byte_{};  // where in `by_text_` each first byte begins
};

}  // namespace tandem::model
