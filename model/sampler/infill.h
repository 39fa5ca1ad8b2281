// What fits into a gap between two texts: few likely tokens, or the end where the model is unsure.
#pragma once

#include "model/sampler/stage.h"

namespace tandem::model {

void infill(Candidates& candidates, StageState state);

}  // namespace tandem::model
