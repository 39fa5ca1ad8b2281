#include "kernels/small_model.h"

#include <random>

#include "parallel/communicator/host.h"
#include "parallel/executor.h"
#include "parallel/propagate.h"

namespace tandem::test {

Tensor SmallModel::weight(const std::string& name, gguf::DType dtype, const Shape& rows,
                          const Shape& columns, float scale) {
    std::mt19937 random(seed_++);
    std::normal_distribution<float> normal(0, scale);
    int64_t length = columns.empty() ? 1 : elements(columns);
    Stored stored{.dtype = dtype, .row_bytes = gguf::row_bytes(dtype, length)};
    std::vector<float> values(static_cast<size_t>(length));
    for (int64_t row = 0; row < elements(rows); ++row) {
        for (float& value : values) value = normal(random);
        size_t at = stored.bytes.size();
        stored.bytes.resize(at + size_t(stored.row_bytes));
        gguf::encode_row(dtype, values, &stored.bytes[at]);
    }
    Tensor tensor = graph.weight(name, dtype, rows, columns, {.tensor = name});
    stored_[tensor.value] = std::move(stored);
    return tensor;
}

Tensor SmallModel::activation(const std::string& name, const Shape& axes, float scale) {
    Tensor table = weight(name, gguf::DType::F32, {axis("ids", ids)}, axes, scale);
    return embed(table, graph.input("ids"));
}

void SmallModel::finish(Tensor y) {
    graph.begin_head();
    y = select_rows(y, graph.input("rows"));
    graph.begin_layer(0);
    graph.set_result(y);
}

std::vector<float> SmallModel::run(std::unique_ptr<kernels::Device> device,
                                   const std::vector<graph::StepInputs>& steps) const {
    using namespace parallel;
    int64_t most = 1;
    for (const auto& step : steps) most = std::max(most, step.tokens());
    DeviceTable table{.devices = {{.name = "one", .device = device.get()}}, .links = {{Link{}}}};
    Plan plan = make_plan(graph, table, {.mode = "none", .bucket = most});
    Placed placed = propagate(graph, plan, table);
    std::atomic<int64_t> progress = 0;
    for (size_t i = 0; i < graph.values().size(); ++i) {
        const graph::Value& value = graph.value(int(i));
        LocalSize size = local_size(value, plan.anchors[i], 0);
        if (value.kind == graph::Kind::State)
            device->make_state(int(i), value.dtype, size.rows, size.columns);
        if (value.kind != graph::Kind::Weight) continue;
        const Stored& stored = stored_.at(int(i));
        device->load_weight(
            int(i),
            {.dtype = value.dtype,
             .use = value.use,
             .matrices = size.matrices,
             .rows = size.rows,
             .columns = size.columns,
             .row = [&](int64_t row,
                        std::byte*) { return stored.bytes.data() + row * stored.row_bytes; }},
            progress);
    }
    std::vector<Programs> programs{
        make_programs(placed, 0, most, device->kernels(), device->copy())};
    std::vector<std::unique_ptr<kernels::Device>> devices;
    devices.push_back(std::move(device));
    Executor executor(placed, devices, std::move(programs),
                      std::make_unique<HostCommunicator>(placed, 1, Wire::F32, true), most);
    std::vector<float> result;
    for (const auto& step : steps)
        executor.wait(executor.submit(step), [&](int64_t, std::span<const float> rows) {
            result.insert(result.end(), rows.begin(), rows.end());
        });
    return result;
}

graph::StepInputs random_step(int32_t cached, int32_t count, unsigned seed) {
    std::mt19937 random(seed + unsigned(cached));
    std::vector<int32_t> tokens(static_cast<size_t>(count));
    for (int32_t& token : tokens) token = int32_t(random() % SmallModel::ids);
    graph::StepInputs step;
    step.append(0, cached, tokens);
    for (int32_t i = 0; i < count; ++i) step.rows.push_back(i);
    return step;
}

}  // namespace tandem::test
