// A Vulkan device: weights taken apart into planes in its memory, launches recorded once into
// command buffers, every address known when they are recorded.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "kernels/device.h"
#include "kernels/vulkan/adapter.h"
#include "kernels/vulkan/memory.h"
#include "kernels/vulkan/pipelines.h"
#include "kernels/vulkan/site.h"
#include "kernels/vulkan/upload.h"

namespace tandem::kernels::vulkan {

class VulkanDevice final : public Device {
  public:
    explicit VulkanDevice(const VulkanOptions& options);
    ~VulkanDevice() override;

    const Description& description() const override { return description_; }
    Limits measure_limits() override;
    std::span<const Kernel> kernels() const override { return claims(facts_.features); }
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
    std::unique_ptr<Recording> record(std::span<const Launch> launches,
                                      const Bindings& bindings) override;
    uint64_t play(Recording& recording) override;
    void wait(uint64_t value) override;

  private:
    Address address_of(const std::byte* exchanged) const;
    Address codebook(gguf::DType dtype);
    void write_step();
    Block rows_in(const StateRows& rows) const;

    // In the order of creation: what is below is made of what is above.
    Drivers drivers_;
    vk::raii::PhysicalDevice adapter_;
    AdapterFacts facts_;
    vk::raii::Device device_;
    vk::raii::Queue queue_;
    Memory memory_;
    Pipelines pipelines_;
    vk::raii::CommandPool commands_;
    vk::raii::Semaphore timeline_;
    uint64_t played_ = 0;  // what the timeline reaches when all that was played is done
    Upload upload_;

    Description description_;
    std::map<int, Address> weights_, states_;
    std::map<int, std::vector<float>> vectors_;
    std::map<gguf::DType, Address> codebooks_;
    std::map<int, Block> state_blocks_;  // where states_ are
    std::vector<Block> exchanged_;
    Block arena_, step_, read_;  // the last: on the way out of states
    StepAddresses step_addresses_;
    graph::StepInputs inputs_;                  // what launches are to see,
    std::optional<graph::StepInputs> written_;  // and what they see
};

}  // namespace tandem::kernels::vulkan
