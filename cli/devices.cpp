// `tandem devices`: the devices of this machine, and how fast they are.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <sstream>

#include "cli/measure/cached.h"
#include "cli/model_options.h"
#include "cli/subcommands.h"
#include "kernels/devices.h"

namespace tandem::cli {

namespace {

constexpr Option list[] = {
    {"-dev, --device", "LIST",
     "devices, separated by commas (default: all kinds, or with --measure those of a run)"},
    {"-t, --threads", "N", "threads of a CPU device (default: one per core of its set)"},
    {"--measure", "",
     "measure, together, how fast they read weights, multiply and exchange, and keep it for -sm "
     "graph and bench"},
    {"-o, --output", "FILE",
     "write what was measured, now or earlier, as a table for --device-table"},
};
constexpr OptionGroup options{"devices", list};
constexpr const OptionGroup* groups[] = {&options};

// "20.1 G"
std::string in_units(double number) {
    char text[32];
    if (number >= 1e12)
        std::snprintf(text, sizeof text, "%.1f T", number * 1e-12);
    else if (number >= 1e9)
        std::snprintf(text, sizeof text, "%.1f G", number * 1e-9);
    else
        std::snprintf(text, sizeof text, "%.1f M", number * 1e-6);
    return text;
}

// The devices of one run, which divide what is free.
std::string describe(const std::vector<std::string>& names, int threads) {
    std::ostringstream text;
    for (const auto& device : kernels::make_devices(names, threads)) {
        const kernels::Description& description = device->description();
        text << "  " << description.name << ": " << description.kind << ", " << description.features
             << " (" << (description.total_bytes >> 20) << " MiB, "
             << (description.free_bytes >> 20) << " MiB free)\n";
    }
    return text.str();
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
            char latency[32];
            std::snprintf(latency, sizeof latency, "%.1f us", link.seconds * 1e6);
            std::cout << "  " << table.devices[a].name << " - " << table.devices[b].name << ": "
                      << latency << " for an exchange, " << in_units(link.bytes_per_second)
                      << "B/s\n";
        }
}

int run(const Arguments& arguments) {
    const bool measure = arguments.on("measure"), write = arguments.has("output");
    MeasuredDevices wanted{.names = engine_options({}, 1).devices,
                           .threads = int(std::max<int64_t>(0, arguments.integer("threads", 0))),
                           .folder = cache_folder()};
    if (arguments.has("device")) wanted.names = to_devices(arguments.text("device"));
    std::string text = describe(wanted.names, wanted.threads);
    const bool all = !arguments.has("device") && !measure && !write;
    if (all) text += describe({"reference"}, wanted.threads);
    std::cout << "Available devices:\n" << text << std::flush;
    if (!measure && !write) return 0;
    auto say = [](const std::string& what) { std::cerr << "measuring " << what << "\n"; };
    const parallel::DeviceTable table = speeds_of(wanted, measure, say);
    print_measured(table);
    if (measure) {
        const kernels::Limits limits = limits_of(wanted, true, say);
        std::cout << "The hardware allows " << in_units(limits.bytes_per_second) << "B/s and "
                  << in_units(limits.multiply_adds_per_second) << " multiply-adds/s in all\n";
    }
    if (write) write_device_table(arguments.text("output"), table);
    return 0;
}

}  // namespace

const Subcommand devices_command{"devices", "lists devices, and measures them",
                                 "[-dev LIST] [--measure] [-o FILE]", groups, run};

}  // namespace tandem::cli
