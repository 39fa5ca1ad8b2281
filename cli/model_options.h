// The options that say which model runs on what: declared once, for every command that loads one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/engine.h"
#include "cli/options.h"
#include "gguf/file.h"

namespace tandem::cli {

extern const OptionGroup file_options;     // -m
extern const OptionGroup step_options;     // -c -b -ub -ctk -ctv
extern const OptionGroup cache_options;    // the same without -c
extern const OptionGroup device_options;   // -dev -ngl -t -sm -ts -mg --device-table --reduce-type
extern const OptionGroup foreign_options;  // what other programs know about loading and devices

// Of -nkvo, for the user.
inline constexpr std::string_view caches_stay =
    "every device keeps the cache of what it computes; -dev cpu keeps all in the host's memory";

// What devices are called.
extern const Glossary device_names;
// The variables of the environment that every command with devices reads.
extern const Glossary device_environment;

// The value of -m. Throws Error where there is none, or are several.
std::filesystem::path model_path(const Arguments& arguments);

// What the options of all groups above say. `context` bounds the tokens of one sequence; `notes`
// gets what else would be expected of some.
EngineOptions engine_options(const Arguments& arguments, const gguf::File& file, int64_t context,
                             std::vector<std::string>& notes);
// The same on other devices than those of -dev.
EngineOptions engine_options(const Arguments& arguments, const gguf::File& file, int64_t context,
                             std::vector<std::string> devices, std::vector<std::string>& notes);
// The value of -dev; by default the usual devices of this machine, but for -ngl 0 the CPU.
std::vector<std::string> chosen_devices(const Arguments& arguments);
// CPU devices of so many threads at most (0 and less: as many as there are cores), of the variant
// that the environment variable TANDEM_CPU names, and Vulkan devices that multiply as
// TANDEM_VULKAN_PRODUCTS says. Throws Error where that is no way to.
kernels::DeviceOptions how_devices_work(int64_t threads);
// The split mode where -sm says none: tensor for memory nodes of one machine, which read their
// parts of every layer at the same time, else layer.
std::string usual_mode(std::span<const std::string> devices);
// The value of -c: for 0 what the model was trained for, by default `usual` tokens, or where that
// is negative as for 0, but 4096 at most. `notes` says so where it is cut, or is more than the
// model knows.
int64_t context_size(const Arguments& arguments, const gguf::File& file,
                     std::vector<std::string>& notes, int64_t usual = -1);

// Values as the options take them; Error names those that exist.
std::vector<std::string> to_devices(std::string_view text);  // "cpu:0-3,cpu:4-7"; "none": no GPU
bool is_auto_or_all(std::string_view text);                  // in place of a number, of -ngl
std::vector<double> to_ratio(std::string_view text);         // "3,1" or "3/1"
gguf::DType to_cache_type(std::string_view text);            // f32, f16, bf16, q8_0 or q4_0

}  // namespace tandem::cli
