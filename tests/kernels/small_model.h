// A model of a few nodes with random weights, run on one device or several: what kernels are
// compared on.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/ops.h"
#include "graph/step.h"
#include "kernels/device.h"
#include "parallel/plan.h"
#include "parallel/project.h"

namespace tandem::test {

using graph::Axis;
using graph::Graph;
using graph::Shape;
using graph::Tensor;

class SmallModel {
  public:
    Graph graph;

    Axis axis(const std::string& name, int64_t extent) { return graph.axis(name, extent); }
    // Random normal weights times `scale`, encoded as `dtype`; of types that can only be read,
    // blocks of random values around 1.
    Tensor weight(const std::string& name, gguf::DType dtype, const Shape& rows,
                  const Shape& columns, float scale = 1);
    // Rows as `fill` writes them, one after another, for types without an encoder.
    using Fill = std::function<void(std::span<std::byte> row)>;
    Tensor weight(const std::string& name, gguf::DType dtype, const Shape& rows,
                  const Shape& columns, const Fill& fill);
    // An activation of any shape: a lookup in a table of random rows, one per token id.
    Tensor activation(const std::string& name, const Shape& axes, float scale = 1);
    // Ends the graph: the result is y [tokens ...] of all tokens.
    void finish(Tensor y);
    // The same where what can run over the wanted rows alone does.
    void finish_in_head(Tensor y);

    // The result on a device that holds all of it. Steps run one after another.
    std::vector<float> run(std::unique_ptr<kernels::Device> device,
                           const std::vector<graph::StepInputs>& steps) const;
    // The result on devices among which it is split by `mode`.
    std::vector<float> run(std::vector<std::unique_ptr<kernels::Device>> devices,
                           const std::string& mode,
                           const std::vector<graph::StepInputs>& steps) const;

    // What a device that holds all of it runs, for steps of up to so many tokens.
    parallel::Programs programs(const kernels::Device& device, int64_t most_tokens) const;

    static constexpr int64_t ids = 97;  // rows of activation tables

  private:
    struct Stored {
        gguf::DType dtype;
        int64_t row_bytes;
        std::vector<std::byte> bytes;
    };
    void load(const parallel::Plan& plan, int number, kernels::Device& device) const;

    std::map<int, Stored> stored_;  // by value
    unsigned seed_ = 1;
};

// An activation whose elements are what `value` says of a token's id and an element's number.
Tensor activation_of(SmallModel& model, const std::string& name, const Shape& axes,
                     const std::function<float(int32_t id, size_t element)>& value);

// A step of `count` tokens of slot 0 with pseudo-random ids, all rows wanted.
graph::StepInputs random_step(int32_t cached, int32_t count, unsigned seed = 7);

}  // namespace tandem::test
