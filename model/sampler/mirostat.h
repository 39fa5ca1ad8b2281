// A sampler that keeps the surprise of a text at a target: the larger that of the tokens chosen
// was, the fewer are left to choose from. arXiv 2007.14966. It takes the place of all others that
// shorten the list, and of the draw.
#pragma once

#include "model/sampler/candidates.h"
#include "model/sampler/random.h"

namespace tandem::model {

class Mirostat {
  public:
    // `version` 1 estimates how many tokens have less than the surprise allowed, from the way the
    // likeliest ones fall off; 2 looks at the surprise of each. `target` is in bits.
    Mirostat(int64_t version, float target, float rate)
        : version_(version), target_(target), rate_(rate), allowed_(2 * target) {}

    // Shortens the list and sets the probabilities; gives the index of the chosen one. Throws Error
    // where there is nothing to draw from.
    size_t draw(Candidates& candidates, Random& random);

  private:
    int64_t version_;
    float target_, rate_;
    float allowed_;  // surprise of the next token
};

}  // namespace tandem::model
