// Qwen3-Next (Qwen team 2025): three blocks of four are delta nets; experts in every block.
#include "model/delta_net.h"
#include "model/mixture.h"

namespace tandem::model::arch {

namespace {

void build(Builder& model) { build_hybrid(model, HeadOrder::Grouped, mixture_and_shared_expert); }

}  // namespace

extern const Architecture qwen3next{.name = "qwen3next", .build = build};

}  // namespace tandem::model::arch
