// The oracle as a device: runs the ops' own reference code, in one thread, on weights as the file
// stores them.
#pragma once

#include <map>
#include <vector>

#include "kernels/device.h"
#include "kernels/storage.h"

namespace tandem::kernels {

class ReferenceDevice : public Device {
  public:
    ReferenceDevice(std::string name, int64_t free_bytes, bool shares_cores = false);

    const Description& description() const override { return description_; }
    Limits measure_limits() override;
    std::span<const Kernel> kernels() const override;
    const Kernel* copy() const override;
    int64_t packed_bytes(gguf::DType dtype, graph::Use use, int64_t matrices, int64_t rows,
                         int64_t columns) const override;
    int64_t row_multiple(gguf::DType, graph::Use) const override { return 1; }
    void load_weight(int value, const WeightSource& source,
                     std::atomic<int64_t>& progress) override;
    void make_state(int value, gguf::DType dtype, int64_t rows, int64_t columns) override;
    void read_state(const StateRows& rows, std::byte* to) override;
    void write_state(const StateRows& rows, const std::byte* from) override;
    void make_arena(int64_t bytes) override {
        weights_.trim();
        arena_ = Buffer(bytes);
    }
    std::byte* exchange_memory(int64_t bytes) override;
    void reserve_inputs(int64_t capacity) override;
    graph::StepInputs& inputs() override { return inputs_; }
    std::unique_ptr<Recording> record(std::span<const Launch> launches,
                                      const Bindings& bindings) override;
    uint64_t play(Recording& recording) override;
    void wait(uint64_t) override {}  // play returns when done

  private:
    Description description_;
    WeightMemory weights_;
    std::map<int, Buffer> states_;
    Buffer arena_;
    std::vector<Buffer> exchange_memory_;
    graph::StepInputs inputs_;
};

}  // namespace tandem::kernels
