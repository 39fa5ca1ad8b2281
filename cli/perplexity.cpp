// `tandem perplexity`: how well a model predicts a text, or chooses among several, by
// llama-perplexity's rules and in its words.
#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <iostream>
#include <optional>

#include "cli/driver.h"
#include "cli/format.h"
#include "cli/model_keys.h"
#include "cli/model_options.h"
#include "cli/notes.h"
#include "cli/overrides.h"
#include "cli/perplexity/base_file.h"
#include "cli/perplexity/choose.h"
#include "cli/perplexity/data.h"
#include "cli/perplexity/divergence.h"
#include "cli/perplexity/estimate.h"
#include "cli/perplexity/values.h"
#include "cli/perplexity/windows.h"
#include "cli/seconds.h"
#include "cli/subcommands.h"
#include "gguf/error.h"
#include "model/architecture.h"
#include "model/tokenizer/tokenizer.h"

namespace tandem::cli {

namespace {

constexpr Option list[] = {
    {"-f, --file", "FILE", "the text, or tasks; one newline at its end is dropped"},
    {"-bf, --binary-file", "FILE", "the same, every byte of it"},
    {"-c, --ctx-size", "N",
     "tokens of a window, or the most of a text to choose from (default: 512; 0: as many as the "
     "model was trained for)"},
    {"--chunks", "N", "windows to evaluate; -1: all (default: -1)"},
    {"--ppl-stride", "N",
     "windows of -c and half of N tokens that begin N apart, of which the last N tokens are "
     "predicted; 0: windows side by side, whose second halves are predicted (default: 0)"},
    {"--kl-divergence-base, --save-all-logits", "FILE",
     "keep all predictions in this file, which llama-perplexity reads, too: 2 bytes for each token "
     "of the vocabulary, for each of the text"},
    {"--kl-divergence", "",
     "compare with those of such a file, which has the text: perplexity, Kullback-Leibler "
     "divergence and probabilities"},
    {"--hellaswag", "",
     "how often the model chooses the right one of four endings: of each task a line with the "
     "context, one with the index of the right ending, 0 to 3, and four with endings"},
    {"--hellaswag-tasks", "N", "tasks, drawn at random; 0: all (default: 400)"},
    {"--winogrande", "",
     "how often it chooses the right one of two nouns: of each task a line with "
     "index,sentence,choice,choice,answer, which is 1 or 2, and _ in the sentence for the choice"},
    {"--winogrande-tasks", "N", "tasks, drawn at random; 0: all, in order (default: 0)"},
    {"--multiple-choice", "",
     "how often it chooses the right answer to a question, of a file in llama-perplexity's format, "
     "as there are of MMLU, ARC and TruthfulQA"},
    {"--multiple-choice-tasks", "N", "tasks, drawn at random; 0: all, in order (default: 0)"},
    {"-b, --batch-size", "N",
     "windows of this many tokens together count as a pass (default: 2048)"},
    {"-ub, --ubatch-size", "N", "the most tokens of a step, within -b (default: 512)"},
    {"--ppl-output-type", "0|1", "1: a line for each window (default: 0)"},
    {"-ctk, --cache-type-k", "TYPE", "of cached keys: f32, f16, bf16, q8_0 or q4_0 (default: f16)"},
    {"-ctv, --cache-type-v", "TYPE",
     "of cached values: f32, f16, bf16, q8_0 or q4_0 (default: f16)"},
    {"-np, --parallel", "N",
     "tasks that are evaluated together, each in a cache of its own (default: as many as fill a "
     "step)"},
    {"-s, --seed", "N", "", Effect::Ignored},
};
constexpr OptionGroup perplexity_options{"perplexity", list};
constexpr const OptionGroup* groups[] = {&file_options,   &key_options,      &perplexity_options,
                                         &device_options, &override_options, &foreign_options};
constexpr const Glossary* glossaries[] = {&device_names, &device_environment};

// What the options ask for.
struct Plan {
    int64_t context = 512;             // tokens of a window
    int64_t stride = 0;                // from one window to the next; 0: side by side
    int64_t batch = 2048, step = 512;  // tokens
    int64_t chunks = -1;               // windows; -1: all of the text
    int64_t together = 1;              // windows of a pass
    bool lines = false;
    EngineOptions engine;
};

void print_estimate(double seconds_per_pass, double passes) {
    std::cerr << format("perplexity: %.2f seconds per pass - ", seconds_per_pass)
              << estimated_time(seconds_per_pass * passes) << "\n";
}

// What is measured is one of these, and perplexity where none is asked for.
void require_one_measure(const Arguments& arguments) {
    std::vector<std::string> asked;
    for (const char* name : {"kl-divergence", "hellaswag", "winogrande", "multiple-choice"})
        if (arguments.on(name)) asked.push_back(name);
    if (arguments.integer("ppl-stride", 0, 0) > 0) asked.push_back("ppl-stride");
    if (asked.size() > 1)
        throw Error("--" + asked[0] + " and --" + asked[1] +
                    " ask for different measures: give one of them");
    if (!asked.empty() && asked[0] != "kl-divergence" && arguments.has("kl-divergence-base"))
        throw Error("--kl-divergence-base keeps the predictions of windows side by side, which --" +
                    asked[0] + " has none of: give one of them");
}

// Overlapping windows are half of the stride longer than -c.
void take_stride(const Arguments& arguments, Plan& plan) {
    plan.stride = arguments.integer("ppl-stride", 0, 0);
    const int64_t most = 2 * (plan.context - 1);
    if (plan.stride > most)
        throw Error("--ppl-stride " + std::to_string(plan.stride) +
                    " leaves tokens between windows: with -c " + std::to_string(plan.context) +
                    " they begin " + std::to_string(most) + " apart at most");
    plan.context += plan.stride / 2;
}

Plan read_plan(const Arguments& arguments, const gguf::File& file) {
    Plan plan;
    std::vector<std::string> notes;
    if (arguments.has("ctx-size")) plan.context = context_size(arguments, file, notes);
    if (plan.context > 2) take_stride(arguments, plan);
    plan.batch = arguments.integer("batch-size", plan.batch, 1);
    plan.step = std::min(plan.batch, arguments.integer("ubatch-size", plan.step, 1));
    plan.chunks = arguments.integer("chunks", plan.chunks, -1);
    plan.lines = arguments.integer("ppl-output-type", 0, 0, 1) == 1;
    plan.engine = engine_options(arguments, file, plan.context, notes);
    print_notes(notes);
    return plan;
}

void require_predictions(const Plan& plan) {
    if (plan.chunks == 0 || plan.context < 3)
        throw Error("there is nothing to predict: -c takes 3 or more, --chunks 1 or more");
}

void require_windows(const Plan& plan, int64_t tokens) {
    if (plan.stride > 0 && tokens <= plan.context)
        throw Error("the text has " + std::to_string(tokens) + " tokens, and windows " +
                    std::to_string(plan.context) +
                    ", as -c and --ppl-stride say: they have to be shorter than the text");
    if (plan.stride > 0) return;
    if (tokens < 2 * plan.context)
        throw Error(
            "you need at least " + std::to_string(2 * plan.context) +
            " tokens to evaluate perplexity with a context of " + std::to_string(plan.context) +
            ": the data file you provided tokenizes to only " + std::to_string(tokens) + " tokens");
}

// As far as the text goes.
void fit(Plan& plan, int64_t tokens) {
    const int64_t all = plan.stride > 0 ? (tokens - plan.context + plan.stride - 1) / plan.stride
                                        : tokens / plan.context;
    plan.chunks = plan.chunks < 0 ? all : std::min(plan.chunks, all);
    plan.together = std::clamp<int64_t>(plan.batch / plan.context, 1, plan.chunks);
    const int64_t slots = std::clamp<int64_t>(plan.step / plan.context, 1, plan.together);
    plan.engine.model.slots = slots;
    plan.engine.plan.bucket = std::min(plan.step, slots * plan.context);
}

std::vector<int32_t> read_tokens(const Arguments& arguments, const model::Tokenizer& tokenizer,
                                 Interrupts& interrupts) {
    const std::string text = read_data(arguments, interrupts);
    std::cerr << "perplexity: tokenizing the input ..\n";
    const auto start = Clock::now();
    const EndedByInterrupt ended(interrupts);
    std::vector<int32_t> tokens = tokenizer.encode(text, {.parse_special = false});
    std::cerr << format("perplexity: tokenization took %g ms\n", 1e3 * seconds_since(start));
    return tokens;
}

// Everything that all measures have in common.
struct Run {
    const Arguments& arguments;
    Interrupts& interrupts;
    const gguf::File file;
    Plan plan;
    const model::Tokenizer tokenizer;

    Run(const Arguments& arguments, Interrupts& interrupts)
        : arguments(arguments),
          interrupts(interrupts),
          file(open_model(arguments)),
          plan(read_plan(arguments, file)),
          tokenizer(file.metadata(), file.path()) {
        print_notes(tokenizer.warnings());
    }

    void measure();
    void compare();
    void choose(const Benchmark& benchmark);
    void evaluate(const char* what, std::span<const int32_t> tokens, const WindowDone& done,
                  const Look& look);
};

// The values of a pass are told when it has ended, those of the first behind how long it took.
void Run::evaluate(const char* what, std::span<const int32_t> tokens, const WindowDone& done,
                   const Look& look) {
    Driver driver(file, plan.engine, interrupts);
    std::cerr << format(
        "perplexity: calculating %s over %d chunks, n_ctx=%d, batch_size=%d, n_seq=%d\n", what,
        int(plan.chunks), int(plan.context), int(plan.batch), int(plan.together));
    const auto begin = Clock::now();
    // A device more than there are: while all of them work, the host looks at what is done.
    const Windows windows{.tokens = tokens,
                          .length = plan.context,
                          .stride = plan.stride,
                          .count = plan.chunks,
                          .first_token = tokenizer.adds_bos() ? *tokenizer.bos() : -1,
                          .slots = plan.engine.model.slots,
                          .in_flight = int64_t(plan.engine.devices.size()) + 1};
    std::vector<Likelihoods> first_pass;
    cli::evaluate(
        driver.executor(), windows,
        [&](int64_t window, const Likelihoods& own) {
            if (window >= plan.together) return done(window, own);
            first_pass.push_back(own);
            if (window + 1 < plan.together) return;
            print_estimate(seconds_since(begin), double(plan.chunks) / double(plan.together));
            for (size_t i = 0; i < first_pass.size(); ++i) done(int64_t(i), first_pass[i]);
        },
        look);
}

// Perplexity alone, and perhaps a file of all predictions.
void Run::measure() {
    require_predictions(plan);
    const std::vector<int32_t> tokens = read_tokens(arguments, tokenizer, interrupts);
    require_windows(plan, int64_t(tokens.size()));
    fit(plan, int64_t(tokens.size()));
    std::optional<BaseWriter> kept;
    if (arguments.has("kl-divergence-base")) {
        const std::string path = arguments.text("kl-divergence-base");
        std::error_code ignored;
        if (std::filesystem::equivalent(path, data_path(arguments, "text"), ignored))
            throw Error("--kl-divergence-base would be written over the text in " + path);
        kept.emplace(path, &interrupts);
    }
    bool begun = false;
    const auto keep = [&](std::span<const float> logits, int32_t target) {
        const size_t used = size_t(plan.chunks * plan.context);  // windows lie side by side
        if (!begun)
            kept->begin(plan.context, int64_t(logits.size()), std::span(tokens).first(used));
        begun = true;
        kept->add(logits);
        return negative_log_likelihood(logits, target);
    };
    Values values(plan.lines, plan.context, plan.stride);
    evaluate(
        "perplexity", tokens,
        [&](int64_t window, const Likelihoods& own) { values.add(window, own); },
        kept ? Look(keep) : Look(negative_log_likelihood));
    if (kept) kept->finish();
    values.finish();
}

// The predictions of this model beside those of a file.
void Run::compare() {
    require_predictions(plan);
    if (!arguments.has("kl-divergence-base"))
        throw Error(
            "nothing to compare with: --kl-divergence-base names the file that a run with it, and "
            "without --kl-divergence, wrote");
    const std::string path = arguments.text("kl-divergence-base");
    BaseReader base = [&] {
        const EndedByInterrupt ended(interrupts);  // a pipe may have to be waited for
        return BaseReader(path);
    }();
    if (arguments.has("ppl-output-type"))
        print_notes({{"--ppl-output-type has no effect: each chunk has a line"}});
    for (const char* option : {"file", "binary-file"})
        if (arguments.has(option))
            print_notes({{std::string(option[0] == 'f' ? "-f" : "-bf") +
                          " has no effect: the text is that of " + path}});
    if (arguments.has("ctx-size") && plan.context < base.length())
        throw Error("a context of " + std::to_string(plan.context) + " tokens is less than the " +
                    std::to_string(base.length()) + " of each chunk of " + path);
    plan.context = plan.engine.model.context = plan.engine.plan.context = base.length();
    fit(plan, int64_t(base.tokens().size()));
    const auto graph = model::build(file, plan.engine.model);
    if (const int64_t vocab = graph->result().shape().back()->extent; vocab != base.vocab())
        throw Error(path + " is of a model with " + std::to_string(base.vocab()) +
                    " tokens, and this one has " + std::to_string(vocab));
    Divergences divergences;
    std::deque<Difference> waiting;  // of windows that are not done
    evaluate(
        "KL divergence", base.tokens(),
        [&](int64_t window, const Likelihoods& own) {
            for (int64_t i = 0; i < own.count; ++i, waiting.pop_front())
                divergences.add(waiting.front());
            if (window == 0) std::cout << Divergences::heading();
            std::cout << divergences.row(window) << std::flush;
            if (!std::cout) throw Error("cannot write the values to standard output");
        },
        [&](std::span<const float> logits, int32_t target) {
            waiting.push_back(cli::compare(logits, base.next(), target));
            const double likelihood = waiting.back().likelihood;
            if (!std::isfinite(likelihood)) throw Error("the model's logits are not all numbers");
            return likelihood;
        });
    // Of fewer than 100 predictions, too, of which llama-perplexity says nothing.
    std::cout << divergences.summary() << std::flush;
}

// Among texts, instead of predicting one.
void Run::choose(const Benchmark& benchmark) {
    plan.engine.plan.bucket = plan.step;
    cli::choose(benchmark, arguments, file, tokenizer, plan.engine, interrupts);
}

int run(const Arguments& arguments) {
    require_one_measure(arguments);
    std::vector<std::string> notes;
    const Benchmark* benchmark = chosen_benchmark(arguments, notes);
    print_notes(notes);
    Interrupts interrupts;
    return run_until_interrupted(interrupts, [&] {
        Run run(arguments, interrupts);
        if (benchmark)
            run.choose(*benchmark);
        else if (arguments.on("kl-divergence"))
            run.compare();
        else
            run.measure();
    });
}

}  // namespace

const Subcommand perplexity_command{
    "perplexity",
    "measures how well a model predicts a text, how far from another, and how well it chooses",
    "-m FILE -f FILE [-c 512] [options]",
    groups,
    run,
    {},
    glossaries};

}  // namespace tandem::cli
