// What tokens a text may go on with, so that it is one of a grammar's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/grammar/matcher.h"
#include "model/grammar/token_order.h"
#include "model/tokenizer/tokenizer.h"

namespace tandem::model::grammar {

class Guide {
  public:
    // Tokens are what is written of them, their texts where `special` says that control tokens are
    // written, too. The tokenizer outlives it.
    Guide(Grammar grammar, const Tokenizer& tokenizer, bool special = false);

    void begin() { position_ = matcher_.start(); }  // a new text

    // Whether a token may come next: one that writes something the text can go on with, or an end
    // of generation where the text may end. Throws Error where the text has too many readings.
    bool allows(int32_t token);
    // Sets the logits of all others to minus infinity. [vocab]
    void forbid(std::span<float> logits);
    // A token that is allowed has come.
    void accept(int32_t token);

    bool can_end() const { return matcher_.can_end(position_); }    // the text may end here
    bool must_end() const { return matcher_.must_end(position_); }  // and nothing can follow

  private:
    bool push(Matcher::Position& position, std::string_view text);
    std::vector<bool> allowed();

    Matcher matcher_;
    const Tokenizer* tokenizer_;
    bool special_;
    TokenOrder order_;  // made when it is first needed
    Matcher::Position position_;
};

}  // namespace tandem::model::grammar
