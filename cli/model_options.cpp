#include "cli/model_options.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "cli/overrides.h"
#include "gguf/error.h"
#include "parallel/policy.h"

namespace tandem::cli {

namespace {

constexpr int64_t default_context = 4096;
constexpr int64_t default_batch = 2048, default_step = 512;

constexpr Option file_list[] = {
    {"-m, --model", "FILE", "the model, a GGUF file; of a split model any part"},
};

constexpr Option step_list[] = {
    // First, as cache_options begin behind it.
    {"-c, --ctx-size", "N",
     "tokens that a sequence may have; 0: as many as the model was trained for (default: the same, "
     "4096 at most)"},
    {"-b, --batch-size", "N", "the most prompt tokens at a time (default: 2048)"},
    {"-ub, --ubatch-size", "N", "the most tokens of a step, within -b (default: 512)"},
    {"-ctk, --cache-type-k", "TYPE", "of cached keys: f32, f16, bf16, q8_0 or q4_0 (default: f16)"},
    {"-ctv, --cache-type-v", "TYPE",
     "of cached values: f32, f16, bf16, q8_0 or q4_0 (default: f16)"},
};

// "none: one device; layer: ..."
std::string split_modes() {
    std::string text;
    for (const parallel::Policy& policy : parallel::policies())
        text += (text.empty() ? "" : "; ") + std::string(policy.name) + ": " +
                std::string(policy.sentence);
    return text;
}

const std::string split_mode_sentence =
    split_modes() + " (default: layer, but tensor for memory nodes of the CPU)";

const Option device_list[] = {
    {"-dev, --device", "LIST",
     "devices, separated by commas; one may be named several times, which makes several of "
     "it; none: no GPU (default: the GPUs; where there is none cpu, which is all cores, or where "
     "memory is near to some cores only each memory node, cpu:node0,cpu:node1)"},
    {"-ngl, --gpu-layers, --n-gpu-layers", "N",
     "0: no GPU where -dev names none; auto, all and other numbers have no effect, the split mode "
     "places layers"},
    {"-t, --threads", "N",
     "threads of a CPU device (default: one per core of its set, fewer where a container's CPU "
     "quota allows fewer)"},
    {"-sm, --split-mode", "MODE", split_mode_sentence},
    {"-ts, --tensor-split", "RATIO",
     "shares of the devices, 3,1 or 3/1 (default: by free memory in mode layer, equal in tensor, "
     "what costs least in graph)"},
    {"-mg, --main-gpu", "N", "the device of split mode none, counted from 0 (default: 0)"},
    {"--device-table", "FILE", "what the devices hold and how fast they are, instead of measuring"},
    {"--reduce-type", "TYPE",
     "type in which addends travel between devices: f32, f16 or bf16 (default: f32)"},
};

constexpr std::string_view cores = "the cores of a device stand in its name, as in -dev cpu:0-3";

constexpr Option foreign_list[] = {
    {"-fa, --flash-attn", on_off_auto, "", Effect::Ignored},
    {"--mmap", "", "", Effect::Ignored},
    {"--mlock", "", "", Effect::Ignored},
    {"-dio, --direct-io", "", "", Effect::Ignored},
    {"-ndio, --no-direct-io", "", "", Effect::Ignored},
    {"-lm, --load-mode", "MODE", "", Effect::Ignored},
    {"-tb, --threads-batch", "N", "-t counts the threads of prompts, too", Effect::Ignored, "-1"},
    {"-C, --cpu-mask", "M", cores, Effect::Ignored, "0|0x0"},
    {"-Cr, --cpu-range", "R", cores, Effect::Ignored},
    {"--cpu-strict", "N", "", Effect::Ignored},
    {"--prio", "N", "", Effect::Ignored},
    {"--poll", "N", "", Effect::Ignored},
    {"-Cb, --cpu-mask-batch", "M", cores, Effect::Ignored, "0|0x0"},
    {"-Crb, --cpu-range-batch", "R", cores, Effect::Ignored},
    {"--cpu-strict-batch", "N", "", Effect::Ignored},
    {"--prio-batch", "N", "", Effect::Ignored},
    {"--poll-batch", "N", "", Effect::Ignored},
    {"-gaw, --grp-attn-w", "N", "", Effect::Ignored},
    {"--numa", "TYPE",
     "each memory node is a device of its own, also without -dev, as in -dev cpu:node0,cpu:node1",
     Effect::Ignored, "disabled"},
    // In front of its opposite, whose opposite it would else be.
    {"-nkvo, --no-kv-offload", "", caches_stay, Effect::Ignored},
    {"-kvo, --kv-offload", "", "", Effect::Ignored},
    {"--op-offload", "", "", Effect::Ignored},
    {"--repack", "", "", Effect::Ignored},
    {"-nr, --no-repack", "", "", Effect::Ignored},
    {"--no-host", "", "", Effect::Ignored},
    {"-fit, --fit", on_off_auto, "", Effect::Ignored},
    {"--no-fit", "", "", Effect::Ignored},
    {"-fitt, --fit-target", "N", "", Effect::Ignored},
    {"-fitc, --fit-ctx", "N", "", Effect::Ignored},
    {"--swa-full", "", "", Effect::Ignored},
    {"-kvu, --kv-unified", "", "", Effect::Ignored},
    {"--warmup", "", "", Effect::Ignored},
    {"--perf", "", "", Effect::Ignored},
    {"--log-disable", "", "", Effect::Ignored},
    {"--log-prefix", "", "", Effect::Ignored},
    {"--log-timestamps", "", "", Effect::Ignored},
    {"--log-colors", on_off_auto, "", Effect::Ignored},
    {"-lv, --verbosity", "N", "", Effect::Ignored},
    {"-v, --verbose", "", "", Effect::Ignored},
    {"--offline", "", "", Effect::Ignored},
    {"-rtr, --run-time-repack", "", "", Effect::Ignored},
    {"-fmoe, --fused-moe", "", "", Effect::Ignored},
    {"-no-fmoe, --no-fused-moe", "", "", Effect::Ignored},
    {"-no-fug, --no-fused-up-gate", "", "", Effect::Ignored},
    {"-mqkv, --merge-qkv", "", "", Effect::Ignored},
    {"-muge, --merge-up-gate-experts", "", "", Effect::Ignored},
    {"-ger, --grouped-expert-routing", "", "", Effect::Ignored},
    {"-mla, --mla-use", "N", "", Effect::Ignored},
    {"-amb, --attention-max-batch", "N", "", Effect::Ignored},
    {"-gr, --graph-reuse", "", "", Effect::Ignored},
    {"-rcache, --rope-cache", "", "", Effect::Ignored},
    {"-smgs, --split-mode-graph-scheduling", "", "", Effect::Ignored},
    {"-sas, --scheduler-async", "", "", Effect::Ignored},
    {"-thp, --transparent-huge-pages", "", "", Effect::Ignored},
    {"-cuda, --cuda-params", "LIST", "", Effect::Ignored},
    {"-ser, --smart-expert-reduction", "N,X", "every expert that the model chooses is computed",
     Effect::Refused},
    {"--list-devices", "", "tandem devices lists them", Effect::Refused},
    {"-hf, -hfr, --hf-repo", "NAME", "download the file and give it with -m", Effect::Refused},
    {"-hff, --hf-file", "NAME", "download the file and give it with -m", Effect::Refused},
    {"-hft, --hf-token", "TOKEN", "download the file and give it with -m", Effect::Refused},
    {"-mu, --model-url", "URL", "download the file and give it with -m", Effect::Refused},
    {"--lora", "FILE", "merge the adapter into the model file", Effect::Refused},
    {"--lora-scaled", "FILE", "merge the adapter into the model file", Effect::Refused},
    {"--control-vector", "FILE", "the answer would not be what was asked for", Effect::Refused},
    {"--control-vector-scaled", "FILE", "the answer would not be what was asked for",
     Effect::Refused},
    {"--control-vector-layer-range", "FIRST LAST", "the answer would not be what was asked for",
     Effect::Refused},
    {"-gan, --grp-attn-n", "N", "every token attends to all before it", Effect::Refused, "1"},
    {"--check-tensors", "", "the numbers of the weights are taken as they are", Effect::Refused},
    {"--log-file", "FILE", "redirect standard error to the file: 2> FILE", Effect::Refused},
};

// A key of the model's architecture; 0 where the file does not say.
int64_t model_integer(const gguf::File& file, const char* key) {
    const std::string architecture = file.metadata().text("general.architecture").value_or("");
    return std::clamp<int64_t>(file.metadata().integer(architecture + "." + key).value_or(0), 0,
                               std::numeric_limits<int32_t>::max());
}

// What -ngl says; none: all.
std::optional<int64_t> gpu_layers(const Arguments& arguments) {
    const std::string layers = arguments.text("gpu-layers", "all");
    if (is_auto_or_all(layers)) return {};
    return to_integer(layers, "--gpu-layers, beside auto and all,", -2,
                      std::numeric_limits<int32_t>::max());
}

constexpr Term device_terms[] = {
    {"cpu", "all cores"},
    {"cpu:0-7, cpu:2", "these cores, or this one"},
    {"cpu:node1", "the cores of a memory node"},
    {"vulkan0, vulkan1", "GPUs, and drivers that compute on the CPU"},
    {"reference", "plain code that checks the others"},
};

constexpr Term environment_terms[] = {
    {"TANDEM_CPU",
     "the instruction set of CPU kernels: amx, avx512bf16, avx512, avxvnni, avx2 or portable, as "
     "far as the processor has it (default: the best of these)"},
    {"TANDEM_VULKAN_PRODUCTS",
     "how Vulkan devices multiply: floats keeps to f32, dots to dot products of int8, plain does "
     "what matrix units do without them (default: what each device does fastest)"},
    {"XDG_CACHE_HOME, HOME",
     "where the speeds that were measured of devices are kept: in tandem in the first, or where "
     "that is not set in .cache/tandem in the second"},
};

}  // namespace

const OptionGroup file_options{"model", file_list};
const OptionGroup step_options{"context and cache", step_list};
const OptionGroup cache_options{"steps and cache", std::span(step_list).subspan(1)};
const OptionGroup device_options{"devices", device_list};
const OptionGroup foreign_options{"compatibility", foreign_list};

const Glossary device_names{"names of devices, of which tandem devices lists those of this machine",
                            device_terms};
const Glossary device_environment{"environment", environment_terms};

std::filesystem::path model_path(const Arguments& arguments) {
    const std::string path = arguments.text("model");
    if (path.empty()) throw Error("no model given: name a GGUF file with -m");
    for (const std::string& other : arguments.texts("model"))
        if (other != path)
            throw Error("two models given, " + other + " and " + path + ": name one with -m");
    return path;
}

EngineOptions engine_options(const Arguments& arguments, const gguf::File& file, int64_t context,
                             std::vector<std::string>& notes) {
    return engine_options(arguments, file, context, chosen_devices(arguments), notes);
}

EngineOptions engine_options(const Arguments& arguments, const gguf::File& file, int64_t context,
                             std::vector<std::string> devices, std::vector<std::string>& notes) {
    EngineOptions options;
    options.model.context = options.plan.context = context;
    options.model.key_type = to_cache_type(arguments.text("cache-type-k", "f16"));
    options.model.value_type = to_cache_type(arguments.text("cache-type-v", "f16"));
    options.plan.bucket = std::min({context, arguments.integer("ubatch-size", default_step, 1),
                                    arguments.integer("batch-size", default_batch, 1)});
    options.devices = std::move(devices);
    options.how = how_devices_work(arguments.integer("threads", 0));
    options.plan.mode =
        parallel::find_policy(arguments.text("split-mode", usual_mode(options.devices))).name;
    if (arguments.has("tensor-split"))
        options.plan.ratio = to_ratio(arguments.text("tensor-split"));
    options.plan.main_device = int(arguments.integer("main-gpu", 0));
    if (arguments.has("device-table")) options.device_table = arguments.text("device-table");
    options.cache = cache_folder();
    options.wire = parallel::wire_from_name(arguments.text("reduce-type", "f32"));
    const int64_t layers = gpu_layers(arguments).value_or(0);
    Overrides overrides = overrides_of(arguments);
    if (overrides.expert_blocks > 0 && model_integer(file, "expert_count") == 0) {
        notes.push_back(overrides.option_of_experts() + " moves nothing: the model has no experts");
        overrides.expert_blocks = 0;
    }
    add_overrides(overrides, options.devices, options.plan, notes);
    if (layers > 0 && layers < model_integer(file, "block_count") && options.plan.ratio.empty())
        notes.push_back(
            "-ngl " + std::to_string(layers) +
            " divides nothing: -sm and -ts say how the devices of -dev share the layers");
    return options;
}

kernels::DeviceOptions how_devices_work(int64_t threads) {
    kernels::DeviceOptions options{.threads = int(std::max<int64_t>(0, threads))};
    options.variant = environment("TANDEM_CPU");
    const std::string_view products = environment("TANDEM_VULKAN_PRODUCTS");
    if (products == "floats")
        options.products = kernels::Products::InFloats;
    else if (products == "dots")
        options.products = kernels::Products::InDots;
    else if (products == "plain")
        options.products = kernels::Products::OnPlainUnits;
    else if (!products.empty())
        throw Error("TANDEM_VULKAN_PRODUCTS is floats, dots or plain, not \"" +
                    std::string(products) + "\"");
    return options;
}

std::vector<std::string> chosen_devices(const Arguments& arguments) {
    const bool no_gpu = gpu_layers(arguments) == 0;
    if (arguments.has("device")) return to_devices(arguments.text("device"));
    return no_gpu ? kernels::cpu_devices() : kernels::usual_devices();
}

std::string usual_mode(std::span<const std::string> devices) {
    const bool nodes = std::all_of(devices.begin(), devices.end(), kernels::is_node_name);
    return nodes && devices.size() > 1 ? "tensor" : "layer";
}

int64_t context_size(const Arguments& arguments, const gguf::File& file,
                     std::vector<std::string>& notes, int64_t usual) {
    // As far as positions count.
    const int64_t trained = model_integer(file, "context_length");
    const int64_t wanted = arguments.integer("ctx-size", usual, 0);
    const std::string of_trained =
        "the " + std::to_string(trained) + " that the model was trained for";
    if (wanted > 0) {
        if (trained > 0 && wanted > trained)
            notes.push_back("a context of " + std::to_string(wanted) + " tokens is longer than " +
                            of_trained);
        return wanted;
    }
    if (trained == 0) return default_context;
    if (wanted == 0 || trained <= default_context) return trained;
    notes.push_back("the context is " + std::to_string(default_context) + " tokens of " +
                    of_trained + "; -c sets it, -c 0 takes all");
    return default_context;
}

std::vector<std::string> to_devices(std::string_view text) {
    if (text == "none") return kernels::cpu_devices();
    std::vector<std::string> devices = split(text);
    if (std::find(devices.begin(), devices.end(), "") != devices.end())
        throw Error(
            "no device to run on: -dev takes names separated by commas, such as cpu or "
            "cpu:0-3,cpu:4-7, not \"" +
            std::string(text) + "\"");
    return devices;
}

bool is_auto_or_all(std::string_view text) { return text == "auto" || text == "all"; }

std::vector<double> to_ratio(std::string_view text) {
    constexpr double most = 1e15;  // so that sums are exact enough
    std::vector<double> ratio;
    for (const std::string& share : split(text, ",/;"))
        ratio.push_back(to_real(share, "a share of -ts", 0, most));
    return ratio;
}

gguf::DType to_cache_type(std::string_view text) {
    using gguf::DType;
    for (DType type : {DType::F32, DType::F16, DType::BF16, DType::Q8_0, DType::Q4_0})
        if (gguf::dtype_from_name(text) == type) return type;
    throw Error("cache type \"" + std::string(text) +
                "\" does not exist; choose f32, f16, bf16, q8_0 or q4_0");
}

}  // namespace tandem::cli
