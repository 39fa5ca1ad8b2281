// An answer bound to a grammar. What a model thinks before it is free, and so are the marks around
// that, which are no part of the answer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/chat/thoughts.h"
#include "model/grammar/guide.h"
#include "model/sampler/sampler.h"
#include "model/tokenizer/tokenizer.h"

namespace tandem::model {

class BoundAnswer {
  public:
    // `special`: control tokens are written. The tokenizer outlives it.
    BoundAnswer(grammar::Grammar grammar, const Tokenizer& tokenizer, bool special);
    BoundAnswer(const BoundAnswer&) = delete;  // `bounds` looks at this one
    BoundAnswer& operator=(const BoundAnswer&) = delete;

    // A new answer, of a model that thinks by these marks, and may be thinking already.
    void begin(std::span<const Mark> marks = {}, const Voices& voices = {});

    // What may come next. While the model thinks, all but the end of the text. Before the answer,
    // a mark, if the model begins one; behind a thought, a token of white space.
    const Bounds& bounds() const { return bounds_; }
    // One that may come has come; white space in front of the answer may always.
    void accept(int32_t token);

    // The answer is as the grammar has it; and nothing can follow.
    bool can_end() const { return answers() && guide_.can_end(); }
    bool must_end() const { return answers() && guide_.must_end(); }

  private:
    enum class Part { Answer, Mark, Thought, Space };

    bool answers() const { return voices_.voice() == Voice::Answer && mark_.empty(); }
    std::string_view marked(int32_t token) const;  // its text, also of a control token
    // Whether it is the beginning of a mark that may stand before an answer, or all of it.
    bool goes_on(std::string_view mark) const;
    bool stays_thought(std::string_view text) const;
    bool is_of_mark(int32_t token) const;
    bool allows(int32_t token);
    // What a token is part of, if it is allowed.
    Part part_of(int32_t token);
    void forbid(std::span<float> logits);

    grammar::Guide guide_;
    const Tokenizer& tokenizer_;
    std::span<const Mark> marks_;
    std::vector<int32_t> of_marks_;  // tokens that are never text of an answer, in order
    Voices voices_;
    std::string mark_;     // so much of one has been written
    bool behind_ = false;  // a thought has just ended
    Bounds bounds_;
};

}  // namespace tandem::model
