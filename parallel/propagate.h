// The pass that puts a model and a plan together: forward, once, in graph order. Weights and states
// are anchored by the plan; activations travel. After GSPMD and Shardy, without their fixed points.
#pragma once

#include "parallel/placed.h"
#include "parallel/plan.h"

namespace tandem::parallel {

// Pointers into the graph and the plan stay in the result.
Placed propagate(const graph::Graph& graph, const Plan& plan, const DeviceTable& table);

}  // namespace tandem::parallel
