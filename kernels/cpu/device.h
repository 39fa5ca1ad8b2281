// Some cores of this machine as a device: a team of threads pinned to them, matrices packed for the
// best instruction set.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/team.h"
#include "kernels/device.h"
#include "kernels/storage.h"

namespace tandem::kernels {

class CpuDevice final : public Device {
  public:
    struct Options {
        std::string name;
        std::vector<int> cores;
        int threads = 0;            // fewer than there are cores; 0: one on each
        bool shares_cores = false;  // with another device
        int64_t total_bytes = 0, free_bytes = 0;
        int memory = host_memory;
        std::string_view variant = "";  // instruction set (variants.cpp); "": the usual
    };
    // Throws Error when the machine does not run the variant.
    explicit CpuDevice(const Options& options);

    const Description& description() const override { return description_; }
    Limits measure_limits() override;
    std::span<const Kernel> kernels() const override;
    const Kernel* copy() const override;
    int64_t packed_bytes(gguf::DType dtype, graph::Use use, int64_t matrices, int64_t rows,
                         int64_t columns) const override;
    int64_t row_multiple(gguf::DType dtype, graph::Use use) const override;
    void load_weight(int value, const WeightSource& source,
                     std::atomic<int64_t>& progress) override;
    void make_state(int value, gguf::DType dtype, int64_t rows, int64_t columns) override;
    void read_state(const StateRows& rows, std::byte* to) override;
    void write_state(const StateRows& rows, const std::byte* from) override;
    void make_arena(int64_t bytes) override;
    std::byte* exchange_memory(int64_t bytes) override;
    void reserve_inputs(int64_t capacity) override;
    graph::StepInputs& inputs() override { return inputs_; }
    int64_t own_bytes(int64_t longest_row) const override;
    std::unique_ptr<Recording> record(std::span<const Launch> launches,
                                      const Bindings& bindings) override;
    uint64_t play(Recording& recording) override;
    void wait(uint64_t) override {}  // play returns when done
    void divide(int64_t count,
                const std::function<void(int64_t first, int64_t end)>& work) override;
    void help(Device& other, const std::function<bool()>& done) override;

  private:
    Description description_;
    const cpu::Isa& isa_;
    cpu::Team team_;
    WeightMemory weights_;
    std::map<int, Buffer> states_;
    Buffer arena_;
    std::vector<Buffer> exchange_memory_;
    graph::StepInputs inputs_;
};

}  // namespace tandem::kernels
