// One model on one set of devices: the whole chain from a file to logits.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/interrupts.h"
#include "gguf/file.h"
#include "kernels/devices.h"
#include "model/architecture.h"
#include "parallel/executor.h"
#include "parallel/plan.h"
#include "parallel/propagate.h"

namespace tandem::cli {

struct EngineOptions {
    model::Options model;
    std::vector<std::string> devices{"reference"};  // none: those of the table, for a plan only
    kernels::DeviceOptions how;
    parallel::PlanOptions plan;
    std::optional<std::filesystem::path> device_table;
    std::filesystem::path cache;  // where measurements of devices are kept; empty: nowhere
    parallel::Wire wire = parallel::Wire::F32;
    bool timed = false;                      // the executor will be asked what its time went into
    const Interrupts* interrupts = nullptr;  // the first one ends measurements
    std::string_view fewer_tokens = "a shorter context (-c)";  // for advice: how to ask for them
};

// What messages call a device: "cpu", or where several have that name "1 (cpu)".
std::string name_of(const parallel::DeviceTable& table, size_t device);

// Everything before a byte is loaded: what `plan` prints, and what the engine is built on.
struct Blueprint {
    std::unique_ptr<graph::Graph> graph;
    std::vector<std::unique_ptr<kernels::Device>> devices;  // empty where only a table is known
    parallel::DeviceTable table;
    parallel::Plan plan;
    parallel::Placed placed;
    std::vector<parallel::Programs> programs;  // of each device
    // Bytes per device.
    std::vector<int64_t> weights, states, scratch;
    int64_t needed(size_t device) const {
        return weights[device] + states[device] + scratch[device];
    }
};

// What helps where this device has too little.
std::string less_memory(const Blueprint& blueprint, const EngineOptions& options, size_t device);

std::unique_ptr<Blueprint> make_blueprint(const gguf::File& file, const EngineOptions& options);

class Engine {
  public:
    // Loads the model. `progress(done, total)` is called now and then with bytes of the file, and
    // may return false to give up. Throws Error, also when the devices have too little memory.
    using Progress = std::function<bool(int64_t done, int64_t total)>;
    Engine(const gguf::File& file, const EngineOptions& options, const Progress& progress = {});

    parallel::Executor& executor() { return *executor_; }
    const Blueprint& blueprint() const { return *blueprint_; }

  private:
    std::unique_ptr<Blueprint> blueprint_;
    std::unique_ptr<parallel::Executor> executor_;
};

}  // namespace tandem::cli
