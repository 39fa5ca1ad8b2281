// `tandem perplexity`: how well a model predicts a text, by llama-perplexity's rules and in its
// words.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "cli/driver.h"
#include "cli/model_options.h"
#include "cli/perplexity/windows.h"
#include "cli/subcommands.h"
#include "gguf/error.h"
#include "model/tokenizer/tokenizer.h"

namespace tandem::cli {

namespace {

using Clock = std::chrono::steady_clock;

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
    {"-ctk, --cache-type-k", "TYPE", "of cached keys: f32, f16, bf16 or q8_0 (default: f16)"},
    {"-ctv, --cache-type-v", "TYPE", "of cached values: f32, f16, bf16 or q8_0 (default: f16)"},
    {"-np, --parallel", "N", "", Effect::Ignored},
    {"-s, --seed", "N", "", Effect::Ignored},
    {"--ppl-stride", "N", only, Effect::Refused, "0"},
    {"--kl-divergence", "", only, Effect::Refused},
    {"--kl-divergence-base, --save-all-logits", "FILE", only, Effect::Refused},
    {"--hellaswag", "", only, Effect::Refused},
    {"--winogrande", "", only, Effect::Refused},
    {"--multiple-choice", "", only, Effect::Refused},
};
constexpr OptionGroup perplexity_options{"perplexity", list};
constexpr const OptionGroup* groups[] = {&file_options, &perplexity_options, &device_options,
                                         &foreign_options};

// As printf does, which is how these lines are known.
template <typename... Values>
std::string line(const char* format, Values... values) {
    char text[256];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}

void print(std::span<const std::string> notes) {
    for (const std::string& note : notes) std::cerr << "note: " << note << "\n";
}

// Without one newline at its end.
std::string read_text(const std::string& path) {
    if (path.empty()) throw Error("no text given: name a file with -f");
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    if (in) text << in.rdbuf();
    if (!in || text.bad()) throw Error("cannot read the text " + path);
    std::string all = text.str();
    if (all.ends_with('\n')) all.pop_back();
    return all;
}

// What the values are, as they come in.
class Output {
  public:
    explicit Output(bool lines, int64_t length) : lines_(lines), length_(length) {}

    void add(int64_t window, const Likelihoods& own) {
        total_.sum += own.sum;
        total_.squares += own.squares;
        total_.count += own.count;
        if (lines_)
            std::cout << line("%8d  %.4lf  %4lf  %4lf\n", int(window * length_),
                              total_.perplexity(), total_.mean(), total_.error());
        else
            std::cout << line("[%d]%.4lf,", int(window) + 1, total_.perplexity());
        std::cout << std::flush;
        if (!std::cout) throw Error("cannot write the values to standard output");
    }

    void finish() const {
        if (!lines_) std::cout << "\n";
        if (!std::isfinite(total_.sum)) throw Error("the model's logits are not all numbers");
        const double error = total_.error();
        if (std::isnan(error)) throw Error("unexpected negative standard deviation of log(prob)");
        std::cout << line("Final estimate: PPL = %.4lf +/- %.5lf\n", total_.perplexity(),
                          total_.perplexity() * error)
                  << std::flush;
    }

  private:
    const bool lines_;
    const int64_t length_;
    Likelihoods total_;
};

void print_estimate(double seconds_per_pass, double passes) {
    const double seconds = seconds_per_pass * passes;
    const int hours = int(seconds / 3600);
    std::cerr << line("perplexity: %.2f seconds per pass - ETA ", seconds_per_pass)
              << (hours > 0 ? line("%d hours ", hours) : "")
              << line("%.2f minutes\n", (seconds - 3600 * hours) / 60);
}

struct Plan {
    int64_t context, batch, chunks, together;  // windows of a pass
};

Plan plan_windows(const Arguments& arguments, const gguf::File& file, size_t tokens) {
    std::vector<std::string> notes;
    Plan plan{.context = arguments.has("ctx-size") ? context_size(arguments, file, notes) : 512,
              .batch = arguments.integer("batch-size", 2048, 1)};
    print(notes);
    if (int64_t(tokens) < 2 * plan.context)
        throw Error(
            line("you need at least %d tokens to evaluate perplexity with a context of %d: "
                 "the data file you provided tokenizes to only %zu tokens",
                 int(2 * plan.context), int(plan.context), tokens));
    plan.chunks = int64_t(tokens) / plan.context;
    if (const int64_t wanted = arguments.integer("chunks", -1, -1); wanted >= 0)
        plan.chunks = std::min(plan.chunks, wanted);
    if (plan.chunks < 1 || plan.context < 3)
        throw Error("there is nothing to predict: -c takes 3 or more, --chunks 1 or more");
    plan.together = std::clamp<int64_t>(plan.batch / plan.context, 1, plan.chunks);
    return plan;
}

void act(const Arguments& arguments, Interrupts& interrupts) {
    const gguf::File file = gguf::File::open(model_path(arguments));
    const model::Tokenizer tokenizer(file.metadata(), file.path());
    print(tokenizer.warnings());
    const std::string text = read_text(arguments.text("file"));
    std::cerr << "perplexity: tokenizing the input ..\n";
    const auto start = Clock::now();
    const std::vector<int32_t> tokens = tokenizer.encode(text, {.parse_special = false});
    auto seconds_since = [](Clock::time_point time) {
        return std::chrono::duration<double>(Clock::now() - time).count();
    };
    std::cerr << line("perplexity: tokenization took %g ms\n", 1e3 * seconds_since(start));

    const Plan plan = plan_windows(arguments, file, tokens.size());
    EngineOptions options = engine_options(arguments, plan.context);
    const int64_t step = std::min(plan.batch, arguments.integer("ubatch-size", 512, 1));
    options.model.slots = std::clamp<int64_t>(step / plan.context, 1, plan.together);
    options.plan.bucket = std::min(step, options.model.slots * plan.context);
    Driver driver(file, options, interrupts);

    std::cerr << line(
        "perplexity: calculating perplexity over %d chunks, n_ctx=%d, batch_size=%d, n_seq=%d\n",
        int(plan.chunks), int(plan.context), int(plan.batch), int(plan.together));
    Output output(arguments.integer("ppl-output-type", 0, 0, 1) == 1, plan.context);
    const auto begin = Clock::now();
    // A device more than there are: while all of them work, the host looks at what is done.
    const Windows windows{.tokens = tokens,
                          .length = plan.context,
                          .count = plan.chunks,
                          .first_token = tokenizer.adds_bos() ? *tokenizer.bos() : -1,
                          .slots = options.model.slots,
                          .in_flight = int64_t(options.devices.size()) + 1};
    evaluate(driver.executor(), windows, [&](int64_t window, const Likelihoods& own) {
        if (window + 1 == plan.together)
            print_estimate(seconds_since(begin), double(plan.chunks) / double(plan.together));
        output.add(window, own);
    });
    output.finish();
}

int run(const Arguments& arguments) {
    Interrupts interrupts;
    try {
        act(arguments, interrupts);
    } catch (const Error&) {
        if (!interrupts.pending()) throw;
        std::cerr << "\ninterrupted\n";
        return interrupted_exit;
    }
    return 0;
}

}  // namespace

const Subcommand perplexity_command{"perplexity", "measures how well a model predicts a text",
                                    "-m FILE -f FILE [-c 512] [options]", groups, run};

}  // namespace tandem::cli
