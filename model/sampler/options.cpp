#include "model/sampler/options.h"

#include <cmath>
#include <cstdio>

#include "gguf/error.h"
#include "model/sampler/stage.h"

namespace tandem::model {

SamplingOptions recommended_sampling(const gguf::Metadata& metadata,
                                     std::vector<std::string>& warnings) {
    SamplingOptions options;
    auto real = [&](const char* key, float& value) {
        if (auto found = metadata.real("general.sampling." + std::string(key)))
            value = float(*found);
    };
    auto integer = [&](const char* key, int64_t& value) {
        if (auto found = metadata.integer("general.sampling." + std::string(key))) value = *found;
    };
    integer("top_k", options.top_k);
    real("top_p", options.top_p);
    real("min_p", options.min_p);
    real("xtc_probability", options.xtc_probability);
    real("xtc_threshold", options.xtc_threshold);
    real("temp", options.temperature);
    integer("penalty_last_n", options.penalty_last_n);
    real("penalty_repeat", options.repeat_penalty);
    integer("mirostat", options.mirostat);
    real("mirostat_tau", options.mirostat_target);
    real("mirostat_eta", options.mirostat_rate);
    const std::string sequence = metadata.text("general.sampling.sequence").value_or("");
    options.order = sequence.empty() ? default_order() : stages_by_letters(sequence, warnings);
    return options;
}

void require_sensible(const SamplingOptions& options) {
    auto require = [](bool good, const char* name, double value, const char* range) {
        if (good) return;
        char number[32];
        std::snprintf(number, sizeof number, "%g", value);
        throw Error("sampling: " + std::string(name) + " is " + number + ", expected " + range);
    };
    const float repeat = options.repeat_penalty;
    require(std::isfinite(repeat) && repeat > 0 && std::isfinite(1 / repeat), "the repeat penalty",
            repeat, "a number above 0");
    require(std::isfinite(options.presence_penalty), "the presence penalty",
            options.presence_penalty, "a number");
    require(std::isfinite(options.frequency_penalty), "the frequency penalty",
            options.frequency_penalty, "a number");
    require(options.penalty_last_n >= 0, "the window of the penalties",
            double(options.penalty_last_n), "0 or more tokens");
    require(std::isfinite(options.dry_multiplier), "the multiplier of dry", options.dry_multiplier,
            "a number");
    require(std::isfinite(options.dry_base) && options.dry_base >= 1, "the base of dry",
            options.dry_base, "1 or more");
    require(options.dry_allowed_length >= 0, "the allowed length of dry",
            double(options.dry_allowed_length), "0 or more tokens");
    require(options.dry_last_n >= 0, "the window of dry", double(options.dry_last_n),
            "0 or more tokens");
    require(options.mirostat >= 0 && options.mirostat <= 2, "mirostat", double(options.mirostat),
            "0, 1 or 2");
    require(std::isfinite(options.mirostat_target) && options.mirostat_target >= 0,
            "the target of mirostat", options.mirostat_target, "0 or more bits");
    require(std::isfinite(options.mirostat_rate) && options.mirostat_rate >= 0,
            "the rate of mirostat", options.mirostat_rate, "0 or more");
    require(options.adaptive_target <= 1, "the target of adaptive-p", options.adaptive_target,
            "1 or less");
    require(options.adaptive_decay >= 0 && options.adaptive_decay <= 0.99f,
            "the decay of adaptive-p", options.adaptive_decay, "a number from 0 to 0.99");
    const std::pair<const char*, float> others[] = {
        {"top-n-sigma", options.top_n_sigma},
        {"typical-p", options.typical_p},
        {"top-p", options.top_p},
        {"min-p", options.min_p},
        {"the probability of xtc", options.xtc_probability},
        {"the threshold of xtc", options.xtc_threshold},
        {"the temperature", options.temperature},
        {"the range of the temperature", options.temperature_range},
        {"the exponent of the temperature", options.temperature_exponent},
    };
    for (auto [name, value] : others) require(!std::isnan(value), name, value, "a number");
}

}  // namespace tandem::model
