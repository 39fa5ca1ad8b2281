#include "kernels/small_model.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "parallel/communicator/host.h"
#include "parallel/executor.h"
#include "parallel/local.h"
#include "parallel/propagate.h"
#include "parallel/slice.h"
#include "random.h"

namespace tandem::test {

namespace {

parallel::DeviceTable table_of(std::span<const kernels::Device* const> devices) {
    parallel::DeviceTable table;
    for (const kernels::Device* device : devices)
        table.devices.push_back({.name = device->description().name,
                                 .rounding = device->description().rounding,
                                 .device = device});
    table.links.assign(devices.size(), std::vector<parallel::Link>(devices.size()));
    return table;
}

}  // namespace

Tensor SmallModel::weight(const std::string& name, gguf::DType dtype, const Shape& rows,
                          const Shape& columns, float scale) {
    std::mt19937 random(seed_++);
    std::normal_distribution<float> normal(0, scale);
    std::vector<float> values(columns.empty() ? 1 : size_t(elements(columns)));
    Random blocks(seed_);
    return weight(name, dtype, rows, columns, [&](std::span<std::byte> row) {
        if (!gguf::traits(dtype).encode) {
            std::ranges::copy(blocks.rows(dtype, 1, int64_t(values.size())), row.begin());
            return;
        }
        for (float& value : values) value = normal(random);
        gguf::encode_row(dtype, values, row.data());
    });
}

Tensor SmallModel::weight(const std::string& name, gguf::DType dtype, const Shape& rows,
                          const Shape& columns, const Fill& fill) {
    int64_t length = columns.empty() ? 1 : elements(columns);
    Stored stored{.dtype = dtype, .row_bytes = gguf::row_bytes(dtype, length)};
    for (int64_t row = 0; row < elements(rows); ++row) {
        size_t at = stored.bytes.size();
        stored.bytes.resize(at + size_t(stored.row_bytes));
        fill(std::span(stored.bytes).subspan(at));
    }
    std::vector<int64_t> extents;
    for (Axis axis : rows) extents.push_back(axis->extent);
    Tensor tensor = graph.weight(name, dtype, rows, columns,
                                 {.tensor = name, .strides = parallel::dense_strides(extents)});
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
    graph.begin_layer(graph.layers() + 1);
    graph.set_result(y);
}

void SmallModel::finish_in_head(Tensor y) {
    y = graph.begin_head(y);
    graph.begin_layer(graph.layers() + 1);
    graph.set_result(y);
}

void SmallModel::load(const parallel::Plan& plan, int number, kernels::Device& device) const {
    std::atomic<int64_t> progress = 0;
    for (size_t i = 0; i < graph.values().size(); ++i) {
        const graph::Value& value = graph.value(int(i));
        const parallel::Placement& anchor = plan.anchors[i];
        if (value.kind != graph::Kind::Weight && value.kind != graph::Kind::State) continue;
        parallel::LocalSize size = local_size(value, anchor, number);
        if (size.rows == 0) continue;
        if (value.kind == graph::Kind::State) {
            device.make_state(int(i), value.dtype, size.matrices * size.rows, size.columns);
            continue;
        }
        parallel::Slice slice(value, anchor, number, stored_.at(int(i)).bytes);
        device.load_weight(
            int(i),
            {.dtype = value.dtype,
             .use = value.use,
             .matrices = size.matrices,
             .rows = size.rows,
             .columns = size.columns,
             .row = [&](int64_t row, std::byte* scratch) { return slice.row(row, scratch); }},
            progress);
    }
}

std::vector<float> SmallModel::run(std::unique_ptr<kernels::Device> device,
                                   const std::vector<graph::StepInputs>& steps) const {
    std::vector<std::unique_ptr<kernels::Device>> devices;
    devices.push_back(std::move(device));
    return run(std::move(devices), "none", steps);
}

std::vector<float> SmallModel::run(std::vector<std::unique_ptr<kernels::Device>> devices,
                                   const std::string& mode,
                                   const std::vector<graph::StepInputs>& steps) const {
    using namespace parallel;
    int64_t most = 1;
    for (const auto& step : steps) most = std::max(most, step.tokens());
    std::vector<const kernels::Device*> all;
    for (const auto& device : devices) all.push_back(device.get());
    DeviceTable table = table_of(all);
    Plan plan = make_plan(graph, table, {.mode = mode, .bucket = most});
    Placed placed = propagate(graph, plan, table);
    std::vector<Programs> programs;
    for (size_t i = 0; i < devices.size(); ++i) {
        load(plan, int(i), *devices[i]);
        programs.push_back(
            make_programs(placed, int(i), most, devices[i]->kernels(), devices[i]->copy()));
    }
    bool spin = devices.size() == 1;
    Executor executor(placed, devices, std::move(programs),
                      std::make_unique<HostCommunicator>(placed, devices.size(), Wire::F32, spin),
                      most);
    std::vector<float> result;
    for (const auto& step : steps)
        executor.wait(executor.submit(step), [&](int64_t, std::span<const float> rows) {
            result.insert(result.end(), rows.begin(), rows.end());
        });
    return result;
}

parallel::Programs SmallModel::programs(const kernels::Device& device, int64_t most_tokens) const {
    const kernels::Device* const all[] = {&device};
    parallel::DeviceTable table = table_of(all);
    parallel::Plan plan = make_plan(graph, table, {.mode = "none", .bucket = most_tokens});
    parallel::Placed placed = propagate(graph, plan, table);
    return make_programs(placed, 0, most_tokens, device.kernels(), device.copy());
}

Tensor activation_of(SmallModel& model, const std::string& name, const Shape& axes,
                     const std::function<float(int32_t id, size_t element)>& value) {
    int32_t id = 0;
    auto fill = [&](std::span<std::byte> row) {
        for (size_t i = 0; i < row.size() / sizeof(float); ++i) {
            const float element = value(id, i);
            std::memcpy(&row[i * sizeof element], &element, sizeof element);
        }
        ++id;
    };
    const Axis ids = model.axis(name + "_ids", SmallModel::ids);
    return embed(model.weight(name, gguf::DType::F32, {ids}, axes, fill), model.graph.input("ids"));
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
