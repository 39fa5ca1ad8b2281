// A draw that prefers tokens whose probability is near to a target, which it moves so that the mean
// of those chosen comes to meet it: "adaptive-p", by MrJackSpade:
// https://github.com/MrJackSpade/adaptive-p-docs
#pragma once

#include <cstdint>
#include <optional>

#include "model/sampler/candidates.h"
#include "model/sampler/random.h"

namespace tandem::model {

class Adaptive {
  public:
    // `target` from 0 to 1; `decay`, below 1, is what a token still weighs in the mean when the
    // next is chosen.
    Adaptive(float target, float decay)
        : target_(target), decay_(decay), sum_(target / (1 - decay)), weight_(1 / (1 - decay)) {}

    // Sets logits and probabilities; gives the index of the chosen one. Throws Error where there is
    // nothing to draw from.
    size_t draw(Candidates& candidates, Random& random);
    // A token of the text: the mean is of those that were drawn.
    void accept(int32_t token);

  private:
    float target_, decay_;
    float sum_, weight_;            // of probabilities, the newest of which has weight 1
    std::optional<int32_t> drawn_;  // not accepted yet
    float probability_ = 0;         // that it had at first
};

}  // namespace tandem::model
