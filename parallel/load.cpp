#include "parallel/load.h"

#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "gguf/error.h"
#include "parallel/slice.h"

namespace tandem::parallel {

using graph::Kind;
using graph::Value;

namespace {

void load_weight(const gguf::File& file, const Value& value, int number, const Placement& anchor,
                 int device_number, kernels::Device& device, std::atomic<int64_t>& progress) {
    const gguf::TensorInfo* tensor = file.find(value.rows.tensor);
    check(tensor != nullptr, "a weight is in the file's directory");
    Slice slice(value, anchor, device_number, file.data(*tensor));
    LocalSize size = local_size(value, anchor, device_number);
    device.load_weight(
        number,
        {.dtype = value.dtype,
         .use = value.use,
         .matrices = size.matrices,
         .rows = size.rows,
         .columns = size.columns,
         .row = [&slice](int64_t row, std::byte* scratch) { return slice.row(row, scratch); }},
        progress);
}

void load_device(const gguf::File& file, const graph::Graph& graph, const Plan& plan,
                 int device_number, kernels::Device& device, std::atomic<int64_t>& progress,
                 const std::function<bool()>& stopped) {
    for (size_t i = 0; i < graph.values().size(); ++i) {
        const Value& value = graph.value(int(i));
        const Placement& anchor = plan.anchors[i];
        if (value.kind != Kind::Weight && value.kind != Kind::State) continue;
        LocalSize size = local_size(value, anchor, device_number);
        if (size.rows == 0) continue;
        if (stopped()) throw Error("interrupted");
        if (value.kind == Kind::State)
            device.make_state(int(i), value.dtype, size.matrices * size.rows, size.columns);
        else
            load_weight(file, value, int(i), anchor, device_number, device, progress);
    }
}

}  // namespace

int64_t bytes_to_load(const graph::Graph& graph, const Plan& plan) {
    int64_t sum = 0;
    for (size_t i = 0; i < graph.values().size(); ++i) {
        const Value& value = graph.value(int(i));
        if (value.kind != Kind::Weight) continue;
        for (int device : plan.anchors[i].group) {
            LocalSize size = local_size(value, plan.anchors[i], device);
            if (size.rows > 0)
                sum += size.matrices * size.rows * gguf::row_bytes(value.dtype, size.columns);
        }
    }
    return sum;
}

void load(const gguf::File& file, const graph::Graph& graph, const Plan& plan,
          std::span<const std::unique_ptr<kernels::Device>> devices, std::atomic<int64_t>& progress,
          const std::atomic<bool>& cancelled) {
    std::mutex mutex;
    std::exception_ptr first_error;
    std::atomic<bool> failed = false;  // then the others need not go on
    const auto stopped = [&] { return cancelled.load() || failed.load(); };
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < devices.size(); ++i)
        threads.emplace_back([&, i] {
            try {
                load_device(file, graph, plan, int(i), *devices[i], progress, stopped);
            } catch (...) {
                std::lock_guard lock(mutex);
                if (!first_error) first_error = std::current_exception();
                failed = true;
            }
        });
    threads.clear();  // joins them
    if (first_error) std::rethrow_exception(first_error);
}

}  // namespace tandem::parallel
