// Keeps a text from going on as it did before: the longer what would be repeated, the less likely
// is the token that repeats more of it. "Don't repeat yourself", by p-e-w:
// https://github.com/oobabooga/text-generation-webui/pull/5677
#pragma once

#include "model/sampler/stage.h"

namespace tandem::model {

bool dry_active(const SamplingOptions& options);
void dry(Candidates& candidates, StageState state);

}  // namespace tandem::model
