// No mapping can change the answer: every model under every split mode and number of devices
// against its golden logits, and against the same model on one device of the kind.
//
// Another kind of device is another row of `kinds`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <span>

#include "data.h"
#include "gguf/error.h"
#include "kernels/cpu/forms.h"
#include "kernels/cpu/variants.h"
#include "kernels/vulkan.h"
#include "models/executor_on.h"
#include "models/golden.h"
#include "models/mapping.h"

namespace tandem::test {
namespace {

using gguf::DType;

// How near answers must be: NMSE at most the larger of `exact` and `of_own` times what the
// reference engine's own kernels make of the file.
struct Bound {
    double exact = 0, of_own = 0;
    double nmse(const Golden& golden) const { return std::max(exact, of_own * golden.own_nmse); }
};

// What files store decides how far kernels that round activations may be off.
struct Bounds {
    Bound golden, one_device;
    double positions = 1;  // the share of them that must, together, be within the bounds
    bool greedy = true;    // the greedy ids must be the golden ones
};

struct Kind {
    const char* name;
    const char* devices[2];  // in turn
    Bounds floats;           // F32 and F16 files
    Bounds rounded;          // BF16 and quantised files
    Bounds mixtures;         // quantised files with experts, whose choice a rounding may change
    // A Vulkan device without a GPU takes its time: fewer mappings, and fewer single tokens.
    bool slow = false;
    kernels::Products products = kernels::Products::Best;  // of Vulkan devices
    std::span<const char* const> fixtures = {};            // none: all
};

constexpr Bounds exact{.golden = {1e-9}, .one_device = {1e-10}};
// Activations rounded to F16 or to blocks of 8 bits, as the reference engine's own kernels do.
constexpr Bounds near{.golden = {1e-5}, .one_device = {1e-6}};
constexpr Bounds blocks{.golden = {0, 1.5}, .one_device = {0, 0.5}, .greedy = false};
constexpr Bounds choices{
    .golden = {0, 1.5}, .one_device = {0, 0.5}, .positions = 0.95, .greedy = false};
// Activations as they are, in blocks of 8 bits, or in F16 on matrix units.
constexpr Bounds near_blocks{.golden = {0, 1.5}, .one_device = {1e-6, 0.5}, .greedy = false};
constexpr Bounds near_choices{
    .golden = {0, 1.5}, .one_device = {1e-6, 0.5}, .positions = 0.95, .greedy = false};
// A group of two kinds is off by what each of them is.
constexpr Bounds mixed{.golden = {1e-5}, .one_device = {1e-5}};
constexpr Bounds mixed_blocks{.golden = {0, 1.5}, .one_device = {0, 1.5}, .greedy = false};
constexpr Bounds mixed_choices{
    .golden = {0, 1.5}, .one_device = {0, 1.5}, .positions = 0.95, .greedy = false};
// Of each way in which rows are multiplied and of each kind of layer.
constexpr const char* on_plain_units[] = {
    "qwen3-bf16",   "qwen3moe",   "llama-q-q4_k_m", "qwen3moe-q-mxfp4", "gemma3",
    "gemma4-dense", "gemma4-moe", "qwen35-lin128",  "kimi-linear",      "deepseek2-lite"};
// Of blocks of 32 and of 256, with experts and without.
constexpr const char* in_dots[] = {"llama-q-q4_0",     "llama-q-q4_k_m", "llama-q-q8_0",
                                   "qwen3moe-q-mxfp4", "qwen3moe-q-mix", "gpt-oss-mxfp4"};
constexpr Kind kinds[] = {
    {"reference", {"reference", "reference"}, exact, exact, exact},
    {"cpu", {"cpu", "cpu"}, near, blocks, choices},
    {"mixed", {"cpu", "reference"}, mixed, mixed_blocks, mixed_choices},
    {"vulkan", {"vulkan0", "vulkan0"}, near, near_blocks, near_choices, true},
    {"vulkan_cpu", {"vulkan0", "cpu"}, mixed, mixed_blocks, mixed_choices, true},
    {"vulkan_plain_units",
     {"vulkan0", "vulkan0"},
     near,
     near_blocks,
     near_choices,
     true,
     kernels::Products::OnPlainUnits,
     on_plain_units},
    {"vulkan_dots",
     {"vulkan0", "vulkan0"},
     near,
     near_blocks,
     near_choices,
     true,
     kernels::Products::InDots,
     in_dots},
};

const parallel::Home ffn_on_1{.pattern = "ffn", .group = {1}};

// `graph` always with a ratio, so that it cuts whatever the cost. Of 9, 1 and 9 the second gets
// nothing of what has few units.
const Mapping mappings[] = {
    {"layer", 1, {}},
    {"layer", 2, {}},
    {"layer", 3, {}},
    {"layer", 5, {}},
    {"layer", 2, {3, 1}},
    {"layer", 3, {1, 0, 1}},
    {"tensor", 1, {}},
    {"tensor", 2, {}},
    {"tensor", 3, {}},
    {"tensor", 5, {}},
    {"tensor", 2, {3, 1}},
    {"tensor", 3, {1, 0, 1}},
    {"graph", 1, {1}},
    {"graph", 2, {1, 1}},
    {"graph", 3, {1, 1, 1}},
    {"graph", 5, {1, 1, 1, 1, 1}},
    {"graph", 2, {3, 1}},
    {"graph", 3, {9, 1, 9}},
    {"graph", 3, {1, 0, 1}},
    {"tensor", 2, {0, 1}},
    {"layer", 2, {}, {ffn_on_1}, 1},
    {"tensor", 3, {}, {ffn_on_1, {.pattern = "token_embd|attn|ssm", .group = {0, 2}}}},
};

const Mapping few_mappings[] = {
    {"layer", 1, {}},
    {"layer", 2, {}},
    {"tensor", 2, {}},
    {"tensor", 3, {3, 1, 2}},
    {"graph", 2, {1, 1}},
    {"graph", 3, {9, 1, 9}},
    {"layer", 2, {}, {ffn_on_1}, 1},
};

// Homes are for devices of different kinds.
constexpr size_t without_homes = std::size(few_mappings) - 1;

// One device, and the most uneven cuts.
const Mapping fewest_mappings[] = {
    {"layer", 1, {}}, {"tensor", 3, {3, 1, 2}}, {"graph", 3, {9, 1, 9}}};

// Mappings do to one type of weights, and to one way to multiply, what they do to all: where all
// devices are alike, and take long, files that differ in types and devices that differ in products
// get fewer, but for a run of `all`.
bool gets_fewer(const Kind& kind, std::string_view fixture) {
    const bool of_types = fixture.find("-q-") != fixture.npos,
               of_products = kind.products != kernels::Products::Best;
    return (of_types || of_products) &&
           (kind.slow || kind.devices[0] == std::string_view("reference"));
}

// A group of two kinds: alone, a device is the run of its own kind.
bool differ(const Kind& kind) { return kind.devices[0] != std::string_view(kind.devices[1]); }

std::span<const Mapping> mappings_of(const Kind& kind, std::string_view fixture, bool all) {
    const bool fewer = gets_fewer(kind, fixture) && !all;
    if (kind.slow && fewer) return fewest_mappings;
    if (!kind.slow && !fewer) return mappings;
    const std::span<const Mapping> few = few_mappings;
    return differ(kind) || all ? few : few.first(without_homes);
}

// Copied into the tree; the others are beside it, perhaps.
const char* const copied[] = {"llama-rope-factors",
                              "llama-yarn-bf16",
                              "llama-moe",
                              "qwen3-bf16",
                              "qwen3moe",
                              "llama-q-q4_0",
                              "llama-q-q4_k_m",
                              "qwen3moe-q-mxfp4",
                              "qwen2",
                              "qwen3next",
                              "qwen35-lin128",
                              "gpt-oss-mxfp4",
                              "glm4",
                              "glm4moe",
                              "gemma3",
                              "gemma4-dense",
                              "gemma4-moe",
                              "kimi-linear",
                              "deepseek2-lite"};
const char* const beside[] = {
    "llama-gqa",         "llama-q-iq4_nl",    "llama-q-iq4_xs",    "llama-q-q2_k",
    "llama-q-q3_k_m",    "llama-q-q4_1",      "llama-q-q5_0",      "llama-q-q5_1",
    "llama-q-q5_k_m",    "llama-q-q6_k",      "llama-q-q8_0",      "qwen3moe-q-iq4_xs",
    "qwen3moe-q-mix",    "qwen3moe-q-q2_k",   "qwen3moe-q-q3_k_m", "qwen3moe-q-q4_0",
    "qwen3moe-q-q4_k_m", "qwen3moe-q-q5_k_m", "qwen3moe-q-q8_0",   "qwen35",
    "qwen35moe",         "gpt-oss-f32"};

bool is_vulkan(const char* device) { return std::string_view(device).starts_with("vulkan"); }

bool adapter_has(std::string_view feature) {
    return kernels::vulkan_adapters().list[0].features.find(feature) != std::string::npos;
}

bool uses_matrix_units(const Kind& kind) {
    if (!is_vulkan(kind.devices[0])) return false;
    if (kind.products != kernels::Products::Best)
        return kind.products == kernels::Products::OnPlainUnits;
    return adapter_has("matrix units");
}

// Vulkan devices that multiply in f32.
bool rounds_nothing(const Kind& kind) {
    return is_vulkan(kind.devices[0]) && !differ(kind) &&
           kind.products == kernels::Products::Best && !adapter_has("matrix units") &&
           !adapter_has("integer dots");
}

Bounds bounds_of(const Kind& kind, const gguf::File& file) {
    bool floats = true, experts = false;
    for (const gguf::TensorInfo& tensor : file.tensors()) {
        floats = floats && (tensor.dtype == DType::F32 || tensor.dtype == DType::F16);
        experts = experts || tensor.name.find("_exps") != std::string::npos;
    }
    Bounds bounds = rounds_nothing(kind) ? exact
                    : floats             ? kind.floats
                    : experts            ? kind.mixtures
                                         : kind.rounded;
    // The logits of these were made with GELU from a table of halves.
    if (file.metadata().text("general.architecture")->starts_with("gemma"))
        bounds.golden.exact = std::max(bounds.golden.exact, 5e-6);
    // Prompts of floats, too, are rounded to F16 there, as the reference engine's own kernels do;
    // but not where a cut leaves less than 32 columns, as it can of tiny models.
    if (floats && uses_matrix_units(kind)) {
        bounds.golden.of_own = 1.5;
        bounds.one_device.of_own = 1;
    }
    return bounds;
}

// NMSE over the positions that are nearest, as many as asked for.
double nmse_of_nearest(const std::vector<float>& x, const std::vector<float>& reference,
                       size_t positions, double wanted) {
    size_t width = reference.size() / positions;
    std::vector<std::pair<double, double>> rows(positions);  // error and power
    for (size_t i = 0; i < reference.size(); ++i) {
        double error = double(x[i]) - reference[i];
        rows[i / width].first += error * error;
        rows[i / width].second += double(reference[i]) * reference[i];
    }
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.first * b.second < b.first * a.second; });
    rows.resize(size_t(std::ceil(wanted * double(positions))));
    double error = 0, power = 0;
    for (const auto& row : rows) error += row.first, power += row.second;
    return error / power;
}

cli::EngineOptions options_of(const Kind& kind, const Mapping& mapping, const Golden& golden) {
    cli::EngineOptions options;
    options.model.key_type = options.model.value_type = DType::F32;
    options.model.context = int64_t(golden.tokens.size() + golden.greedy.size());
    options.how.products = kind.products;
    options.devices.clear();
    for (size_t i = 0; i < mapping.devices; ++i) options.devices.emplace_back(kind.devices[i % 2]);
    options.plan = {.mode = mapping.mode,
                    .ratio = mapping.ratio,
                    .bucket = int64_t(golden.tokens.size()),
                    .homes = mapping.homes,
                    .home_devices = mapping.home_devices};
    return options;
}

// Where everything lies: mappings that agree in this are one.
std::string placement_of(const cli::Blueprint& blueprint) {
    std::string text = to_string(blueprint.placed);
    for (const parallel::Partition& partition : blueprint.plan.partitions)
        text += to_string(partition) + "\n";
    return text;
}

// Where a CPU multiplies prompts in bf16, or codes of 1, 2 or 8 bits in 16, a few tokens are
// rounded to blocks of 8 bits or not at all, and so they are where a GPU multiplies prompts on
// matrix units: what the two have in common is the golden.
bool steps_round_otherwise(const Kind& kind, const Bounds& bounds, const gguf::File& file) {
    using kernels::cpu::Reduced;
    if (uses_matrix_units(kind)) return true;
    const bool rounds = !bounds.greedy, cpu = kind.devices[0] == std::string_view("cpu");
    if (!cpu || !rounds) return false;
    const kernels::cpu::Isa& isa = kernels::cpu::find_variant()->isa();
    return std::ranges::any_of(file.tensors(), [&](const gguf::TensorInfo& tensor) {
        return isa.reduced == Reduced::AllTypes ||
               (isa.sums_in_halves && kernels::cpu::signed_bytes(tensor.dtype)) ||
               kernels::cpu::has_few_levels(tensor.dtype);
    });
}

struct Parameter {
    const Kind* kind;
    std::string fixture;
    bool all = false;  // mappings, where there are fewer else
};

class SplitInvariance : public ::testing::TestWithParam<Parameter> {};

TEST_P(SplitInvariance, holds) {
    auto [kind, name, all_mappings] = GetParam();
    const std::string_view first = kind->devices[0];
    if (first.starts_with("vulkan") && kernels::vulkan_adapters().list.empty())
        GTEST_SKIP() << kernels::vulkan_adapters().absence;
    if (kind->products == kernels::Products::InDots) try {
            kernels::make_vulkan_device({.name = kind->devices[0], .products = kind->products});
        } catch (const Error& error) {
            const std::string what = error.what();
            if (what.find("has no integer dot products") == std::string::npos) throw;
            GTEST_SKIP() << what;
        }
    std::filesystem::path folder = test::data("fixtures");
    if (!std::filesystem::exists(folder / (name + ".gguf"))) folder = shared("fixtures");
    if (!std::filesystem::exists(folder / (name + ".gguf")))
        GTEST_SKIP() << "no fixture " << name << " in " << folder;
    Golden golden = read_golden(folder, name);
    gguf::File file = gguf::File::open(golden.model);
    const Bounds bounds = bounds_of(*kind, file);
    int64_t all = int64_t(golden.tokens.size());
    int steps = bounds.greedy ? int(golden.greedy.size()) : 0;
    // What is evaluated a few tokens at a time.
    std::vector<int32_t> stepped = golden.tokens;
    if (kind->slow) {
        steps = std::min(steps, 4);
        stepped.resize(std::min<size_t>(stepped.size(), 16));
    }
    std::vector<int32_t> greedy(golden.greedy.begin(), golden.greedy.begin() + steps);

    auto expect_near = [&](const std::vector<float>& logits, const std::vector<float>& reference,
                           double bound, const std::string& what) {
        ASSERT_EQ(logits.size(), reference.size()) << what;
        for (float value : logits) ASSERT_TRUE(std::isfinite(value)) << what;
        size_t positions = reference.size() / (golden.logits.size() / golden.tokens.size());
        EXPECT_LE(nmse_of_nearest(logits, reference, positions, bounds.positions), bound) << what;
    };
    std::vector<float> greedy_logits = golden.greedy_logits;
    if (!greedy_logits.empty())
        greedy_logits.resize(greedy_logits.size() / golden.greedy.size() * size_t(steps));
    std::vector<float> alone;
    std::set<std::string> tried;
    Devices devices;
    for (const Mapping& mapping : mappings_of(*kind, name, all_mappings)) {
        if (differ(*kind) && mapping.devices == 1) continue;
        SCOPED_TRACE(name + " " + to_string(mapping));
        const cli::EngineOptions options = options_of(*kind, mapping, golden);
        const auto blueprint = cli::make_blueprint(file, options);
        if (!tried.insert(placement_of(*blueprint)).second) continue;
        // Those that stay still have weights of mappings before, and would hide that a program
        // reads one that its device should not have: new ones do not.
        if (!kind->slow || all_mappings) devices.clear();
        const auto executor = executor_on(devices, file, *blueprint, options);
        Evaluation whole = evaluate(*executor, golden.tokens, steps, all);
        expect_near(whole.logits, golden.logits, bounds.golden.nmse(golden),
                    "against the golden logits");
        if (mapping.devices == 1 && alone.empty()) alone = whole.logits;
        // The bound of groups of two kinds is that of the golden.
        if (!alone.empty())
            expect_near(whole.logits, alone, bounds.one_device.nmse(golden), "against one device");
        if (bounds.greedy) {
            EXPECT_EQ(whole.greedy, greedy);
        }
        // Where rounding decides, its mean over the prompt bounds no single rows.
        if (!greedy_logits.empty() && bounds.golden.of_own == 0)
            expect_near(whole.greedy_logits, greedy_logits, bounds.golden.nmse(golden),
                        "against the golden logits of the greedy steps");
        auto again = evaluate(*executor, golden.tokens, 0, all).logits;
        EXPECT_TRUE(again == whole.logits) << "a repeated run gives other bits";
        const bool otherwise = steps_round_otherwise(*kind, bounds, file);
        std::vector<float> beginning = otherwise ? golden.logits : whole.logits;
        beginning.resize(beginning.size() / golden.tokens.size() * stepped.size());
        const Bound& step_bound = otherwise ? bounds.golden : bounds.one_device;
        for (int64_t batch : {7, 1}) {
            auto logits = evaluate(*executor, stepped, 0, batch).logits;
            expect_near(logits, beginning, std::max(1e-9, step_bound.nmse(golden)),
                        "in steps of " + std::to_string(batch));
        }
    }
    RecordProperty("mappings", int(tried.size()));
}

std::vector<Parameter> parameters() {
    std::vector<Parameter> list;
    for (const Kind& kind : kinds) {
        const auto add = [&](const char* fixture) {
            list.push_back({&kind, fixture});
            if (gets_fewer(kind, fixture)) list.push_back({&kind, fixture, true});
        };
        std::ranges::for_each(kind.fixtures, add);
        if (!kind.fixtures.empty()) continue;
        std::ranges::for_each(copied, add);
        std::ranges::for_each(beside, add);
    }
    return list;
}

INSTANTIATE_TEST_SUITE_P(Fixtures, SplitInvariance, ::testing::ValuesIn(parameters()),
                         [](const auto& info) {
                             std::string name = info.param.kind->name + ("_" + info.param.fixture);
                             if (info.param.all) name += "_in_all_mappings";
                             return name_of(name);
                         });

}  // namespace
}  // namespace tandem::test
