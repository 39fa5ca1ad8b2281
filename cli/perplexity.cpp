// `tandem perplexity`: how well a model predicts a text, by llama-perplexity's rules and in its
// words.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "cli/driver.h"
#include "cli/format.h"
#include "cli/model_options.h"
#include "cli/notes.h"
#include "cli/overrides.h"
#include "cli/perplexity/windows.h"
#include "cli/prompt.h"
#include "cli/seconds.h"
#include "cli/subcommands.h"
#include "gguf/error.h"
#include "model/tokenizer/tokenizer.h"

namespace tandem::cli {

namespace {

constexpr std::string_view only = "perplexity is all that is computed from a text";

constexpr Option list[] = {
    {"-f, --file", "FILE", "the text"},
    {"-c, --ctx-size", "N",
     "tokens of a window (default: 512; 0: as many as the model was trained for)"},
    {"--chunks", "N", "windows to evaluate; -1: all (default: -1)"},
    {"-b, --batch-size", "N",
     "windows of this many tokens together count as a pass (default: 2048)"},
    {"-ub, --ubatch-size", "N", "the most tokens of a step, within -b (default: 512)"},
    {"--ppl-output-type", "0|1", "1: a line for each window (default: 0)"},
    {"-ctk, --cache-type-k", "TYPE", "of cached keys: f32, f16, bf16, q8_0 or q4_0 (default: f16)"},
    {"-ctv, --cache-type-v", "TYPE",
     "of cached values: f32, f16, bf16, q8_0 or q4_0 (default: f16)"},
    {"-np, --parallel", "N", "", Effect::Ignored},
    {"-s, --seed", "N", "", Effect::Ignored},
    {"--ppl-stride", "N", only, Effect::Refused, "0"},
    {"--kl-divergence", "", only, Effect::Refused},
    {"--kl-divergence-base, --save-all-logits", "FILE", only, Effect::Refused},
    {"-bf, --binary-file", "FILE", only, Effect::Refused},
    {"--hellaswag", "", only, Effect::Refused},
    {"--hellaswag-tasks", "N", only, Effect::Refused},
    {"--winogrande", "", only, Effect::Refused},
    {"--winogrande-tasks", "N", only, Effect::Refused},
    {"--multiple-choice", "", only, Effect::Refused},
    {"--multiple-choice-tasks", "N", only, Effect::Refused},
};
constexpr OptionGroup perplexity_options{"perplexity", list};
constexpr const OptionGroup* groups[] = {&file_options, &perplexity_options, &device_options,
                                         &override_options, &foreign_options};
constexpr const Glossary* glossaries[] = {&device_names, &device_environment};

// What the values are, as they come in.
class Output {
  public:
    Output(bool lines, int64_t length) : lines_(lines), length_(length) {}
    Output(const Output&) = delete;
    ~Output() { end_line(); }

    void add(int64_t window, const Likelihoods& own) {
        total_.sum += own.sum;
        total_.squares += own.squares;
        total_.count += own.count;
        if (!std::isfinite(total_.sum)) throw Error("the model's logits are not all numbers");
        if (lines_)
            std::cout << format("%8d  %.4lf  %4lf  %4lf\n", int(window * length_),
                                total_.perplexity(), total_.mean(), total_.error());
        else
            std::cout << format("[%d]%.4lf,", int(window) + 1, total_.perplexity());
        in_line_ = !lines_;
        std::cout << std::flush;
        if (!std::cout) throw Error("cannot write the values to standard output");
    }

    void finish() {
        end_line();
        if (total_.count < 2)
            throw Error("one prediction has no standard deviation; a longer text has more of them");
        const double error = total_.error();
        if (std::isnan(error)) throw Error("unexpected negative standard deviation of log(prob)");
        std::cout << format("Final estimate: PPL = %.4lf +/- %.5lf\n", total_.perplexity(),
                            total_.perplexity() * error)
                  << std::flush;
    }

  private:
    void end_line() {
        if (in_line_) std::cout << "\n" << std::flush;
        in_line_ = false;
    }

    const bool lines_;
    const int64_t length_;
    Likelihoods total_;
    bool in_line_ = false;  // has begun, and not ended
};

void print_estimate(double seconds_per_pass, double passes) {
    const double seconds = seconds_per_pass * passes;
    const int hours = int(seconds / 3600);
    std::cerr << format("perplexity: %.2f seconds per pass - ETA ", seconds_per_pass)
              << (hours > 0 ? format("%d hours ", hours) : "")
              << format("%.2f minutes\n", (seconds - 3600 * hours) / 60);
}

// What the options ask for.
struct Plan {
    int64_t context = 512, batch = 2048, step = 512;  // tokens
    int64_t chunks = -1;                              // windows; -1: all of the text
    int64_t together = 1;                             // windows of a pass
    bool lines = false;
    EngineOptions engine;
};

Plan read_plan(const Arguments& arguments, const gguf::File& file) {
    Plan plan;
    std::vector<std::string> notes;
    if (arguments.has("ctx-size")) plan.context = context_size(arguments, file, notes);
    plan.batch = arguments.integer("batch-size", plan.batch, 1);
    plan.step = std::min(plan.batch, arguments.integer("ubatch-size", plan.step, 1));
    plan.chunks = arguments.integer("chunks", plan.chunks, -1);
    plan.lines = arguments.integer("ppl-output-type", 0, 0, 1) == 1;
    plan.engine = engine_options(arguments, file, plan.context, notes);
    print_notes(notes);
    if (plan.chunks == 0 || plan.context < 3)
        throw Error("there is nothing to predict: -c takes 3 or more, --chunks 1 or more");
    return plan;
}

// As far as the text goes.
void fit(Plan& plan, int64_t tokens) {
    if (tokens < 2 * plan.context)
        throw Error(
            "you need at least " + std::to_string(2 * plan.context) +
            " tokens to evaluate perplexity with a context of " + std::to_string(plan.context) +
            ": the data file you provided tokenizes to only " + std::to_string(tokens) + " tokens");
    const int64_t all = tokens / plan.context;
    plan.chunks = plan.chunks < 0 ? all : std::min(plan.chunks, all);
    plan.together = std::clamp<int64_t>(plan.batch / plan.context, 1, plan.chunks);
    const int64_t slots = std::clamp<int64_t>(plan.step / plan.context, 1, plan.together);
    plan.engine.model.slots = slots;
    plan.engine.plan.bucket = std::min(plan.step, slots * plan.context);
}

std::vector<int32_t> read_tokens(const Arguments& arguments, const model::Tokenizer& tokenizer,
                                 Interrupts& interrupts) {
    if (arguments.text("file").empty()) throw Error("no text given: name a file with -f");
    const std::string text = read_text(arguments.text("file"), "the text", &interrupts);
    std::cerr << "perplexity: tokenizing the input ..\n";
    const auto start = Clock::now();
    const EndedByInterrupt ended(interrupts);
    std::vector<int32_t> tokens = tokenizer.encode(text, {.parse_special = false});
    std::cerr << format("perplexity: tokenization took %g ms\n", 1e3 * seconds_since(start));
    return tokens;
}

void act(const Arguments& arguments, Interrupts& interrupts) {
    const gguf::File file = gguf::File::open(model_path(arguments));
    Plan plan = read_plan(arguments, file);
    const model::Tokenizer tokenizer(file.metadata(), file.path());
    print_notes(tokenizer.warnings());
    const std::vector<int32_t> tokens = read_tokens(arguments, tokenizer, interrupts);
    fit(plan, int64_t(tokens.size()));
    Driver driver(file, plan.engine, interrupts);

    std::cerr << format(
        "perplexity: calculating perplexity over %d chunks, n_ctx=%d, batch_size=%d, n_seq=%d\n",
        int(plan.chunks), int(plan.context), int(plan.batch), int(plan.together));
    Output output(plan.lines, plan.context);
    const auto begin = Clock::now();
    // A device more than there are: while all of them work, the host looks at what is done.
    const Windows windows{.tokens = tokens,
                          .length = plan.context,
                          .count = plan.chunks,
                          .first_token = tokenizer.adds_bos() ? *tokenizer.bos() : -1,
                          .slots = plan.engine.model.slots,
                          .in_flight = int64_t(plan.engine.devices.size()) + 1};
    std::vector<Likelihoods> first_pass;  // its time is told before its values
    evaluate(driver.executor(), windows, [&](int64_t window, const Likelihoods& own) {
        if (window >= plan.together) return output.add(window, own);
        first_pass.push_back(own);
        if (window + 1 < plan.together) return;
        print_estimate(seconds_since(begin), double(plan.chunks) / double(plan.together));
        for (size_t i = 0; i < first_pass.size(); ++i) output.add(int64_t(i), first_pass[i]);
    });
    output.finish();
}

int run(const Arguments& arguments) {
    Interrupts interrupts;
    return run_until_interrupted(interrupts, [&] { act(arguments, interrupts); });
}

}  // namespace

const Subcommand perplexity_command{"perplexity",
                                    "measures how well a model predicts a text",
                                    "-m FILE -f FILE [-c 512] [options]",
                                    groups,
                                    run,
                                    {},
                                    glossaries};

}  // namespace tandem::cli
