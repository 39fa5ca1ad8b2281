#include "cli/engine.h"

#include <algorithm>
#include <future>
#include <iostream>
#include <optional>

#include "cli/measure/cached.h"
#include "cli/prompt.h"
#include "gguf/error.h"
#include "parallel/communicator/host.h"
#include "parallel/load.h"
#include "parallel/plan_print.h"
#include "parallel/plan_report.h"

namespace tandem::cli {

using namespace parallel;

namespace {

constexpr size_t most_bytes_of_table = 16 << 20;  // has thousands of devices

// A ratio takes the place of costs.
bool weighs_costs(const EngineOptions& options) {
    return options.plan.mode == "graph" && options.plan.ratio.empty();
}

DeviceTable table_of(const std::vector<std::unique_ptr<kernels::Device>>& devices,
                     const EngineOptions& options) {
    DeviceTable table;
    const size_t sharing = options.plan.sharing(devices.size());
    if (options.device_table) {
        table = parse_device_table(read_text(options.device_table->string(), "the device table",
                                             options.interrupts, most_bytes_of_table),
                                   *options.device_table, options.devices);
        if (weighs_costs(options)) require_links(table, options.plan.sharing(table.size()));
    } else {
        // What only is a home takes no part in what is weighed.
        if (weighs_costs(options) && sharing > 1)
            table =
                speeds_of({{options.devices.begin(), options.devices.begin() + int64_t(sharing)},
                           options.how,
                           options.cache},
                          false, [&](const std::string& what) {
                              if (options.interrupts) options.interrupts->check();
                              std::cerr << "measuring, for split mode graph: " << what << "\n";
                          });
        table.devices.resize(devices.size());
        table.links.resize(devices.size());
        for (std::vector<Link>& links : table.links) links.resize(devices.size());
        for (size_t i = 0; i < devices.size(); ++i) {
            table.devices[i].name = devices[i]->description().name;
            table.devices[i].free_bytes = devices[i]->description().free_bytes;
        }
    }
    for (size_t i = 0; i < devices.size(); ++i) {
        table.devices[i].device = devices[i].get();
        table.devices[i].rounding = devices[i]->description().rounding;
        table.devices[i].memory = devices[i]->description().memory;
    }
    return table;
}

int64_t lacking_of(const Blueprint& blueprint, size_t device) {
    std::vector<int64_t> needed;
    for (size_t i = 0; i < blueprint.table.size(); ++i) needed.push_back(blueprint.needed(i));
    return lacking_bytes(blueprint.table, needed, device);
}

// "weights 4.1 GiB, cache 512 MiB, scratch 80 MiB"
std::string parts_of(const Blueprint& blueprint, size_t device) {
    auto bytes = [](int64_t count) { return in_bytes(double(count)); };
    return "weights " + bytes(blueprint.weights[device]) + ", cache " +
           bytes(blueprint.states[device]) + ", scratch " + bytes(blueprint.scratch[device]);
}

// Of several devices all are told: another ratio may help.
void require_memory(const Blueprint& blueprint, const EngineOptions& options) {
    auto bytes = [](int64_t count) { return in_bytes(double(count)); };
    const size_t devices = blueprint.devices.size();
    std::string table;
    std::optional<size_t> full;
    for (size_t i = 0; i < devices; ++i) {
        const parallel::DeviceRow& row = blueprint.table.devices[i];
        table += "\n  " + name_of(blueprint.table, i) + ": " + parts_of(blueprint, i) + ", of " +
                 bytes(row.free_bytes) + " free";
        if (!full && lacking_of(blueprint, i) > 0) full = i;
    }
    if (!full) return;
    const parallel::DeviceRow& row = blueprint.table.devices[*full];
    const int64_t needed = blueprint.needed(*full), lacking = lacking_of(blueprint, *full);
    throw Error("device " + name_of(blueprint.table, *full) + " needs " + bytes(needed) + " (" +
                parts_of(blueprint, *full) + ") and has " + bytes(row.free_bytes) + " free" +
                (lacking < needed - row.free_bytes ? ", besides what others leave, " : ", ") +
                bytes(lacking) + " too few: " + less_memory(blueprint, options, *full) +
                (devices > 1 ? table : ""));
}

// The plan for devices of so much room, and all that follows from it.
void plan_for(const DeviceTable& room, const EngineOptions& options, Blueprint& blueprint) {
    const graph::Graph& graph = *blueprint.graph;
    const DeviceTable& table = blueprint.table;
    blueprint.plan = make_plan(graph, room, options.plan);
    blueprint.placed = propagate(graph, blueprint.plan, table);
    blueprint.weights = weight_bytes(graph, blueprint.plan, table);
    blueprint.states = state_bytes(graph, blueprint.plan, table);
    blueprint.programs.clear();
    for (size_t i = 0; i < table.size(); ++i) {
        std::span<const kernels::Kernel> kernels;
        const kernels::Kernel* copy = nullptr;
        if (!blueprint.devices.empty()) {
            kernels = blueprint.devices[i]->kernels();
            copy = blueprint.devices[i]->copy();
        }
        blueprint.programs.push_back(
            make_programs(blueprint.placed, int(i), options.plan.bucket, kernels, copy));
    }
    blueprint.scratch = scratch_bytes(blueprint.placed, table, blueprint.programs, options.wire);
}

// Devices that are too full have room for what their scratch leaves; where that was all that was
// planned for, for less by what they lack. Whether there is one.
bool take_room(const Blueprint& blueprint, DeviceTable& room) {
    bool too_full = false;
    for (size_t i = 0; i < room.size(); ++i) {
        const int64_t few = lacking_of(blueprint, i);
        if (few == 0) continue;
        too_full = true;
        const int64_t left = blueprint.table.devices[i].free_bytes - blueprint.scratch[i];
        int64_t& free = room.devices[i].free_bytes;
        free = std::max<int64_t>(0, left < free ? left : free - few - few / 8);
    }
    return too_full;
}

// Policies that go by memory know of weights and states alone. One device leaves no choice.
bool goes_by_memory(const PlanOptions& plan, const DeviceTable& table) {
    return plan.ratio.empty() && plan.sharing(table.size()) > 1 &&
           parallel::find_policy(plan.mode).by_memory;
}

// Whether there are experts where the split mode wants them.
bool has_experts(const Blueprint& blueprint, size_t device) {
    const auto& values = blueprint.graph->values();
    for (size_t i = 0; i < values.size(); ++i) {
        if (values[i].use != graph::Use::Experts) continue;
        const Placement& anchor = blueprint.plan.anchors[i];
        const bool moved =
            anchor.partition && anchor.group != blueprint.plan.group(values[i].layer);
        if (!moved && contains(anchor.group, int(device))) return true;
    }
    return false;
}

}  // namespace

std::string name_of(const DeviceTable& table, size_t device) {
    const std::string& name = table.devices[device].name;
    const auto alike = std::ranges::count(table.devices, name, &DeviceRow::name);
    return alike > 1 ? std::to_string(device) + " (" + name + ")" : name;
}

std::string less_memory(const Blueprint& blueprint, const EngineOptions& options, size_t device) {
    const PlanOptions& plan = options.plan;
    const size_t sharing = plan.sharing(blueprint.table.size());
    const bool caches = blueprint.states[device] > 0;
    const bool shares = std::ranges::any_of(
        blueprint.plan.groups, [&](const Group& group) { return contains(group, int(device)); });
    constexpr int64_t usual_step = 512;
    std::vector<std::string> ways;
    if (shares || caches) ways.emplace_back(options.fewer_tokens);
    if (plan.bucket > usual_step) ways.push_back("smaller steps (-ub)");
    if ((shares || caches) &&
        (gguf::is_plain(options.model.key_type) || gguf::is_plain(options.model.value_type)))
        ways.push_back("a smaller cache type (-ctk q8_0 -ctv q8_0)");
    if (std::ranges::any_of(plan.homes,
                            [&](const Home& home) { return contains(home.group, int(device)); }))
        ways.push_back("fewer weights that are sent there (-ot, -cmoe, -ncmoe)");
    if (!kernels::is_cpu_name(blueprint.table.devices[device].name) &&
        has_experts(blueprint, device))
        ways.push_back("experts on the CPU (-cmoe)");
    if (shares && plan.mode == "none") ways.push_back("a split mode (-sm) for several devices");
    if (shares && plan.mode != "none") ways.push_back("more devices (-dev)");
    if (shares && plan.mode != "none" && sharing > 1) ways.push_back("another ratio (-ts)");
    std::string text = "try ";
    for (size_t i = 0; i < ways.size(); ++i)
        text += (i == 0 ? "" : i + 1 < ways.size() ? ", " : " or ") + ways[i];
    return text;
}

std::unique_ptr<Blueprint> make_blueprint(const gguf::File& file, const EngineOptions& options) {
    auto blueprint = std::make_unique<Blueprint>();
    model::Options model = options.model;
    model.step = options.plan.bucket;
    blueprint->graph = model::build(file, model);
    // A table may be all that is known of the devices.
    if (!options.devices.empty() || !options.device_table)
        blueprint->devices = kernels::make_devices(options.devices, options.how);
    blueprint->table = table_of(blueprint->devices, options);
    plan_for(blueprint->table, options, *blueprint);
    if (!goes_by_memory(options.plan, blueprint->table)) return blueprint;
    // What does not fit beside scratch is planned again for less room.
    constexpr int most_rounds = 8;
    DeviceTable room = blueprint->table;
    for (int round = 0; round < most_rounds && take_room(*blueprint, room); ++round)
        plan_for(room, options, *blueprint);
    // What never fits is reported as it was at first.
    if (take_room(*blueprint, room)) plan_for(blueprint->table, options, *blueprint);
    return blueprint;
}

Engine::Engine(const gguf::File& file, const EngineOptions& options, const Progress& progress)
    : blueprint_(make_blueprint(file, options)) {
    check(!blueprint_->devices.empty(), "a model runs on devices that exist");
    require_memory(*blueprint_, options);
    std::atomic<int64_t> done = 0;
    std::atomic<bool> cancelled = false;
    int64_t total = bytes_to_load(*blueprint_->graph, blueprint_->plan);
    auto loading = std::async(std::launch::async, [&] {
        load(file, *blueprint_->graph, blueprint_->plan, blueprint_->devices, done, cancelled);
    });
    while (loading.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
        if (progress && !progress(done, total)) cancelled = true;
    loading.get();
    if (progress) progress(total, total);
    bool share_cores =
        std::any_of(blueprint_->devices.begin(), blueprint_->devices.end(),
                    [](const auto& device) { return device->description().shares_cores; });
    auto communicator = std::make_unique<HostCommunicator>(
        blueprint_->placed, blueprint_->devices.size(), options.wire, !share_cores);
    executor_ =
        std::make_unique<Executor>(blueprint_->placed, blueprint_->devices, blueprint_->programs,
                                   std::move(communicator), options.plan.bucket, options.timed);
}

}  // namespace tandem::cli
