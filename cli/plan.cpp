// `tandem plan`: what every device would hold, compute and exchange, from the file's metadata.
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/model_keys.h"
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
constexpr const OptionGroup* groups[] = {&file_options,   &key_options,    &plan_options,
                                         &step_options,   &device_options, &override_options,
                                         &foreign_options};
constexpr const Glossary* glossaries[] = {&device_names, &device_environment};

// A table alone speaks of devices that need not exist here.
EngineOptions options_of_table(const Arguments& arguments, const gguf::File& file, int64_t context,
                               std::vector<std::string>& notes) {
    const std::string path = arguments.text("device-table");
    std::vector<std::string> names;
    for (const parallel::DeviceRow& row : parallel::read_device_table(path).devices)
        names.push_back(row.name);
    EngineOptions options = engine_options(arguments, file, context, names, notes);
    if (options.plan.home_devices > 0)
        throw Error("device table " + path + " has no " + options.devices[names.size()] +
                    " for the weights that are to be there");
    options.devices.clear();
    return options;
}

int run(const Arguments& arguments) {
    const gguf::File file = open_model(arguments, gguf::Content::Directory);
    std::vector<std::string> notes;
    const int64_t context = context_size(arguments, file, notes);
    const bool by_table = arguments.has("device-table") && !arguments.has("device");
    const EngineOptions options = by_table ? options_of_table(arguments, file, context, notes)
                                           : engine_options(arguments, file, context, notes);
    print_notes(notes);
    const auto blueprint = make_blueprint(file, options);
    print_notes(blueprint->plan.idle);
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
                  << less_memory(*blueprint, options, i) << "\n";
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
