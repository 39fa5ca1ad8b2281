#include "kernels/reference/device.h"

#include <chrono>
#include <cstring>

#include "kernels/host_memory.h"

namespace tandem::kernels {

namespace {

const Kernel table[] = {
    {.name = "reference", .claim = [](std::span<const Operation>) { return size_t(1); }},
};

const Kernel copy_kernel{.name = "copy"};

struct ReferenceCall {
    const graph::Node* node;  // null: a copy
    std::vector<graph::View> inputs;
    graph::View output;
};

void copy_dense(const graph::View& from, const graph::View& to) {
    std::vector<int32_t> bits = graph::load_ids(from);
    std::memcpy(to.data, bits.data(), bits.size() * sizeof(int32_t));
}

struct ReferenceRecording final : Recording {
    std::vector<ReferenceCall> calls;
    const std::atomic<bool>* cancelled = nullptr;
};

}  // namespace

ReferenceDevice::ReferenceDevice(std::string name, int64_t free_bytes, bool shares_cores) {
    description_ = {.name = std::move(name),
                    .kind = "reference",
                    .features = "1 thread",
                    .rounding = "reference",
                    .total_bytes = free_bytes,
                    .free_bytes = free_bytes,
                    .in_host_memory = true,
                    .shares_cores = shares_cores};
}

// One plain loop over memory: an oracle has no speed to speak of.
Limits ReferenceDevice::measure_limits() {
    std::vector<float> values(size_t(1) << 22, 1.0f);
    auto start = std::chrono::steady_clock::now();
    double sum = 0;
    for (float value : values) sum += double(value) * value;
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    double rate = sum / seconds;  // the sum counts the values
    return {.bytes_per_second = rate * sizeof(float), .multiply_adds_per_second = rate};
}

std::span<const Kernel> ReferenceDevice::kernels() const { return table; }

const Kernel* ReferenceDevice::copy() const { return &copy_kernel; }

int64_t ReferenceDevice::packed_bytes(gguf::DType dtype, graph::Use use, int64_t matrices,
                                      int64_t rows, int64_t columns) const {
    return plain_bytes(dtype, use, matrices * rows, columns);
}

void ReferenceDevice::load_weight(int value, const WeightSource& source,
                                  std::atomic<int64_t>& progress) {
    const int64_t rows = source.matrices * source.rows;
    std::byte* const to =
        weights_.make(value, plain_bytes(source.dtype, source.use, rows, source.columns));
    load_plain_rows(source, 0, rows, to, progress);
}

void ReferenceDevice::make_state(int value, gguf::DType dtype, int64_t rows, int64_t columns) {
    states_[value] = make_plain_state(dtype, rows, columns);
}

void ReferenceDevice::read_state(const StateRows& rows, std::byte* to) {
    std::memcpy(to, rows_of(states_.at(rows.value), rows), size_t(rows.bytes()));
}

void ReferenceDevice::write_state(const StateRows& rows, const std::byte* from) {
    std::memcpy(rows_of(states_.at(rows.value), rows), from, size_t(rows.bytes()));
}

std::byte* ReferenceDevice::exchange_memory(int64_t bytes) {
    return add_exchange_memory(exchange_memory_, bytes);
}

void ReferenceDevice::reserve_inputs(int64_t capacity) { reserve(inputs_, capacity); }

std::unique_ptr<Recording> ReferenceDevice::record(std::span<const Launch> launches,
                                                   const Bindings& bindings) {
    auto recording = std::make_unique<ReferenceRecording>();
    recording->cancelled = bindings.cancelled;
    Addresses addresses{weights_, states_, arena_.data(), inputs_, bindings};
    for (const Launch& launch : launches) {
        const Operation& operation = launch.operations[0];
        ReferenceCall call{.node = operation.node, .output = addresses.view(operation.output)};
        for (const Operand& input : operation.inputs) call.inputs.push_back(addresses.view(input));
        recording->calls.push_back(std::move(call));
    }
    return recording;
}

uint64_t ReferenceDevice::play(Recording& recording) {
    auto& replayed = static_cast<ReferenceRecording&>(recording);
    for (ReferenceCall& call : replayed.calls) {
        if (replayed.cancelled->load(std::memory_order_acquire)) break;
        for (graph::View& input : call.inputs) set_live_extents(input, inputs_);
        set_live_extents(call.output, inputs_);
        if (call.node)
            call.node->op->reference({*call.node, call.inputs, call.output, inputs_});
        else
            copy_dense(call.inputs[0], call.output);
    }
    return 0;
}

}  // namespace tandem::kernels
