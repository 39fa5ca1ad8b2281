#include "cli/overrides.h"

#include <algorithm>
#include <utility>

#include "gguf/error.h"
#include "kernels/devices.h"

namespace tandem::cli {

namespace {

constexpr Option list[] = {
    {"-ot, --override-tensor", "LIST",
     "weights on a device of their own, REGEX=DEVICE,...: where the name of one has the regular "
     "expression in it, all that are cut together with it go there, as in -ot "
     "\"blk.[0-3].ffn=cpu\"; "
     "the first that fits counts"},
    {"-cmoe, --cpu-moe", "", "all experts on the CPU, whatever the split mode says"},
    {"-ncmoe, --n-cpu-moe", "N", "the experts of the first N blocks on the CPU (default: 0)"},
};

constexpr std::string_view experts = "_exps\\.";  // in the names of their tensors

// The pattern and the device; a pattern may have a "=" in it.
std::pair<std::string, std::string> to_pair(const std::string& text) {
    const size_t sign = text.rfind('=');
    if (sign == text.npos || sign == 0 || sign + 1 == text.size())
        throw Error("-ot takes REGEX=DEVICE pairs separated by commas, ffn_.*_exps=cpu, not \"" +
                    text + "\"");
    return {text.substr(0, sign), text.substr(sign + 1)};
}

// Those of the list that are called so; what is not there is added.
parallel::Group devices_called(const std::string& name, std::vector<std::string>& devices,
                               parallel::PlanOptions& plan) {
    const bool any_cpu = kernels::is_same_device(name, "cpu");
    const auto find = [&] {
        parallel::Group found;
        for (size_t i = 0; i < devices.size(); ++i)
            if (any_cpu ? kernels::is_cpu_name(devices[i])
                        : kernels::is_same_device(devices[i], name))
                found.push_back(int(i));
        return found;
    };
    if (parallel::Group found = find(); !found.empty()) return found;
    const std::vector<std::string> added =
        any_cpu ? kernels::cpu_devices() : std::vector<std::string>{name};
    devices.insert(devices.end(), added.begin(), added.end());
    plan.home_devices += int(added.size());
    return find();
}

}  // namespace

const OptionGroup override_options{"weights on devices of their own", list};

void require_pair(const std::string& text) { to_pair(text); }

Overrides overrides_of(const Arguments& arguments) {
    Overrides overrides{.expert_blocks = arguments.on("cpu-moe")
                                             ? all_blocks
                                             : arguments.integer("n-cpu-moe", 0, 0)};
    for (const std::string& mention : arguments.texts("override-tensor"))
        for (std::string& text : split(mention)) {
            require_pair(text);
            overrides.tensors.push_back(std::move(text));
        }
    return overrides;
}

void add_overrides(const Overrides& overrides, std::vector<std::string>& devices,
                   parallel::PlanOptions& plan) {
    for (const std::string& text : overrides.tensors) {
        const auto [pattern, device] = to_pair(text);
        plan.homes.push_back({.pattern = pattern,
                              .group = devices_called(device, devices, plan),
                              .asked_by = "-ot " + text});
    }
    if (overrides.expert_blocks == 0 || std::ranges::all_of(devices, kernels::is_cpu_name)) return;
    plan.homes.push_back({.pattern = std::string(experts),
                          .group = devices_called("cpu", devices, plan),
                          .blocks = overrides.expert_blocks,
                          .optional = true,
                          .asked_by = "-cmoe"});
}

}  // namespace tandem::cli
