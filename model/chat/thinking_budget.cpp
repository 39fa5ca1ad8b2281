#include "model/chat/thinking_budget.h"

namespace tandem::model {

ThinkingBudget::ThinkingBudget(const Tokenizer& tokenizer, std::span<const Mark> marks,
                               std::string_view prompt, int64_t tokens, const std::string& message)
    : tokenizer_(tokenizer),
      end_(tokenizer.encode(message + end_of_thoughts(marks), {.add_special = false})),
      voices_(marks, prompt),
      left_(tokens) {
    ends_ = thinks() && left_ == 0;
}

std::optional<int32_t> ThinkingBudget::dictated() const {
    if (!ends_ || dictated_ == end_.size()) return {};
    return end_[dictated_];
}

void ThinkingBudget::take(int32_t token) {
    if (ends_) {
        if (dictated_ < end_.size()) ++dictated_;
        return;
    }
    const bool thought = thinks();
    const std::string_view piece = tokenizer_.piece(token, true);
    voices_.push(piece);
    characters_.push(piece);
    if (thought && left_ > 0) --left_;
    // Not in the middle of a character.
    ends_ = thinks() && left_ == 0 && !characters_.waits();
}

}  // namespace tandem::model
