// A small model with made-up weights on some devices, driven through the real executor: what is
// measured with it is what a model gets.
#pragma once

#include <memory>
#include <span>

#include "kernels/device.h"
#include "parallel/executor.h"
#include "parallel/plan.h"

namespace tandem::cli {

// A chain of `layers` pairs of matrices, `embd` to `ffn` and back.
struct Chain {
    int layers = 1;
    int64_t embd = 0, ffn = 0;
    gguf::DType dtype = gguf::DType::F32;

    double stored_bytes() const;   // of all matrices
    double multiply_adds() const;  // of a token
};

class Probe {
  public:
    Probe(const Chain& chain, std::span<const std::unique_ptr<kernels::Device>> devices,
          const parallel::PlanOptions& options);

    struct Times {
        double seconds = 0;   // of a step
        double exchange = 0;  // of those, in exchanges
    };
    // The mean of as many steps as fit into the time, at least two, after one more.
    Times run(int64_t tokens, double seconds);

  private:
    Times step(int64_t tokens);

    std::unique_ptr<graph::Graph> graph_;
    parallel::Plan plan_;
    parallel::Placed placed_;
    std::unique_ptr<parallel::Executor> executor_;
};

}  // namespace tandem::cli
