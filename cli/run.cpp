// `tandem run`: a prompt in, text out.
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "cli/accounts.h"
#include "cli/driver.h"
#include "cli/evaluate_prompt.h"
#include "cli/model_options.h"
#include "cli/notes.h"
#include "cli/overrides.h"
#include "cli/prompt.h"
#include "cli/prompt_cache.h"
#include "cli/sampling_options.h"
#include "cli/stop_texts.h"
#include "cli/subcommands.h"
#include "cli/token_line.h"
#include "gguf/error.h"
#include "model/sampler/sampler.h"
#include "model/tokenizer/tokenizer.h"
#include "model/tokenizer/utf8_stream.h"

namespace tandem::cli {

namespace {

constexpr std::string_view no_chat =
    "there is no conversation mode; give the prompt as the model's template would write it";

constexpr Option output_list[] = {
    {"-n, --predict, --n-predict", "N",
     "tokens to generate at most; -1 and -2: until the model ends the text or the context is full "
     "(default: -1)"},
    {"-r, --reverse-prompt", "TEXT",
     "end the text where what is generated has come to this one, which may be a control token; "
     "several by several -r, with the escapes of -p"},
    {"--display-prompt", "",
     "write the prompt in front of the text (default: on; off: --no-display-prompt)"},
    {"-sp, --special", "", "write control tokens as text"},
    {"--verbose-prompt", "", "list the tokens of the prompt on standard error"},
    {"-no-cnv, --no-conversation", "", "", Effect::Ignored},
    {"-st, --single-turn", "", "", Effect::Ignored},
    {"--no-context-shift", "", "", Effect::Ignored},
    {"--keep", "N", "", Effect::Ignored},
    {"--simple-io", "", "", Effect::Ignored},
    {"--jinja", "", "", Effect::Ignored},
    {"-co, --color", on_off_auto, "", Effect::Ignored},
    {"--show-timings", "", "", Effect::Ignored},
    {"-cnv, --conversation", "", no_chat, Effect::Refused},
    {"-sys, --system-prompt", "TEXT", no_chat, Effect::Refused},
    {"-sysf, --system-prompt-file", "FILE", no_chat, Effect::Refused},
    {"--chat-template", "TEXT", no_chat, Effect::Refused},
    {"--chat-template-file", "FILE", no_chat, Effect::Refused},
    {"--chat-template-kwargs", "JSON", no_chat, Effect::Refused},
    {"-rea, --reasoning", "[on|off|auto]", no_chat, Effect::Refused},
    {"--reasoning-format", "NAME", no_chat, Effect::Refused},
    {"--reasoning-budget", "N", no_chat, Effect::Refused, "-1"},
    {"--reasoning-budget-message", "TEXT", no_chat, Effect::Refused},
    {"--reasoning-preserve", "", no_chat, Effect::Refused},
    {"--in-prefix", "TEXT", no_chat, Effect::Refused},
    {"--in-suffix", "TEXT", no_chat, Effect::Refused},
    {"--in-prefix-bos", "", no_chat, Effect::Refused},
    {"-mli, --multiline-input", "", no_chat, Effect::Refused},
    {"-i, --interactive", "", no_chat, Effect::Refused},
    {"-if, --interactive-first", "", no_chat, Effect::Refused},
    {"--context-shift", "", "a text ends where its context is full; -c makes it longer",
     Effect::Refused},
    {"-bf, --binary-file", "FILE", "a prompt is text: -f names a file of it", Effect::Refused},
    {"-ptc, --print-token-count", "N", "the last line counts the tokens", Effect::Refused, "-1"},
    {"-np, --parallel", "N", "one text is written at a time", Effect::Refused, "1"},
};
constexpr OptionGroup output_options{"text", output_list};

constexpr const OptionGroup* groups[] = {
    &file_options, &prompt_options, &output_options,   &prompt_cache_options, &sampling_options,
    &step_options, &device_options, &override_options, &foreign_options};
constexpr const Glossary* glossaries[] = {&device_names, &device_environment};

// Standard output: text that has not ended in the middle of a character.
class Output {
  public:
    void write(std::string_view bytes) { print(stream_.push(bytes)); }
    // Ends the last line.
    void finish() {
        print(stream_.flush());
        if (!at_line_start_) print("\n");
    }

  private:
    void print(std::string_view text) {
        if (text.empty()) return;
        at_line_start_ = text.back() == '\n';
        std::cout << text << std::flush;
        if (!std::cout) throw Error("cannot write the text to standard output");
    }

    model::Utf8Stream stream_;
    bool at_line_start_ = true;
};

// Everything of one run that outlives an interrupt.
struct Run {
    const Arguments& arguments;
    Interrupts interrupts;
    std::unique_ptr<Driver> driver;
    std::optional<model::Session> session;
    std::optional<PromptCache> cache;
    Accounts accounts;
    Output output;
    StopTexts stop_texts;
    bool special = false;  // control tokens are written
    bool full = false;     // the context is

    // `known`: tokens of the prompt that the devices have already. `echo` stands in front of the
    // text, once the prompt is read. `limit`: tokens; below 0 none.
    void generate(const model::Tokenizer& tokenizer, model::Sampler& sampler,
                  std::span<const int32_t> prompt, int64_t known, std::string_view echo,
                  int64_t limit);
    void evaluate(std::span<const int32_t> tokens);  // of the prompt
    // What is written is added to the text, the last token before it is evaluated.
    void write(const model::Tokenizer& tokenizer, model::Sampler& sampler, int64_t limit,
               std::vector<int32_t>& text);
};

// A text may have been given the token itself that the tokenizer puts in front of it.
void drop_second_bos(const model::Tokenizer& tokenizer, std::vector<int32_t>& tokens) {
    if (tokenizer.adds_bos() && tokens.size() > 1 && tokens[0] == *tokenizer.bos() &&
        tokens[1] == tokens[0])
        tokens.erase(tokens.begin());
}

std::vector<int32_t> encode(const model::Tokenizer& tokenizer, const std::string& text) {
    std::vector<int32_t> tokens = tokenizer.encode(text);
    if (tokenizer.adds_eos()) tokens.pop_back();  // the text goes on
    drop_second_bos(tokenizer, tokens);
    if (tokens.empty()) throw Error("the prompt is empty, and the model needs one: -p gives it");
    return tokens;
}

void require_room(std::span<const int32_t> tokens, int64_t context) {
    const int64_t most = context - 4;  // room for an answer
    if (int64_t(tokens.size()) > most)
        throw Error("prompt is too long (" + std::to_string(tokens.size()) + " tokens, max " +
                    std::to_string(std::max<int64_t>(0, most)) +
                    "): a longer context (-c) has room for it");
}

// Those of -r.
StopTexts read_stop_texts(const Arguments& arguments) {
    std::vector<std::string> texts = arguments.texts("reverse-prompt");
    for (std::string& text : texts) {
        if (arguments.on("escape", true)) text = unescape(text);
        if (text.empty()) throw Error("-r takes a text that ends the generation, not an empty one");
    }
    return StopTexts(std::move(texts));
}

void list_tokens(const model::Tokenizer& tokenizer, std::span<const int32_t> tokens) {
    std::cerr << "number of tokens in prompt = " << tokens.size() << "\n";
    for (int32_t token : tokens) std::cerr << token_line(tokenizer, token);
}

void Run::evaluate(std::span<const int32_t> tokens) {
    if (tokens.empty()) return;
    evaluate_prompt(*driver, int64_t(tokens.size()), accounts.prompt,
                    [&] { session->evaluate(tokens); });
}

void Run::generate(const model::Tokenizer& tokenizer, model::Sampler& sampler,
                   std::span<const int32_t> prompt, int64_t known, std::string_view echo,
                   int64_t limit) {
    session.emplace(driver->session(known));
    std::span<const int32_t> rest = prompt.subspan(size_t(known));
    for (int32_t token : prompt) sampler.accept(token);
    // Some states cannot go back: they are kept as they are before the last token, which is
    // evaluated anew for its logits.
    if (cache->keeps() && rest.size() > 1) {
        evaluate(rest.first(rest.size() - 1));
        cache->keep(*driver, prompt);
        rest = rest.last(1);
    }
    if (limit == 0) return;
    evaluate(rest);
    output.write(echo);
    std::vector<int32_t> text(prompt.begin(), prompt.end());
    write(tokenizer, sampler, limit, text);
    // An interrupt may come in the middle of a step.
    if (cache->keeps_all() && !interrupts.pending()) cache->keep(*driver, text);
}

void Run::write(const model::Tokenizer& tokenizer, model::Sampler& sampler, int64_t limit,
                std::vector<int32_t>& text) {
    Entry entry(accounts.generation, driver->executor());
    while (!interrupts.pending()) {
        int32_t token = sampler.sample(session->logits());
        sampler.accept(token);
        text.push_back(token);
        if (tokenizer.ends_generation(token)) return;
        // A control token may be named, too, though nothing is written of it.
        if (stop_texts.has(tokenizer.piece(token, true))) limit = accounts.generated + 1;
        const std::string_view piece = tokenizer.piece(token, special);
        const std::optional<size_t> end = stop_texts.find_end(piece);
        output.write(piece.substr(0, end.value_or(piece.size())));
        if (++accounts.generated == limit || end) return;
        if (session->left() == 0) {
            full = true;
            return;
        }
        session->evaluate({&token, 1});
        ++accounts.generation.tokens;
    }
}

void act(Run& run) {
    const Arguments& arguments = run.arguments;
    gguf::File file = gguf::File::open(model_path(arguments));
    std::vector<std::string> notes;
    const int64_t context = context_size(arguments, file, notes);
    EngineOptions options = engine_options(arguments, file, context, notes);
    const int64_t limit = arguments.integer("predict", -1, -2);
    const bool echo = arguments.on("display-prompt", true);
    const bool listed = arguments.on("verbose-prompt");
    run.special = arguments.on("special");
    run.stop_texts = read_stop_texts(arguments);
    model::Tokenizer tokenizer(file.metadata(), file.path());
    notes.insert(notes.end(), tokenizer.warnings().begin(), tokenizer.warnings().end());
    const model::SamplingOptions sampling =
        read_sampling(arguments, file, tokenizer, context, notes);
    model::Sampler sampler(sampling);
    run.cache.emplace(arguments, file, run.interrupts);
    // Last, because it may have to be waited for.
    std::string text = read_prompt(arguments, &run.interrupts);
    const std::vector<int32_t> prompt = [&] {
        const auto kept = run.cache->text();
        if (text.empty() && !kept.empty()) return std::vector(kept.begin(), kept.end());
        const EndedByInterrupt ended(run.interrupts);
        return encode(tokenizer, text);
    }();
    require_room(prompt, context);
    run.driver = std::make_unique<Driver>(file, options, run.interrupts);
    const int64_t known = run.cache->restore(*run.driver, prompt, notes);
    print_notes(notes);
    std::cerr << "sampler seed: " << sampler.seed() << "\nsampler params:\n"
              << to_string(sampling) << "sampler chain: " << sampler.describe() << "\n";
    if (listed) list_tokens(tokenizer, prompt);
    if (limit == 0 && !run.cache->keeps()) return;
    if (!echo) text.clear();
    run.generate(tokenizer, sampler, prompt, known, text, limit);
}

int run(const Arguments& arguments) {
    Run run{.arguments = arguments};
    try {
        act(run);
    } catch (const Error&) {
        if (!run.interrupts.pending()) {
            run.output.finish();
            throw;
        }
    }
    run.output.finish();
    if (run.session && !run.session->logits().empty())
        run.accounts.hash = hash_of(run.session->logits());
    if (run.full) std::cerr << "the context is full: the text ends here; -c makes it longer\n";
    if (run.interrupts.pending()) std::cerr << "interrupted\n";
    std::cerr << report(run.accounts, run.driver ? &run.driver->blueprint() : nullptr) << "\n";
    return run.interrupts.pending() ? run.interrupts.exit_code() : 0;
}

}  // namespace

const Subcommand run_command{"run", "continues a text", "-m FILE [-p TEXT] [options]", groups, run,
                             {},    glossaries};

}  // namespace tandem::cli
