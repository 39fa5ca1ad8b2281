#include "cli/measure/probe.h"

#include <algorithm>

#include "cli/seconds.h"
#include "cli/synth/random_rows.h"
#include "graph/ops.h"
#include "parallel/communicator/host.h"
#include "parallel/propagate.h"

namespace tandem::cli {

using gguf::DType;
using graph::Graph;
using graph::Tensor;

namespace {

constexpr int64_t vocabulary = 32;

std::unique_ptr<Graph> make_graph(const Chain& chain) {
    auto graph = std::make_unique<Graph>();
    graph::Axis embd = graph->axis("embd", chain.embd);
    graph::Axis vocab = graph->axis("tokens_known", vocabulary);
    auto weight = [&](const std::string& name, DType dtype, graph::Axis row, graph::Axis column) {
        return graph->weight(name, dtype, {row}, {column}, {.tensor = name});
    };
    graph->begin_layer(-1);
    Tensor x = embed(weight("table", DType::F32, vocab, embd), graph->input("ids"));
    for (int layer = 0; layer < chain.layers; ++layer) {
        graph->begin_layer(layer);
        const std::string block = "blk." + std::to_string(layer) + ".";
        graph::Axis ffn = graph->axis(block + "ffn", chain.ffn);
        x = linear(x, weight(block + "up", chain.dtype, ffn, embd));
        x = linear(x, weight(block + "down", chain.dtype, embd, ffn));
    }
    graph->begin_head();
    x = select_rows(x, graph->input("rows"));
    graph->begin_layer(chain.layers);
    graph->set_result(linear(x, weight("output", DType::F32, vocab, embd)));
    return graph;
}

// A few random rows over and over: how fast a matrix is read does not depend on what is in it, but
// for numbers of BF16, which these are not.
void load_weight(int number, const graph::Value& value, const parallel::LocalSize& size,
                 kernels::Device& device) {
    constexpr int64_t different = 64;
    const RandomRows random(value.dtype, size.columns);
    const auto row_bytes = size_t(random.row_bytes());
    std::vector<std::byte> rows(row_bytes * different);
    for (size_t i = 0; i < different; ++i)
        random.fill(mix(i), std::span(rows).subspan(i * row_bytes, row_bytes));
    std::atomic<int64_t> progress = 0;
    device.load_weight(
        number,
        {.dtype = value.dtype,
         .use = value.use,
         .matrices = size.matrices,
         .rows = size.rows,
         .columns = size.columns,
         .row = [&](int64_t row,
                    std::byte*) { return &rows[size_t(row % different) * row_bytes]; }},
        progress);
}

void load(const Graph& graph, const parallel::Plan& plan, int number, kernels::Device& device) {
    for (size_t i = 0; i < graph.values().size(); ++i) {
        const graph::Value& value = graph.value(int(i));
        if (value.kind != graph::Kind::Weight) continue;
        const parallel::LocalSize size = local_size(value, plan.anchors[i], number);
        if (size.rows > 0) load_weight(int(i), value, size, device);
    }
}

}  // namespace

double Chain::stored_bytes() const {
    return layers * double(ffn * gguf::row_bytes(dtype, embd) + embd * gguf::row_bytes(dtype, ffn));
}

double Chain::multiply_adds() const { return 2.0 * layers * double(embd) * double(ffn); }

Probe::Probe(const Chain& chain, std::span<const std::unique_ptr<kernels::Device>> devices,
             const parallel::PlanOptions& options)
    : graph_(make_graph(chain)) {
    parallel::DeviceTable table;
    bool share_cores = false;
    for (const auto& device : devices) {
        const kernels::Description& description = device->description();
        table.devices.push_back({.name = description.name,
                                 .free_bytes = description.free_bytes,
                                 .rounding = description.rounding,
                                 .device = device.get()});
        share_cores = share_cores || description.shares_cores;
    }
    table.links.assign(devices.size(), std::vector<parallel::Link>(devices.size()));
    plan_ = make_plan(*graph_, table, options);
    placed_ = propagate(*graph_, plan_, table);
    std::vector<parallel::Programs> programs;
    for (size_t i = 0; i < devices.size(); ++i) {
        load(*graph_, plan_, int(i), *devices[i]);
        programs.push_back(make_programs(placed_, int(i), options.bucket, devices[i]->kernels(),
                                         devices[i]->copy()));
    }
    auto communicator = std::make_unique<parallel::HostCommunicator>(
        placed_, devices.size(), parallel::Wire::F32, !share_cores);
    executor_ = std::make_unique<parallel::Executor>(placed_, devices, std::move(programs),
                                                     std::move(communicator), options.bucket);
}

Probe::Times Probe::step(int64_t tokens) {
    graph::StepInputs inputs;
    const std::vector<int32_t> ids(size_t(tokens), 1);
    inputs.append(0, 0, ids);
    const auto start = Clock::now();
    const uint64_t exchange = executor_->exchange_time();
    executor_->wait(executor_->submit(std::move(inputs)));
    return {seconds_since(start), double(executor_->exchange_time() - exchange) * 1e-9};
}

Probe::Times Probe::run(int64_t tokens, double seconds) {
    step(tokens);
    Times sum;
    int count = 0;
    const auto start = Clock::now();
    for (; count < 2 || seconds_since(start) < seconds; ++count) {
        const Times next = step(tokens);
        sum.seconds += next.seconds;
        sum.exchange += next.exchange;
    }
    return {sum.seconds / count, sum.exchange / count};
}

}  // namespace tandem::cli
