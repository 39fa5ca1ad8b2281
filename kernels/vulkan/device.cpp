#include "kernels/vulkan/device.h"

#include <algorithm>
#include <cstring>

#include "gguf/error.h"
#include "kernels/vulkan/codebooks.h"
#include "kernels/vulkan/forms.h"
#include "kernels/vulkan/matrix_check.h"
#include "kernels/vulkan/matrix_units.h"
#include "kernels/vulkan/planes.h"
#include "kernels/vulkan/recording.h"

namespace tandem::kernels::vulkan {

namespace {

// Runs `action`, which looks for adapters.
template <typename Action>
auto looking_for(const std::string& device, Action action) {
    try {
        return action();
    } catch (const Error& error) {
        throw Error("device " + device + " does not exist: " + error.what());
    }
}

vk::raii::PhysicalDevice choose(const vk::raii::Instance& instance, size_t number) {
    std::vector<vk::raii::PhysicalDevice> all = adapters_of(instance);
    if (number < all.size()) return std::move(all[number]);
    std::string known;
    for (size_t i = 0; i < all.size(); ++i)
        known += (i == 0 ? "" : ", ") + ("vulkan" + std::to_string(i)) + " (" +
                 all[i].getProperties().deviceName.data() + ")";
    throw Error((all.size() == 1 ? "there is " : "there are ") + known);
}

// With the features that the device is to use.
AdapterFacts usable_facts(const vk::raii::PhysicalDevice& adapter, const VulkanOptions& options) {
    AdapterFacts facts = facts_of(adapter);
    require_usable(facts.adapter, options.name);
    if (options.products == Products::Best) return facts;
    if (options.products == Products::InDots && !facts.dots)
        throw Error("device " + options.name + " (" + facts.adapter.name +
                    ") has no integer dot products; without them it computes in fp32");
    Features& features = facts.features;
    features.integer_dots = options.products == Products::InDots;
    features.matrix_units =
        options.products == Products::OnPlainUnits ? plain_matrix_units() : MatrixUnits{};
    facts.adapter.features = text_of(features, facts.adapter.software);
    return facts;
}

vk::raii::Semaphore make_timeline(const vk::raii::Device& device) {
    const vk::SemaphoreTypeCreateInfo type{.semaphoreType = vk::SemaphoreType::eTimeline};
    return {device, {.pNext = &type}};
}

// Of a GPU that was idle: a third of its speed was seen.
constexpr double seconds_of_warmup = 0.5;

// What needs less memory for activations.
constexpr std::string_view smaller_steps = "use smaller steps (-ub)";

bool is_vector(graph::Use use) { return use == graph::Use::Vector; }

}  // namespace

VulkanDevice::VulkanDevice(const VulkanOptions& options)
    : drivers_(looking_for(options.name, open_drivers)),
      adapter_(looking_for(options.name,
                           [&] { return choose(drivers_.instance, size_t(options.adapter)); })),
      facts_(usable_facts(adapter_, options)),
      device_(make_device(adapter_, facts_)),
      queue_(device_, facts_.queue_family, 0),
      memory_(adapter_, device_, options.name),
      pipelines_(device_, facts_.full_subgroups),
      commands_(device_, {.queueFamilyIndex = facts_.queue_family}),
      timeline_(make_timeline(device_)),
      upload_(device_, queue_, facts_.queue_family, memory_) {
    const VulkanAdapter& adapter = facts_.adapter;
    MatrixUnits& units = facts_.features.matrix_units;
    const bool failed = units && !matrix_units_hold(device_, queue_, commands_, pipelines_, memory_,
                                                    facts_.features);
    if (failed) units = {};
    description_ = {.name = options.name,
                    .kind = "vulkan",
                    .features = adapter.name + ", " + adapter.driver + ", " + adapter.features +
                                (failed ? " that failed their check" : ""),
                    .rounding = "vulkan " + adapter.name + ", " + adapter.driver +
                                (facts_.features.integer_dots ? ", integer dots" : "") +
                                (units ? ", " + text_of(units) : ""),
                    .total_bytes = adapter.total_bytes,
                    .free_bytes = free_for(adapter, options),
                    .in_host_memory = adapter.software || adapter.integrated,
                    .memory = adapter.software ? host_memory : memory_of_adapter(options.adapter),
                    .warmup_seconds = adapter.software ? 0 : seconds_of_warmup,
                    .shares_cores = adapter.software};
}

VulkanDevice::~VulkanDevice() {
    try {
        device_.waitIdle();
    } catch (const vk::SystemError&) {
        // A lost device has nothing left to wait for.
    }
}

const Kernel* VulkanDevice::copy() const { return dense().prepare; }

int64_t VulkanDevice::packed_bytes(gguf::DType dtype, graph::Use use, int64_t matrices,
                                   int64_t rows, int64_t columns) const {
    const int64_t row =
        is_vector(use) ? columns * int64_t(sizeof(float)) : plane_row_bytes(dtype, columns);
    return matrices * rows * row;
}

int64_t VulkanDevice::row_multiple(gguf::DType dtype, graph::Use use) const {
    // Rows of one matrix are often columns of the next, which matrix units take by whole turns;
    // blocks of other types see to that by themselves.
    const bool plain = gguf::is_plain(dtype) && !is_vector(use);
    return facts_.features.matrix_units && plain ? columns_together : 1;
}

void VulkanDevice::load_weight(int value, const WeightSource& source,
                               std::atomic<int64_t>& progress) {
    guarded(description_.name, "loading weights", [&] {
        const int64_t rows = source.matrices * source.rows, columns = source.columns;
        const int64_t stored = gguf::row_bytes(source.dtype, columns);
        const int64_t held = packed_bytes(source.dtype, source.use, 1, 1, columns);
        if (held > Upload::longest_unit)
            throw Error("device " + description_.name + ": a weight has rows of " +
                        std::to_string(columns) + " elements, of which Vulkan devices load " +
                        std::to_string(Upload::longest_unit >> 20) +
                        " MiB in one piece; use the CPU (-dev cpu)");
        // Factors of ropes have one axis; biases of experts, which take more room, have two.
        const bool has_one_axis = is_vector(source.use) && std::min(rows, columns) == 1;
        std::vector<float>* copy = has_one_axis ? &vectors_[value] : nullptr;
        if (copy) copy->resize(size_t(rows * columns));
        const Block block = memory_.take(rows * held, Reach::Device);
        upload_.write(block, rows * held, held, [&](std::span<std::byte> run, int64_t first) {
            std::vector<std::byte> scratch(static_cast<size_t>(stored));
            std::vector<float> values(is_vector(source.use) ? size_t(columns) : 0);
            for (int64_t at = 0; at < int64_t(run.size()); at += held) {
                const int64_t number = (first + at) / held;
                const std::byte* row = source.row(number, scratch.data());
                if (is_vector(source.use)) {
                    gguf::decode_row(source.dtype, row, values);
                    std::memcpy(run.data() + at, values.data(), size_t(held));
                    if (copy) std::ranges::copy(values, copy->begin() + number * columns);
                } else {
                    to_planes(source.dtype, columns, row, run.data() + at);
                }
                progress += stored;
            }
        });
        weights_[value] = block.address;
    });
}

Address VulkanDevice::codebook(gguf::DType dtype) {
    auto known = codebooks_.find(dtype);
    if (known != codebooks_.end()) return known->second;
    const std::span<const uint32_t> words = vulkan::codebook(dtype);
    if (words.empty()) return codebooks_[dtype] = 0;
    const Block block = memory_.take(int64_t(words.size_bytes()), Reach::Device);
    upload_.write(
        block, int64_t(words.size_bytes()), 4, [&](std::span<std::byte> run, int64_t first) {
            std::memcpy(run.data(), reinterpret_cast<const std::byte*>(words.data()) + first,
                        run.size());
        });
    return codebooks_[dtype] = block.address;
}

void VulkanDevice::make_state(int value, gguf::DType dtype, int64_t rows, int64_t columns) {
    guarded(description_.name, "making caches", [&] {
        const Block block =
            memory_.take(rows * plane_row_bytes(dtype, columns), Reach::Device,
                         "divide the model among more devices, or try a shorter context");
        upload_.clear(block);
        states_[value] = block.address;
        state_blocks_[value] = block;
    });
}

void VulkanDevice::make_arena(int64_t bytes) {
    guarded(description_.name, "making room for activations", [&] {
        arena_ = memory_.take(bytes, Reach::Device, smaller_steps);
        upload_.clear(arena_);
        upload_.finish();
    });
}

std::byte* VulkanDevice::exchange_memory(int64_t bytes) {
    return guarded(description_.name, "making room for exchanges", [&] {
        exchanged_.push_back(memory_.take(bytes, Reach::Shared, smaller_steps));
        return exchanged_.back().mapped;
    });
}

Address VulkanDevice::address_of(const std::byte* exchanged) const {
    for (const Block& block : exchanged_)
        if (block.mapped == exchanged) return block.address;
    check(!exchanged, "exchanges lie in memory of the device");
    return 0;
}

// The arrays of a step, each with room for `capacity` tokens, behind the counts.
void VulkanDevice::reserve_inputs(int64_t capacity) {
    inputs_.ids.reserve(size_t(capacity));
    guarded(description_.name, "making room for inputs", [&] {
        constexpr int64_t counts = 16;
        step_ = memory_.take(counts + capacity * 4 * (2 + 2 * (4 + 1 + 1)), Reach::Written);
        written_.reset();
        Address next = step_.address;
        auto take = [&](int64_t words) { return std::exchange(next, next + Address(words) * 4); };
        step_addresses_.tokens = take(1);
        step_addresses_.rows = take(1);
        step_addresses_.sequence_count = take(1);
        take(1);  // what follows is aligned to 16
        StandingAddresses* const both[] = {&step_addresses_.of_tokens, &step_addresses_.of_rows};
        for (StandingAddresses* of : both) of->sequences = take(4 * capacity);
        for (StandingAddresses* of : both) {
            of->positions = take(capacity);
            of->sequence_of = take(capacity);
        }
        step_addresses_.ids = take(capacity);
        step_addresses_.row_numbers = take(capacity);
    });
}

// Recordings that are played one after another share a step.
void VulkanDevice::write_step() {
    if (inputs_ == written_) return;
    written_ = inputs_;
    auto put = [&](Address at, const void* from, size_t bytes) {
        std::memcpy(step_.mapped + (at - step_.address), from, bytes);
    };
    auto put_all = [&](Address at, std::span<const int32_t> values) {
        put(at, values.data(), values.size() * 4);
    };
    auto put_standing = [&](const StandingAddresses& to, const graph::Standing& from) {
        static_assert(sizeof(graph::Sequence) == 16);
        put(to.sequences, from.sequences.data(), from.sequences.size() * 16);
        put_all(to.positions, from.positions);
        std::vector<int32_t> sequence_of(from.positions.size());
        for (size_t i = 0; i < from.sequences.size(); ++i)
            std::fill_n(sequence_of.begin() + from.sequences[i].first, from.sequences[i].count,
                        int32_t(i));
        put_all(to.sequence_of, sequence_of);
        // As programs for one token take for granted.
        check(from.positions.size() != 1 || from.sequences.size() == 1,
              "sequences of a step have tokens");
    };
    const uint32_t counts[] = {uint32_t(inputs_.tokens()), uint32_t(inputs_.rows.size()),
                               uint32_t(inputs_.sequences.size())};
    put(step_addresses_.tokens, counts, sizeof counts);
    put_all(step_addresses_.ids, inputs_.ids);
    put_all(step_addresses_.row_numbers, inputs_.rows);
    put_standing(step_addresses_.of_tokens, inputs_.of_tokens());
    put_standing(step_addresses_.of_rows, inputs_.of_rows());
}

std::unique_ptr<Recording> VulkanDevice::record(std::span<const Launch> launches,
                                                const Bindings& bindings) {
    return guarded(description_.name, "recording", [&] {
        Site site{.weights = weights_,
                  .states = states_,
                  .vectors = vectors_,
                  .codebook = [this](gguf::DType dtype) { return codebook(dtype); },
                  .keep =
                      [this](std::span<const std::byte> bytes) {
                          const Block block = memory_.take(int64_t(bytes.size()), Reach::Written);
                          std::memcpy(block.mapped, bytes.data(), bytes.size());
                          return block.address;
                      },
                  .cleared =
                      [this](int64_t bytes) {
                          const Block block = memory_.take(bytes, Reach::Device);
                          upload_.clear(block);
                          return block.address;
                      },
                  .arena = arena_.address,
                  .sending = address_of(bindings.sending),
                  .landing = address_of(bindings.landing),
                  .step = step_addresses_,
                  .features = facts_.features};
        const Recorder recorder{device_, pipelines_, memory_, commands_,
                                bindings.timed ? facts_.ticks : Ticks{}};
        auto recording = recorder.record(launches, site);
        recording->cancelled = bindings.cancelled;
        return recording;
    });
}

uint64_t VulkanDevice::play(Recording& recording) {
    auto& replayed = static_cast<VulkanRecording&>(recording);
    return guarded(description_.name, "computing", [&] {
        if (replayed.cancelled->load(std::memory_order_acquire)) return played_;
        const uint64_t wait = played_, signal = played_ + 1;
        replayed.add_times();
        write_step();
        set_counts(replayed, inputs_.tokens(), int64_t(inputs_.rows.size()));
        const vk::TimelineSemaphoreSubmitInfo values{.waitSemaphoreValueCount = 1,
                                                     .pWaitSemaphoreValues = &wait,
                                                     .signalSemaphoreValueCount = 1,
                                                     .pSignalSemaphoreValues = &signal};
        const vk::Semaphore timeline = *timeline_;
        const vk::PipelineStageFlags stage = vk::PipelineStageFlagBits::eAllCommands;
        const vk::CommandBuffer commands = *replayed.commands;
        queue_.submit(vk::SubmitInfo{.pNext = &values,
                                     .waitSemaphoreCount = 1,
                                     .pWaitSemaphores = &timeline,
                                     .pWaitDstStageMask = &stage,
                                     .commandBufferCount = 1,
                                     .pCommandBuffers = &commands,
                                     .signalSemaphoreCount = 1,
                                     .pSignalSemaphores = &timeline});
        replayed.stamped = replayed.stamps.count > 0;
        return played_ = signal;
    });
}

void VulkanDevice::wait(uint64_t value) {
    guarded(description_.name, "computing", [&] {
        const vk::Semaphore timeline = *timeline_;
        while (device_.waitSemaphores(
                   {.semaphoreCount = 1, .pSemaphores = &timeline, .pValues = &value},
                   UINT64_MAX) == vk::Result::eTimeout)
            continue;
    });
}

}  // namespace tandem::kernels::vulkan

namespace tandem::kernels {

std::unique_ptr<Device> make_vulkan_device(const VulkanOptions& options) {
    return vulkan::guarded(options.name, "opening",
                           [&] { return std::make_unique<vulkan::VulkanDevice>(options); });
}

}  // namespace tandem::kernels
