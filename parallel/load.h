// Loading: every device reads its own part of every weight, straight from the mapped file.
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "gguf/file.h"
#include "kernels/device.h"
#include "parallel/plan.h"

namespace tandem::parallel {

// Bytes of the file that all devices together will read.
int64_t bytes_to_load(const graph::Graph& graph, const Plan& plan);

// Loads the weights and makes the states, all devices at once. `progress` counts bytes; setting
// `cancelled` ends it with Error("interrupted").
void load(const gguf::File& file, const graph::Graph& graph, const Plan& plan,
          std::span<const std::unique_ptr<kernels::Device>> devices, std::atomic<int64_t>& progress,
          const std::atomic<bool>& cancelled);

}  // namespace tandem::parallel
