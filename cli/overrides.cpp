#include "cli/overrides.h"

#include <algorithm>
#include <utility>

#include "gguf/error.h"
#include "kernels/devices.h"

namespace tandem::cli {

namespace {

constexpr Option list[] = {
    {"-ot, --override-tensor", "LIST",
     "weights on a device of their own, REGEX=DEVICE,...: where the regular expression, in which "
     "no comma stands, is in the name of one, all that are cut together with it go there, as in "
     "-ot blk.[0-3].ffn=cpu; the first that fits counts. A device that -dev does not name has "
     "nothing else, and neither -ts nor -mg count it; of several that have the name each has an "
     "equal part, and cpu is the name of all CPU devices"},
    {"-cmoe, --cpu-moe", "",
     "all experts on the CPU, whatever the split mode says; their routers, and experts that all "
     "tokens share, stay"},
    {"-ncmoe, --n-cpu-moe", "N", "the same of the first N blocks (default: 0)"},
};

constexpr std::string_view experts = "_exps\\.";  // in the names of their tensors

// The pattern and the device; a pattern may have a "=" in it.
std::pair<std::string, std::string> to_pair(const std::string& text) {
    const size_t sign = text.rfind('=');
    if (sign == text.npos || sign == 0 || sign + 1 == text.size())
        throw Error("-ot takes REGEX=DEVICE, such as ffn_.*_exps=cpu, not \"" + text + "\"");
    return {text.substr(0, sign), text.substr(sign + 1)};
}

// The devices of a run by name; those behind the first `given` are there for weights alone.
class Places {
  public:
    Places(std::vector<std::string>& devices, int& added)
        : devices_(devices), given_(devices.size()), added_(added) {}

    // Those that are called so; what is not there is added.
    parallel::Group called(const std::string& name) {
        if (!kernels::is_same_device(name, "cpu")) return one(name);
        parallel::Group all;
        for (size_t i = 0; i < given_; ++i)
            if (kernels::is_cpu_name(devices_[i])) all.push_back(int(i));
        if (all.empty())
            for (const std::string& cpu : kernels::cpu_devices())
                all = parallel::unite(all, one(cpu));
        return all;
    }

    bool are_cpus() const {
        return std::all_of(devices_.begin(), devices_.begin() + int64_t(given_),
                           kernels::is_cpu_name);
    }

  private:
    parallel::Group one(const std::string& name) {
        parallel::Group all;
        for (size_t i = 0; i < devices_.size(); ++i)
            if (kernels::is_same_device(devices_[i], name)) all.push_back(int(i));
        if (!all.empty()) return all;
        devices_.push_back(name);
        ++added_;
        return {int(devices_.size()) - 1};
    }

    std::vector<std::string>& devices_;
    const size_t given_;
    int& added_;
};

}  // namespace

const OptionGroup override_options{"weights on devices of their own", list};

std::string Overrides::option_of_experts() const {
    return expert_blocks == parallel::all_blocks ? "-cmoe"
                                                 : "-ncmoe " + std::to_string(expert_blocks);
}

void require_pair(const std::string& text) { to_pair(text); }

Overrides overrides_of(const Arguments& arguments) {
    Overrides overrides{.expert_blocks = arguments.on("cpu-moe")
                                             ? parallel::all_blocks
                                             : arguments.integer("n-cpu-moe", 0, 0)};
    for (const std::string& mention : arguments.texts("override-tensor"))
        for (std::string& text : split(mention)) {
            require_pair(text);
            overrides.tensors.push_back(std::move(text));
        }
    return overrides;
}

void add_overrides(const Overrides& overrides, std::vector<std::string>& devices,
                   parallel::PlanOptions& plan, std::vector<std::string>& notes) {
    Places places(devices, plan.home_devices);
    for (const std::string& text : overrides.tensors) {
        const auto [pattern, device] = to_pair(text);
        plan.homes.push_back(
            {.pattern = pattern, .group = places.called(device), .asked_by = "-ot " + text});
    }
    if (overrides.expert_blocks == 0) return;
    if (places.are_cpus()) {
        notes.push_back(overrides.option_of_experts() + " moves nothing: all devices are CPUs");
        return;
    }
    plan.homes.push_back({.pattern = std::string(experts),
                          .group = places.called("cpu"),
                          .blocks = overrides.expert_blocks,
                          .optional = true,
                          .asked_by = overrides.option_of_experts()});
}

}  // namespace tandem::cli
