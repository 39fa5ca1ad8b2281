// The choice among what the samplers leave.
#pragma once

#include "model/sampler/candidates.h"
#include "model/sampler/random.h"

namespace tandem::model {

// Throws Error where all candidates are forbidden, or a logit is infinite.
void require_drawable(const Candidates& candidates);

// Draws from what is left: the first candidate at which the sum of probabilities reaches a random
// share of the whole. A single candidate is taken without drawing. Sets the probabilities; gives
// the index of the chosen one. Throws Error as above.
size_t draw(Candidates& candidates, Random& random);

// The same by the probabilities that are there.
size_t draw_by_probability(const Candidates& candidates, Random& random);

}  // namespace tandem::model
