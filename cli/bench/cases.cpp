#include "cli/bench/cases.h"

#include <algorithm>

#include "cli/bench/ranges.h"
#include "cli/model_options.h"
#include "gguf/error.h"
#include "kernels/devices.h"

namespace tandem::cli {

namespace {

constexpr Option list[] = {
    {"-m, --model", "FILES", "the models; a name with a comma in it stands in double quotes"},
    {"--synthetic", "P:T",
     "a model of random weights in place of a file: a preset and a type, llama-1b:Q4_K_M (see "
     "tandem synth)"},
    {"--layers", "N", "blocks of a synthetic model (default: 0, all)"},
    {"-p, --n-prompt", "LIST", "tokens of a prompt, 0: no such test (default: 512)"},
    {"-n, --n-gen", "LIST", "tokens to generate, 0: no such test (default: 128)"},
    {"-pg, --prompt-gen", "P,N", "a prompt and then generated tokens, timed together"},
    {"-d, --n-depth", "LIST", "tokens that are cached before the test (default: 0)"},
    {"-np, --parallel", "LIST",
     "sequences side by side: each generates a token in a step, and t/s counts the tokens of all "
     "(default: 1)"},
    {"-b, --batch-size", "LIST", "the most prompt tokens at a time (default: 2048)"},
    {"-ub, --ubatch-size", "LIST", "the most tokens of a step, within -b (default: 512)"},
    {"-ctk, --cache-type-k", "TYPES",
     "of cached keys: f32, f16, bf16, q8_0 or q4_0 (default: f16)"},
    {"-ctv, --cache-type-v", "TYPES",
     "of cached values: f32, f16, bf16, q8_0 or q4_0 (default: f16)"},
    {"-t, --threads", "LIST",
     "threads of a CPU device (default: one per core of its set, fewer where a container's CPU "
     "quota allows fewer)"},
    {"-sm, --split-mode", "MODES",
     "none, layer, tensor or graph (default: layer, but tensor for memory nodes of the CPU)"},
    {"-mg, --main-gpu", "LIST", "the device of split mode none (default: 0)"},
    {"-dev, --device", "SET",
     "devices, separated by commas; several sets by several -dev, or as a,b/c: a, then b with c "
     "(default: the GPUs; where there is none cpu, or where memory is near to some cores only each "
     "memory node, cpu:node0,cpu:node1)"},
    {"-ngl, --n-gpu-layers, --gpu-layers", "LIST",
     "0: no GPU where -dev names none; auto, all and other numbers have no effect, the split mode "
     "places layers"},
    {"-ts, --tensor-split", "RATIO",
     "shares of the devices, 3,1; several by several -ts, or as 3/1,1/1"},
    {"-ot, --override-tensor", "SETS",
     "weights on a device of their own, REGEX=DEVICE;... (see tandem run); several sets separated "
     "by commas"},
    {"-cmoe, --cpu-moe", "", "all experts on the CPU, whatever the split mode says"},
    {"-ncmoe, --n-cpu-moe", "LIST", "the experts of the first N blocks on the CPU (default: 0)"},
};

constexpr Option run_list[] = {
    {"-r, --repetitions", "N", "times that each test is repeated (default: 5)"},
    {"--delay", "SECONDS", "to wait before each test (default: 0)"},
    {"-o, --output", "FORMAT", "on standard output: md, csv, json or jsonl (default: md)"},
    {"-oe, --output-err", "FORMAT", "on standard error as well (default: none)"},
    {"--profile", "",
     "behind the table, what the time of each prompt and each generation went into"},
    {"--plot", "FILE",
     "draw tokens/s against the context before them, as an SVG file; without -d and -p these are "
     "0,512,1024,2048,4096 and 0"},
    {"--measure", "", "forget what earlier runs found that the hardware allows"},
    {"--progress", "", "say on standard error what is being done"},
    {"--warmup", "",
     "run each test's kinds of steps once before timing, or for half a second on a GPU, which "
     "is slow at first (default: on; off: --no-warmup)"},
    {"--device-table", "FILE", "what the devices hold and how fast they are, for -sm graph"},
    {"--reduce-type", "TYPE",
     "type in which addends travel between devices: f32, f16 or bf16 (default: f32)"},
    // Here these take lists.
    {"-fa, --flash-attn", "LIST", "", Effect::Ignored},
    {"-mmp, --mmap", "LIST", "", Effect::Ignored},
    {"-dio, --direct-io", "LIST", "", Effect::Ignored},
    {"-nkvo, --no-kv-offload", "LIST", caches_stay, Effect::Ignored, "0"},
    {"-nopo, --no-op-offload", "LIST", "", Effect::Ignored},
    {"--no-host", "LIST", "", Effect::Ignored},
    {"-rtr, --run-time-repack", "LIST", "", Effect::Ignored},
    {"-fmoe, --fused-moe", "LIST", "", Effect::Ignored},
    {"-no-fug, --no-fused-up-gate", "LIST", "", Effect::Ignored},
    {"-mqkv, --merge-qkv", "LIST", "", Effect::Ignored},
    {"-muge, --merge-up-gate-experts", "LIST", "", Effect::Ignored},
    {"-ger, --grouped-expert-routing", "LIST", "", Effect::Ignored},
    {"-gr, --graph-reuse", "LIST", "", Effect::Ignored},
    {"-rcache, --rope-cache", "LIST", "", Effect::Ignored},
    {"-sas, --scheduler-async", "LIST", "", Effect::Ignored},
    {"-thp, --transparent-huge-pages", "LIST", "", Effect::Ignored},
    {"-gp, --gp", "P,N", "-d P -p 0 -n N is that", Effect::Refused},
    {"-w, --w", "0|1", "--no-warmup is 0", Effect::Refused, "1"},
    {"-embd, --embeddings", "LIST", "only logits are computed", Effect::Refused, "0"},
};

// All mentions of an option, each a list.
std::vector<std::string> texts(const Arguments& arguments, const char* name, const char* fallback) {
    std::vector<std::string> all;
    for (const std::string& mention : arguments.texts(name))
        for (std::string& text : split(mention)) all.push_back(std::move(text));
    if (all.empty()) all.push_back(fallback);
    return all;
}

using Numbers = std::vector<int64_t>;

Numbers numbers(const Arguments& arguments, const char* name, const Numbers& fallback,
                int64_t least) {
    Numbers all;
    for (const std::string& mention : arguments.texts(name))
        for (int64_t number : to_numbers(mention, "--" + std::string(name), least))
            all.push_back(number);
    return all.empty() ? fallback : all;
}

std::vector<gguf::DType> cache_types(const Arguments& arguments, const char* name) {
    std::vector<gguf::DType> types;
    for (const std::string& text : texts(arguments, name, "f16"))
        types.push_back(to_cache_type(text));
    return types;
}

// Sets of words: "a,b" is one of two; with a slash in it "a,b/c" are two, of one and of two.
std::vector<std::string> sets(const Arguments& arguments, const char* name) {
    std::vector<std::string> all;
    for (const std::string& mention : arguments.texts(name)) {
        if (mention.find('/') == std::string::npos) {
            all.push_back(mention);
            continue;
        }
        for (std::string set : split(mention)) {
            std::replace(set.begin(), set.end(), '/', ',');
            all.push_back(std::move(set));
        }
    }
    return all;
}

// -1 stands for auto and all.
Numbers gpu_layers(const Arguments& arguments) {
    Numbers all;
    for (const std::string& text : texts(arguments, "n-gpu-layers", "all"))
        if (is_auto_or_all(text))
            all.push_back(-1);
        else
            for (int64_t number : to_numbers(text, "--n-gpu-layers, beside auto and all,", -2))
                all.push_back(number);
    return all;
}

// None: the usual ones.
std::vector<std::vector<std::string>> device_sets(const Arguments& arguments) {
    const Numbers on_gpus = gpu_layers(arguments);
    std::vector<std::vector<std::string>> all;
    for (const std::string& set : sets(arguments, "device"))
        all.push_back(set == "auto" ? std::vector<std::string>() : to_devices(set));
    if (!all.empty()) return all;
    for (int64_t layers : on_gpus) {
        std::vector<std::string> set;
        if (layers == 0) set = kernels::cpu_devices();
        if (std::find(all.begin(), all.end(), set) == all.end()) all.push_back(std::move(set));
    }
    return all;
}

// None: one set without any.
std::vector<std::vector<std::string>> override_sets(const Arguments& arguments) {
    std::vector<std::vector<std::string>> all;
    for (const std::string& mention : arguments.texts("override-tensor"))
        for (const std::string& set : split(mention)) {
            all.push_back(split(set, ";"));
            for (const std::string& text : all.back()) require_pair(text);
        }
    if (all.empty()) all.emplace_back();
    return all;
}

// Names separated by commas; one that has a comma stands in double quotes, as in CSV files.
std::vector<std::string> names_in(std::string_view text) {
    std::vector<std::string> all(1);
    bool quoted = false;
    for (size_t i = 0; i < text.size(); ++i) {
        std::string& name = all.back();
        const char c = text[i];
        if (quoted && c == '"' && text.substr(i + 1).starts_with('"')) {
            name += text[++i];
        } else if (c == '"' && (quoted || name.empty())) {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            all.emplace_back();
        } else {
            name += c;
        }
    }
    return all;
}

struct Model {
    std::string name;
    bool synthetic = false;
};
std::vector<Model> models(const Arguments& arguments) {
    if (arguments.has("layers") && !arguments.has("synthetic"))
        throw Error("--layers is for --synthetic: the model of a file has the layers it has");
    std::vector<Model> all;
    for (const char* name : {"model", "synthetic"})
        for (const std::string& mention : arguments.texts(name))
            for (std::string& model : names_in(mention)) {
                if (model.empty())
                    throw Error("--" + std::string(name) +
                                " takes names separated by commas, none of them empty, not \"" +
                                mention + "\"");
                all.push_back({std::move(model), name == std::string_view("synthetic")});
            }
    if (all.empty())
        throw Error(
            "no model given: name a GGUF file with -m, or a preset and a type with --synthetic "
            "llama-1b:Q4_K_M");
    return all;
}

// A prompt, then generated tokens.
struct Phases {
    int64_t prompt = 0, generated = 0;
};
std::vector<Phases> phases(const Arguments& arguments) {
    const bool plotted = arguments.has("plot");
    std::vector<Phases> all;
    for (int64_t prompt : numbers(arguments, "n-prompt", {plotted ? 0 : 512}, 0))
        if (prompt > 0) all.push_back({prompt, 0});
    for (int64_t generated : numbers(arguments, "n-gen", {128}, 0))
        if (generated > 0) all.push_back({0, generated});
    for (const std::string& pair : arguments.texts("prompt-gen")) {
        const std::vector<std::string> pieces = split(pair);
        if (pieces.size() != 2) throw Error("-pg takes two numbers, 512,128, not \"" + pair + "\"");
        const auto number = [](const std::string& text) {
            return to_integer(text, "a number of -pg", 0, std::numeric_limits<int32_t>::max());
        };
        if (Phases both{number(pieces[0]), number(pieces[1])}; both.prompt + both.generated > 0)
            all.push_back(both);
    }
    return all;
}

// Every parameter multiplies the cases so far; the last one varies fastest.
template <typename Values, typename Set>
void multiply(std::vector<Case>& cases, const Values& values, const Set& set) {
    std::vector<Case> all;
    for (const Case& one : cases)
        for (const auto& value : values) {
            all.push_back(one);
            set(all.back(), value);
        }
    cases = std::move(all);
}

// True if not all cases have the usual value.
template <typename Get>
bool varies(const std::vector<Case>& cases, const Get& get) {
    return std::any_of(cases.begin(), cases.end(),
                       [&](const Case& one) { return get(one) != get(Case{}); });
}

Columns columns_of(const std::vector<Case>& cases) {
    return {.batch = varies(cases, [](const Case& c) { return c.batch; }),
            .step = varies(cases, [](const Case& c) { return c.step; }),
            .key_type = varies(cases, [](const Case& c) { return c.setup.key_type; }),
            .value_type = varies(cases, [](const Case& c) { return c.setup.value_type; }),
            .main_device = varies(cases, [](const Case& c) { return c.setup.main_device; }),
            .expert_blocks =
                varies(cases, [](const Case& c) { return c.setup.overrides.expert_blocks; }),
            .mode = varies(cases, [](const Case& c) { return c.setup.mode; }),
            .devices = varies(cases, [](const Case& c) { return c.setup.devices; }),
            .ratio = varies(cases, [](const Case& c) { return c.setup.ratio; }),
            .overrides = varies(cases, [](const Case& c) { return c.setup.overrides.tensors; }),
            .sequences = varies(cases, [](const Case& c) { return c.setup.sequences; })};
}

}  // namespace

const OptionGroup bench_options{
    "tests; a LIST, such as 128,512 or 1-4 or 64-256+64 or 128-1024*2, makes a test of each entry",
    list};
const OptionGroup bench_run_options{"measurement", run_list};

std::vector<std::string> devices_of(const Setup& setup) {
    return setup.devices.empty() ? kernels::usual_devices() : setup.devices;
}

Cases read_cases(const Arguments& arguments) {
    std::vector<std::vector<double>> ratios;
    for (const std::string& set : sets(arguments, "tensor-split")) {
        ratios.push_back(to_ratio(set));
        if (ratios.back() == std::vector<double>{0}) ratios.back().clear();  // as if not given
    }
    if (ratios.empty()) ratios.emplace_back();

    std::vector<Case> cases(1);
    multiply(cases, models(arguments), [](Case& one, const Model& model) {
        one.setup.model = model.name, one.setup.synthetic = model.synthetic;
    });
    const bool all_experts = arguments.on("cpu-moe");
    multiply(cases,
             all_experts ? Numbers{parallel::all_blocks} : numbers(arguments, "n-cpu-moe", {0}, 0),
             [](Case& one, int64_t blocks) { one.setup.overrides.expert_blocks = blocks; });
    multiply(cases, texts(arguments, "split-mode", ""),
             [](Case& one, const std::string& mode) { one.setup.mode = mode; });
    const bool has_mode = arguments.has("split-mode");
    multiply(cases, device_sets(arguments), [&](Case& one, const auto& set) {
        one.setup.devices = set;
        if (!has_mode) one.setup.mode = usual_mode(devices_of(one.setup));
    });
    multiply(cases, numbers(arguments, "main-gpu", {0}, 0),
             [](Case& one, int64_t device) { one.setup.main_device = int(device); });
    multiply(cases, ratios, [](Case& one, const auto& ratio) { one.setup.ratio = ratio; });
    multiply(cases, override_sets(arguments),
             [](Case& one, const auto& set) { one.setup.overrides.tensors = set; });
    multiply(cases, numbers(arguments, "batch-size", {2048}, 1),
             [](Case& one, int64_t tokens) { one.batch = tokens; });
    multiply(cases, numbers(arguments, "ubatch-size", {512}, 1),
             [](Case& one, int64_t tokens) { one.step = tokens; });
    multiply(cases, cache_types(arguments, "cache-type-k"),
             [](Case& one, gguf::DType type) { one.setup.key_type = type; });
    multiply(cases, cache_types(arguments, "cache-type-v"),
             [](Case& one, gguf::DType type) { one.setup.value_type = type; });
    multiply(cases, numbers(arguments, "threads", {0}, -1), [](Case& one, int64_t threads) {
        one.setup.threads = int(std::max<int64_t>(0, threads));
    });
    multiply(cases, numbers(arguments, "parallel", {1}, 1),
             [](Case& one, int64_t sequences) { one.setup.sequences = sequences; });
    const Numbers depths = arguments.has("plot") ? Numbers{0, 512, 1024, 2048, 4096} : Numbers{0};
    multiply(cases, numbers(arguments, "n-depth", depths, 0),
             [](Case& one, int64_t tokens) { one.depth = tokens; });
    multiply(cases, phases(arguments), [](Case& one, const Phases& both) {
        one.prompt = both.prompt, one.generated = both.generated;
    });
    if (cases.empty()) throw Error("there is nothing to measure: give tokens to -p, -n or -pg");
    Columns columns = columns_of(cases);
    return {std::move(cases), columns};
}

}  // namespace tandem::cli
