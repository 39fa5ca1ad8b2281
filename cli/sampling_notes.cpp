#include "cli/sampling_notes.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "model/sampler/stage.h"

namespace tandem::cli {

namespace {

struct Parameter {
    std::string_view option, sampler;
    std::string_view needed = {};  // option that switches its sampler on
};

constexpr std::string_view mirostat = "mirostat";

constexpr Parameter parameters[] = {
    {"temp", "temperature"},
    {"dynatemp-range", "temperature"},
    {"dynatemp-exp", "temperature", "dynatemp-range"},
    {"top-k", "top_k"},
    {"top-p", "top_p"},
    {"min-p", "min_p"},
    {"typical", "typ_p"},
    {"top-nsigma", "top_n_sigma"},
    {"xtc-probability", "xtc"},
    {"xtc-threshold", "xtc", "xtc-probability"},
    {"repeat-penalty", "penalties"},
    {"presence-penalty", "penalties"},
    {"frequency-penalty", "penalties"},
    {"dry-multiplier", "dry"},
    {"dry-base", "dry", "dry-multiplier"},
    {"dry-allowed-length", "dry", "dry-multiplier"},
    {"dry-penalty-last-n", "dry", "dry-multiplier"},
    {"dry-sequence-breaker", "dry", "dry-multiplier"},
    {"adaptive-target", "adaptive_p"},
    {"adaptive-decay", "adaptive_p", "adaptive-target"},
    {"mirostat-ent", mirostat, "mirostat"},
    {"mirostat-lr", mirostat, "mirostat"},
};

std::string in_place_of_all(const Arguments& arguments) {
    return std::string(": mirostat") +
           (arguments.has("mirostat") ? "" : ", which the model recommends,") +
           " takes the place of all samplers but the temperature (--mirostat 0: without it)";
}

bool varies_temperature(const Parameter& parameter) {
    return parameter.option.starts_with("dynatemp");
}

bool is_on(const Parameter& parameter, const model::SamplingOptions& options) {
    if (varies_temperature(parameter)) return options.temperature_range > 0;
    if (parameter.sampler == mirostat) return options.mirostat != 0;
    return std::ranges::find(model::stages(), parameter.sampler, &model::Stage::name)
        ->active(options);
}

// " without --top-k"; empty where the parameter counts, or stands for what happens anyway.
std::string why_idle(const Parameter& parameter, const Arguments& arguments,
                     const model::SamplingOptions& options) {
    if (!is_on(parameter, options)) {
        const bool alone = !parameter.needed.empty() && !arguments.has(parameter.needed);
        return alone ? " without --" + std::string(parameter.needed) : "";
    }
    if (parameter.sampler == mirostat) return {};
    const bool named = std::ranges::any_of(
        options.order, [&](const model::Stage* stage) { return stage->name == parameter.sampler; });
    if (options.mirostat == 0)
        return named ? ""
                     : ": " + std::string(parameter.sampler) +
                           " is not among the samplers (--samplers)";
    if (varies_temperature(parameter)) return ": mirostat keeps to one temperature";
    return parameter.option == "temp" ? "" : in_place_of_all(arguments);
}

}  // namespace

void add_sampling_notes(const Arguments& arguments, const model::SamplingOptions& options,
                        std::vector<std::string>& notes) {
    std::vector<std::pair<std::string, std::string>> idle;  // why, and all for which that holds
    auto add = [&](std::string_view option, const std::string& why) {
        if (why.empty() || !arguments.has(option)) return;
        auto found = std::ranges::find(idle, why, &std::pair<std::string, std::string>::first);
        if (found == idle.end()) found = idle.insert(idle.end(), {why, ""});
        found->second += (found->second.empty() ? "--" : ", --") + std::string(option);
    };
    for (std::string_view order : {"samplers", "sampler-seq"})
        if (options.mirostat != 0) add(order, in_place_of_all(arguments));
    for (const Parameter& parameter : parameters)
        add(parameter.option, why_idle(parameter, arguments, options));
    for (const auto& [why, those] : idle)
        notes.push_back(those + (those.find(',') == those.npos ? " has" : " have") + " no effect" +
                        why);
}

}  // namespace tandem::cli
