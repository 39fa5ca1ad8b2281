// `tandem bench`: how fast prompts are read and texts written, in llama-bench's table, with the
// share of what the machine allows.
#include <algorithm>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "cli/bench/cases.h"
#include "cli/bench/glossaries.h"
#include "cli/bench/known_limits.h"
#include "cli/bench/measurement.h"
#include "cli/bench/plot.h"
#include "cli/bench/profile.h"
#include "cli/bench/source.h"
#include "cli/bench/status.h"
#include "cli/bench/tables.h"
#include "cli/commit.h"
#include "cli/driver.h"
#include "cli/format.h"
#include "cli/model_options.h"
#include "cli/notes.h"
#include "cli/output_file.h"
#include "cli/subcommands.h"
#include "cli/synth/model.h"
#include "gguf/error.h"
#include "graph/step.h"
#include "model/architecture.h"

namespace tandem::cli {

namespace {

constexpr std::string_view no_keys = "it would not show in the speed";
constexpr Option key_list[] = {
    {"--override-kv", "LIST", no_keys, Effect::Refused},
    {"--rope-scaling", "TYPE", no_keys, Effect::Refused},
    {"--rope-scale", "X", no_keys, Effect::Refused, "0|1"},
    {"--rope-freq-base", "X", no_keys, Effect::Refused, "0"},
    {"--rope-freq-scale", "X", no_keys, Effect::Refused, "0|1"},
};
constexpr OptionGroup key_options{"keys of the model", key_list};
constexpr const OptionGroup* groups[] = {&bench_options, &bench_run_options, &key_options,
                                         &foreign_options};
constexpr const Glossary* glossaries[] = {&bench_columns, &profile_columns, &device_names,
                                          &device_environment, &bench_environment};

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

// "1a2b3c4 (42)", as llama-bench says it.
std::string build() {
    if (commit.hash.empty()) return TANDEM_VERSION;
    return std::string(commit.hash) + " (" + std::to_string(commit.number) + ")";
}

std::string processor() {
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("model name") && line.find(": ") != std::string::npos)
            return line.substr(line.find(": ") + 2);
    return {};
}

struct Bench {
    const Arguments& arguments;
    Interrupts interrupts;
    MeasurementRules rules;
    Status status;
    KnownLimits limits;
    const bool profiled;
    std::vector<Row> rows;
    std::string profiles;  // of all tests

    // The model of the test at hand.
    std::string source;
    std::optional<gguf::File> file;
    std::unique_ptr<Driver> driver;
    std::optional<Subject> subject;
    MeasuredDevices devices;  // that hold anything of it
    MeasuredDevices alone(const std::string& name) const {
        return {{name}, devices.how, devices.folder};
    }
    parallel::DeviceWork work;  // of one token, whatever the mapping
    int64_t blocks = 0;
    Row row;  // what all its tests have in common

    explicit Bench(const Arguments& arguments)
        : arguments(arguments),
          status(arguments.on("progress")),
          limits(arguments.on("measure")),
          profiled(arguments.on("profile")) {
        rules.repetitions = arguments.integer("repetitions", 5, 1);
        rules.warmup = arguments.on("warmup", true);
    }

    EngineOptions options(std::span<const Case> tests, std::vector<std::string>& notes) const;
    int64_t layers() const { return arguments.integer("layers", 0, 0); }
    void check(std::span<const Case> tests) const;
    void open(const Setup& setup);
    void load(std::span<const Case> tests);
    void look_at(const Blueprint& blueprint, const EngineOptions& wanted);
    Row test(const Case& test);
    void profile(const Case& test);
    void profile(Phase phase, double (*run)(Subject& subject, const Case& test), const Case& test);
    void run(std::span<const Case> tests, Tables& tables);
};

// One model serves all tests that differ in numbers of tokens only: it has room for the largest.
EngineOptions Bench::options(std::span<const Case> tests, std::vector<std::string>& notes) const {
    const Setup& setup = tests.front().setup;
    EngineOptions options;
    options.devices = devices_of(setup);
    options.cache = cache_folder();
    if (arguments.has("device-table")) options.device_table = arguments.text("device-table");
    options.wire = parallel::wire_from_name(arguments.text("reduce-type", "f32"));
    options.how = how_devices_work(setup.threads);
    options.model.key_type = setup.key_type;
    options.model.value_type = setup.value_type;
    options.model.slots = setup.sequences;
    int64_t context = 1, step = setup.sequences;
    for (const Case& test : tests) {
        context = std::max(context, test.prompt + test.generated + test.depth);
        step = std::max(step, std::min({test.step, test.batch, std::max(test.prompt, test.depth)}));
    }
    options.model.context = options.plan.context = context;
    options.plan.bucket = step;
    options.plan.mode = setup.mode;
    options.plan.ratio = setup.ratio;
    options.plan.main_device = setup.main_device;
    add_overrides(setup.overrides, options.devices, options.plan, notes);
    options.timed = profiled;
    options.interrupts = &interrupts;
    options.fewer_tokens = "fewer tokens (-p, -n, -d) or sequences (-np)";
    return options;
}

// The tests from `first` on that one loaded model serves.
std::span<const Case> alike(std::span<const Case> tests, size_t first) {
    size_t last = first;
    while (last < tests.size() && tests[last].setup == tests[first].setup) ++last;
    return tests.subspan(first, last - first);
}

// What is wrong with any of them, as far as it can be told without weights: a long time may pass
// before its turn comes.
void Bench::check(std::span<const Case> tests) const {
    std::set<std::pair<std::vector<std::string>, int>> made;  // devices, of so many threads
    std::map<std::string, gguf::File> files;
    std::vector<std::string> notes;
    for (size_t first = 0; first < tests.size();) {
        const std::span<const Case> some = alike(tests, first);
        first += some.size();
        EngineOptions wanted = options(some, notes);
        wanted.model.step = wanted.plan.bucket;
        require_sensible(wanted.plan, wanted.devices.size());
        if (made.emplace(wanted.devices, wanted.how.threads).second)
            kernels::make_devices(wanted.devices, wanted.how);
        const std::string& model = some.front().setup.model;
        if (some.front().setup.synthetic) {
            design(model, layers(), 0);
            continue;
        }
        auto known = files.find(model);
        if (known == files.end()) known = files.emplace(model, gguf::File::open(model)).first;
        model::build(known->second, wanted.model);
    }
    // Several tests may have the same to say.
    std::sort(notes.begin(), notes.end());
    notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
    print_notes(notes);
}

void Bench::open(const Setup& setup) {
    if (source == setup.model) return;
    driver.reset();
    file.reset();
    status.clear();
    file = setup.synthetic ? open_synthetic(setup.model, layers(), interrupts)
                           : gguf::File::open(setup.model);
    source = setup.model;
    row.file = setup.model;
    row.model = describe_model(*file);
    row.bytes = file->tensor_bytes();
    row.parameters = 0;
    for (const gguf::TensorInfo& tensor : file->tensors()) row.parameters += tensor.elements();
}

void Bench::load(std::span<const Case> tests) {
    const Setup& setup = tests.front().setup;
    open(setup);
    subject.reset();
    driver.reset();
    status.clear();
    std::vector<std::string> notes;  // which check() has told
    const EngineOptions wanted = options(tests, notes);
    look_at(*make_blueprint(*file, wanted), wanted);
    // While memory and devices are free.
    limits.of(devices);
    if (profiled)
        for (const std::string& name : devices.names) limits.of(alone(name));
    driver = std::make_unique<Driver>(*file, wanted, interrupts);
    const int32_t bos = first_token(file->metadata());
    if (bos >= 0) graph::require_tokens({&bos, 1}, driver->executor().vocab());
    subject.emplace(Subject{driver->executor(), bos});
}

// What the tests need to know of a plan.
void Bench::look_at(const Blueprint& blueprint, const EngineOptions& wanted) {
    const parallel::DeviceTable one{.devices = {{.name = "all"}}, .links = {{{}}}};
    work = work_of(*blueprint.graph, make_plan(*blueprint.graph, one, {.mode = "none"}), 1)[0];
    devices = {.how = wanted.how, .folder = wanted.cache};
    blocks = blueprint.graph->layers();
    row.threads = 0;
    rules.least_warmup = 0;
    std::set<std::string> kinds;
    for (size_t i = 0; i < blueprint.devices.size(); ++i) {
        if (blueprint.weights[i] == 0) continue;
        const kernels::Description& device = blueprint.devices[i]->description();
        devices.names.push_back(wanted.devices[i]);
        row.threads += device.threads;
        kinds.insert(device.kind);
        rules.least_warmup = std::max(rules.least_warmup, device.warmup_seconds);
    }
    row.backends.clear();
    for (std::string kind : kinds) {
        for (char& c : kind) c = char(std::toupper(static_cast<unsigned char>(c)));
        row.backends += (row.backends.empty() ? "" : ",") + kind;
    }
}

Row Bench::test(const Case& test) {
    Row result = row;
    result.test = test;
    int64_t& expert_blocks = result.test.setup.overrides.expert_blocks;
    expert_blocks = std::min(expert_blocks, blocks);
    result.time = utc_now();
    try {
        measure(
            *subject, test, rules, [&](const std::string& what) { status.show(what); },
            result.nanoseconds);
    } catch (const Error&) {
        // An interrupt takes the repetition that it ends, not those before.
        if (!interrupts.pending() || result.nanoseconds.empty()) throw;
    }
    status.clear();
    result.devices = devices.names;
    const auto compare = [&](const HighestLimits& known) {
        result.limits = known.highest;
        result.run_bytes_per_second = known.now.bytes_per_second;
        result.least = least_seconds(work, known.highest, test);
    };
    compare(limits.of(devices));
    if (result.share() > 1 && !interrupts.pending()) compare(limits.of(devices, true));
    return result;
}

// The cache holds what stands before the test already.
void Bench::profile(const Case& test) {
    const int64_t sequences = test.setup.sequences;
    if (test.prompt > 0)
        profile(
            {.name = "prompt", .tokens = test.prompt, .depth = test.depth, .sequences = sequences},
            run_prompt, test);
    if (test.generated > 0)
        profile({.name = "generation",
                 .tokens = test.generated,
                 .depth = test.depth + test.prompt,
                 .sequences = sequences,
                 .together = true},
                run_generation, test);
}

void Bench::profile(Phase phase, double (*run)(Subject& subject, const Case& test),
                    const Case& test) {
    driver->executor().take_times();
    phase.seconds = run(*subject, test);
    status.clear();
    const auto times = driver->executor().take_times();
    for (size_t i = 0; i < times.size(); ++i) {
        const Blueprint& blueprint = driver->blueprint();
        if (blueprint.weights[i] == 0) continue;
        if (times[i].launches.empty())
            std::cerr << name_of(blueprint.table, i)
                      << " cannot tell how long its launches take: there is no profile of it\n";
        else
            profiles +=
                to_string(make_profile(times[i], blueprint, i, phase), phase,
                          limits.of(alone(blueprint.devices[i]->description().name)).highest);
    }
}

void Bench::run(std::span<const Case> tests, Tables& tables) {
    const double delay = arguments.real("delay", 0, 0);
    for (size_t i = 0; i < tests.size(); ++i) {
        if (i == 0 || tests[i].setup != tests[i - 1].setup) load(alike(tests, i));
        status.begin("benchmark " + std::to_string(i + 1) + "/" + std::to_string(tests.size()) +
                     ": ");
        status.show("starting");
        interrupts.sleep(delay);
        rows.push_back(test(tests[i]));
        tables.add(rows.back());
        interrupts.check();
        if (!profiled) continue;
        if (tests.size() > 1) profiles += format("\ntest %zu of %zu\n", i + 1, tests.size());
        profile(tests[i]);
    }
}

void act(Bench& bench) {
    const Cases cases = read_cases(bench.arguments);
    bench.check(cases.list);
    std::optional<OutputFile> picture;  // now, because measuring takes a while
    if (bench.arguments.has("plot"))
        picture.emplace(bench.arguments.text("plot"), "the picture", &bench.interrupts);
    const std::string format = bench.arguments.text("output", "md");
    Tables tables(format, bench.arguments.text("output-err", "none"), build(), cases.columns);
    bench.row.build = commit.hash.empty() ? TANDEM_VERSION : commit.hash;
    bench.row.build_number = commit.number;
    bench.row.cpu = processor();
    const auto finish = [&] {
        tables.finish(bench.rows);
        (format == "md" ? std::cout : std::cerr) << bench.profiles;
        if (picture && !bench.rows.empty()) picture->replace(to_svg(make_charts(bench.rows)));
    };
    try {
        bench.run(cases.list, tables);
    } catch (...) {
        bench.status.clear();
        try {
            if (!bench.rows.empty()) finish();  // what there is can be read and seen
        } catch (const Error& error) {
            std::cerr << error.what() << "\n";
        }
        throw;
    }
    finish();
}

int run(const Arguments& arguments) {
    Bench bench(arguments);
    return run_until_interrupted(bench.interrupts, [&] { act(bench); });
}

}  // namespace

const Subcommand bench_command{"bench",
                               "measures speed, in llama-bench's table",
                               "-m FILE [-p 512] [-n 128] [options]",
                               groups,
                               run,
                               {},
                               glossaries};

}  // namespace tandem::cli
