// `tandem plan`: what every device would hold, compute and exchange, from the file's metadata.
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/model_options.h"
#include "cli/notes.h"
#include "cli/overrides.h"
#include "cli/subcommands.h"
#include "gguf/error.h"
#include "gguf/file.h"
#include "parallel/plan_print.h"

namespace tandem::cli {

namespace {

constexpr Option list[] = {
    {"--json", "", "print it as JSON"},
};
constexpr OptionGroup plan_options{"plan", list};
constexpr const OptionGroup* groups[] = {&file_options,   &plan_options,     &step_options,
                                         &device_options, &override_options, &foreign_options};
constexpr const Glossary* glossaries[] = {&device_names, &device_environment};

// Leaves those of the table: weights that have a device of their own find it there.
void forget_devices(const Arguments& arguments, EngineOptions& options) {
    options.devices.clear();
    options.plan.homes.clear();
    options.plan.home_devices = 0;
    std::vector<std::string> names;
    for (const parallel::DeviceRow& row :
         parallel::read_device_table(*options.device_table).devices)
        names.push_back(row.name);
    add_overrides(overrides_of(arguments), names, options.plan);
    if (options.plan.home_devices > 0)
        throw Error("device table " + options.device_table->string() + " has no " + names.back() +
                    ", on which weights should be");
}

int run(const Arguments& arguments) {
    const gguf::File file = gguf::File::open(model_path(arguments), gguf::Content::Directory);
    std::vector<std::string> notes;
    const int64_t context = context_size(arguments, file, notes);
    EngineOptions options = engine_options(arguments, file, context, notes);
    print_notes(notes);
    // A table alone speaks of devices that need not exist here.
    if (options.device_table && !arguments.has("device")) forget_devices(arguments, options);
    const auto blueprint = make_blueprint(file, options);
    const parallel::PlanReport report =
        report_plan(*blueprint->graph, blueprint->plan, blueprint->placed, blueprint->table,
                    blueprint->programs, options.wire);
    if (arguments.on("json"))
        std::cout << to_json(report).dump(2) << "\n";
    else
        std::cout << to_string(report);
    for (size_t i = 0; i < report.devices.size(); ++i) {
        const parallel::DeviceReport& device = report.devices[i];
        if (device.fits()) continue;
        std::cerr << "warning: device " << name_of(blueprint->table, i) << " would be too full by "
                  << parallel::in_bytes(double(device.lacking)) << ": "
                  << less_memory(*blueprint, options) << "\n";
    }
    return 0;
}

}  // namespace

const Subcommand plan_command{"plan",
                              "prints what each device would hold, compute and exchange",
                              "-m FILE [-sm MODE] [-dev LIST] [options]",
                              groups,
                              run,
                              {},
                              glossaries};

}  // namespace tandem::cli
