// Qwen3.5 with experts in every block (Qwen team 2026).
#include "model/delta_net.h"
#include "model/mixture.h"

namespace tandem::model::arch {

namespace {

void build(Builder& model) { build_hybrid(model, HeadOrder::Tiled, mixture_and_shared_expert); }

}  // namespace

extern const Architecture qwen35moe{.name = "qwen35moe", .build = build};

}  // namespace tandem::model::arch
