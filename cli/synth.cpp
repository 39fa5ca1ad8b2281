// `tandem synth`: writes a model with random weights and the dimensions of a published one, so that
// a machine, or another program, can be measured before anything is downloaded.
#include <filesystem>
#include <iostream>

#include "cli/format.h"
#include "cli/interrupts.h"
#include "cli/progress.h"
#include "cli/seconds.h"
#include "cli/subcommands.h"
#include "cli/synth/model.h"
#include "cli/synth/presets.h"
#include "gguf/error.h"
#include "parallel/plan_print.h"

namespace tandem::cli {

namespace {

constexpr Option list[] = {
    {"--preset", "P:T",
     "the model, which may stand without the option's name: a preset, such as llama-1b, llama-8b, "
     "qwen3-4b or qwen3-30b-a3b (--list shows all), and the type of its matrices: any type of GGUF "
     "files, or one of the mixtures Q4_K_S, Q4_K_M, Q5_K_S and Q5_K_M; MXFP4 is that of the "
     "experts, where there are some, beside Q8_0"},
    {"-o, --output", "FILE", "where it goes"},
    {"--layers", "N", "blocks of the model (default: 0, all)"},
    {"-s, --seed", "N", "other random weights for each number (default: 0)"},
    {"--from-bf16", "",
     "numbers of F16 and F32 matrices are among those of BF16, as in files of models that were "
     "trained in BF16"},
    {"--list", "", "list the presets"},
};
constexpr OptionGroup options{"synthetic models", list};
constexpr const OptionGroup* groups[] = {&options};

std::string experts_text(const Preset::Experts& experts) {
    if (experts.count == 0) return "";
    return format(", %d experts, %d used", int(experts.count), int(experts.used)) +
           (experts.shared > 0 ? " and a shared one" : "");
}

void list_presets() {
    for (const Preset* preset : presets()) {
        std::cout << format("%-20s%-26s%3d blocks of %5d, %3d/%d heads, vocabulary %d",
                            std::string(preset->name).c_str(), std::string(preset->title).c_str(),
                            int(preset->blocks), int(preset->embd), int(preset->heads),
                            int(preset->kv_heads), int(preset->vocab))
                  << experts_text(preset->experts) << "\n";
    }
}

void make(const SyntheticModel& model, const std::string& path, const Interrupts& interrupts) {
    const auto start = Clock::now();
    {
        Progress progress("writing " + std::filesystem::path(path).filename().string());
        write(model, path, [&](int64_t done, int64_t total) {
            progress.show(done, total);
            return !interrupts.pending();
        });
    }
    std::cerr << "wrote " << path << ": " << *model.metadata.text("general.name") << ", "
              << parallel::in_bytes(double(model.bytes()))
              << format(" in %.1f s\n", seconds_since(start));
}

int run(const Arguments& arguments) {
    if (arguments.on("list")) {
        list_presets();
        return 0;
    }
    const std::string what = arguments.text("preset");
    if (what.empty())
        throw Error("no model named: give a preset and a type, such as llama-1b:Q4_K_M");
    SyntheticModel model =
        design(what, arguments.integer("layers", 0, 0), uint64_t(arguments.integer("seed", 0, 0)));
    model.from_bf16 = arguments.on("from-bf16");
    const std::string path = arguments.text("output");
    if (path.empty()) throw Error("no file given for the model: name one with -o");
    Interrupts interrupts;
    return run_until_interrupted(interrupts, [&] { make(model, path, interrupts); });
}

}  // namespace

const Subcommand synth_command{"synth",
                               "writes a model with random weights and real dimensions",
                               "llama-1b:Q4_K_M -o FILE [--layers N]",
                               groups,
                               run,
                               "preset"};

}  // namespace tandem::cli
