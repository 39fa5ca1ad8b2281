// `tandem devices`: the devices of this machine, and how fast they are.
#include <algorithm>
#include <iostream>
#include <optional>

#include "cli/format.h"
#include "cli/interrupts.h"
#include "cli/measure/cached.h"
#include "cli/model_options.h"
#include "cli/output_file.h"
#include "cli/subcommands.h"
#include "kernels/devices.h"

namespace tandem::cli {

namespace {

constexpr Option list[] = {
    {"-dev, --device", "LIST",
     "devices, separated by commas (default: all kinds, or with --measure those of a run)"},
    {"-t, --threads", "N",
     "threads of a CPU device (default: one per core of its set, fewer where a container's CPU "
     "quota allows fewer)"},
    {"--measure", "",
     "measure, together, how fast they read weights, multiply and exchange, and keep it for -sm "
     "graph and bench"},
    {"-o, --output", "FILE",
     "write what was measured, now or earlier, as a table for --device-table"},
};
constexpr OptionGroup options{"devices", list};
constexpr const OptionGroup* groups[] = {&options};
constexpr const Glossary* glossaries[] = {&device_names, &device_environment};

std::string in_mib(int64_t total, int64_t free) {
    return " (" + std::to_string(total >> 20) + " MiB, " + std::to_string(free >> 20) +
           " MiB free)\n";
}

// The devices of one run, which divide what is free.
std::string describe(const std::vector<std::string>& names, const kernels::DeviceOptions& how) {
    std::string text;
    for (const auto& device : kernels::make_devices(names, how)) {
        const kernels::Description& one = device->description();
        text += "  " + one.name + ": " + one.kind + ", " + one.features +
                in_mib(one.total_bytes, one.free_bytes);
    }
    return text;
}

// Of a machine with several memory nodes.
std::string describe_nodes(const kernels::DeviceOptions& how) {
    const std::vector<std::string> names = kernels::cpu_devices();
    return names.size() > 1 ? describe(names, how) : "";
}

// All of them, also those that no model can run on.
std::string describe(const kernels::VulkanAdapters& adapters) {
    std::string text;
    for (size_t i = 0; i < adapters.list.size(); ++i) {
        const kernels::VulkanAdapter& one = adapters.list[i];
        text += "  vulkan" + std::to_string(i) + ": vulkan, " + one.name;
        if (one.missing.empty())
            text +=
                ", " + one.driver + ", " + one.features + in_mib(one.total_bytes, one.free_bytes);
        else
            text += ", cannot be used: it lacks " + one.missing + "\n";
    }
    return text.empty() ? "  no Vulkan devices: " + adapters.absence + "\n" : text;
}

void print_measured(const parallel::DeviceTable& table) {
    std::cout << "Measured:\n";
    for (const parallel::DeviceRow& row : table.devices)
        std::cout << "  " << row.name << ": " << in_units(row.bytes_per_second)
                  << "B/s of weights, " << in_units(row.multiply_adds_per_second)
                  << " multiply-adds/s\n";
    for (size_t a = 0; a < table.size(); ++a)
        for (size_t b = a + 1; b < table.size(); ++b) {
            const parallel::Link& link = table.links[a][b];
            std::cout << "  " << table.devices[a].name << " - " << table.devices[b].name << ": "
                      << format("%.1f us", link.seconds * 1e6) << " for an exchange, "
                      << in_units(link.bytes_per_second) << "B/s\n";
        }
}

void list_all(const kernels::DeviceOptions& how) {
    std::cout << "Available devices:\n"
              << describe(kernels::vulkan_adapters()) << describe({"cpu"}, how)
              << describe_nodes(how) << describe({"reference"}, how);
}

void act(const Arguments& arguments, const kernels::DeviceOptions& how, Interrupts& interrupts) {
    const bool measure = arguments.on("measure"), write = arguments.has("output");
    std::optional<OutputFile> out;  // now, because measuring takes a while
    if (write) out.emplace(arguments.text("output"), "the device table", &interrupts);
    const MeasuredDevices wanted{
        .names = chosen_devices(arguments), .how = how, .folder = cache_folder()};
    const std::string text = describe(wanted.names, how);
    std::cout << "Available devices:\n" << text << std::flush;
    if (!measure && !write) return;
    auto say = [&](const std::string& what) {
        interrupts.check();
        std::cerr << "measuring " << what << "\n";
    };
    const parallel::DeviceTable table = speeds_of(wanted, measure, say);
    print_measured(table);
    if (measure) {
        const kernels::Limits limits = limits_of(wanted, true, say);
        std::cout << "The hardware allows " << in_units(limits.bytes_per_second) << "B/s and "
                  << in_units(limits.multiply_adds_per_second) << " multiply-adds/s, "
                  << in_units(limits.float_multiply_adds_per_second) << " of floats, in all\n";
    }
    interrupts.check();
    if (out) out->replace(to_text(table));
}

int run(const Arguments& arguments) {
    const kernels::DeviceOptions how = how_devices_work(arguments.integer("threads", 0));
    if (!arguments.has("device") && !arguments.on("measure") && !arguments.has("output")) {
        list_all(how);
        return 0;
    }
    Interrupts interrupts;
    return run_until_interrupted(interrupts, [&] { act(arguments, how, interrupts); });
}

}  // namespace

const Subcommand devices_command{"devices",
                                 "lists devices, and measures them",
                                 "[-dev LIST] [--measure] [-o FILE]",
                                 groups,
                                 run,
                                 {},
                                 glossaries};

}  // namespace tandem::cli
