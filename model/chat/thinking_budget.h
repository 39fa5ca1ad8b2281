// A bound on how long a model thinks before it answers: where a thought has as many tokens as it
// may, the model is made to write what ends it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/chat/thoughts.h"
#include "model/tokenizer/tokenizer.h"
#include "model/tokenizer/utf8_stream.h"

namespace tandem::model {

class ThinkingBudget {
  public:
    // For one answer, which goes on with a prompt that may have begun a thought. `message` stands
    // at the end of a thought that is cut. The tokenizer outlives it.
    ThinkingBudget(const Tokenizer& tokenizer, std::span<const Mark> marks, std::string_view prompt,
                   int64_t tokens, const std::string& message);

    // The token that comes next, whatever the model would write; none where that is the model's
    // choice.
    std::optional<int32_t> dictated() const;
    void take(int32_t token);  // came

  private:
    bool thinks() const { return voices_.voice() == Voice::Thought; }

    const Tokenizer& tokenizer_;
    const std::vector<int32_t> end_;
    Voices voices_;
    Utf8Stream characters_;
    int64_t left_;         // tokens that the thought may have
    bool ends_ = false;    // the thought is made to end,
    size_t dictated_ = 0;  // by these tokens, so many of which have come
};

}  // namespace tandem::model
