// `tandem run`: a prompt in, text out.
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "cli/accounts.h"
#include "cli/context_shift.h"
#include "cli/conversation.h"
#include "cli/driver.h"
#include "cli/evaluate_prompt.h"
#include "cli/grammar_options.h"
#include "cli/model_keys.h"
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
#include "model/chat/bound_answer.h"
#include "model/sampler/sampler.h"
#include "model/tokenizer/tokenizer.h"
#include "model/tokenizer/utf8_stream.h"
#include "parallel/saved_state.h"
#include "parallel/snapshot.h"

namespace tandem::cli {

namespace {

constexpr Option output_list[] = {
    {"-n, --predict, --n-predict", "N",
     "tokens to generate at most; -1: until the model ends the text or the context is full; -2: "
     "likewise, whatever --context-shift says (default: -1)"},
    {"-r, --reverse-prompt", "TEXT",
     "end the text where what is generated has come to this one, which may be a control token; "
     "several by several -r, with the escapes of -p"},
    {"--display-prompt", "",
     "write the prompt in front of the text (default: on; off: --no-display-prompt)"},
    {"-sp, --special", "", "write control tokens as text"},
    {"--verbose-prompt", "", "list the tokens of the prompt on standard error"},
    {"--context-shift", "",
     "where the context is full, forget half of what is not kept, the older one, evaluate the rest "
     "anew and go on; in conversations the oldest messages (default: off, the text ends there)"},
    {"--keep", "N", "tokens of the prompt that are kept then; -1: all (default: 0)"},
    {"--show-timings", "", "", Effect::Ignored},
    {"-bf, --binary-file", "FILE", "a prompt is text: -f names a file of it", Effect::Refused},
    {"-ptc, --print-token-count", "N", "the last line counts the tokens", Effect::Refused, "-1"},
    {"-np, --parallel", "N", "one text is written at a time", Effect::Refused, "1"},
};
constexpr OptionGroup output_options{"text", output_list};

constexpr const OptionGroup* groups[] = {
    &file_options,   &key_options,          &prompt_options,   &conversation_options,
    &output_options, &prompt_cache_options, &sampling_options, &grammar_options,
    &step_options,   &device_options,       &override_options, &foreign_options};
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
    std::optional<ContextShift> shift;
    std::unique_ptr<Conversation> conversation;  // none: the text itself goes on
    std::unique_ptr<model::BoundAnswer> bound;   // none: there is no grammar
    Accounts accounts;
    Output output;
    StopTexts stop_texts;
    bool special = false;       // control tokens are written
    bool full = false;          // the context is
    int64_t limit = -1;         // tokens of a text or an answer; below 0 none
    std::vector<int32_t> text;  // the session has evaluated all of it, perhaps but for its last
    std::optional<parallel::Snapshot> before_answer;  // of that text, where states cannot go back

    // `known`: tokens of the prompt that the devices have already. `echo` stands in front of the
    // text, once the prompt is read.
    void generate(const model::Tokenizer& tokenizer, model::Sampler& sampler,
                  std::span<const int32_t> prompt, int64_t known, std::string_view echo);
    // With further messages, as long as there are some.
    void go_on(const model::Tokenizer& tokenizer, model::Sampler& sampler, int64_t context);

  private:
    void evaluate(std::span<const int32_t> tokens);  // of the prompt
    int64_t go_back_for(std::span<const int32_t> prompt);
    int64_t evaluate_lasting(std::span<const int32_t> prompt, int64_t known);
    bool make_room(std::vector<int32_t>& prompt, int64_t context);
    void forget_half();
    // What is written is added to the text, the last token before it is evaluated.
    void write(const model::Tokenizer& tokenizer, model::Sampler& sampler);
    void write_answer(const model::Tokenizer& tokenizer, model::Sampler& sampler);
    void begin_grammar();
    void say(std::string_view piece);
};

constexpr int64_t room_for_answer = 4;  // tokens

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
    const int64_t most = context - room_for_answer;
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

// Goes back in the text so far to where a prompt goes on otherwise, or to the snapshot before that.
// Returns how many of the prompt's tokens the devices have then, its last not among them.
int64_t Run::go_back_for(std::span<const int32_t> prompt) {
    const std::span<const int32_t> held = std::span(text).first(size_t(session->position()));
    const int64_t common = std::ranges::mismatch(held, prompt).in1 - held.begin();
    const int64_t known = std::min(common, int64_t(prompt.size()) - 1);
    if (before_answer && before_answer->position() > known) before_answer.reset();
    if (parallel::can_return(*driver->blueprint().graph, session->position(), known)) return known;
    if (!before_answer) return 0;
    before_answer->restore(driver->holders());
    return before_answer->position();
}

// Evaluates what later messages keep of a prompt, and remembers that. Returns how many of its
// tokens are known then.
int64_t Run::evaluate_lasting(std::span<const int32_t> prompt, int64_t known) {
    if (!conversation || !conversation->goes_on()) return known;
    if (parallel::keeps_positions(*driver->blueprint().graph)) return known;
    const int64_t lasting = std::min(conversation->lasting(prompt), int64_t(prompt.size()) - 1);
    if (lasting == 0 || lasting < known) return known;
    evaluate(prompt.subspan(size_t(known), size_t(lasting - known)));
    before_answer.emplace(driver->holders(), lasting);
    return lasting;
}

// Whether a context has room for a prompt, if need be without the oldest messages.
bool Run::make_room(std::vector<int32_t>& prompt, int64_t context) {
    bool shorter = false;
    while (int64_t(prompt.size()) > context - room_for_answer) {
        std::optional<std::vector<int32_t>> rest;
        if (shift->goes_on()) rest = conversation->without_oldest();
        if (!rest) return false;
        prompt = std::move(*rest);
        shorter = true;
    }
    const std::string note = "the context is full: the oldest messages are left out";
    if (shorter) print_notes({&note, 1});
    return true;
}

// The text goes on without what the shift leaves out. The last token is still to be evaluated. An
// interrupt ends it between two steps; the text is as long then as the session has it.
void Run::forget_half() {
    const Entry entry(accounts.prompt, driver->executor());
    std::vector<int32_t> left = shift->shifted(text);
    const int64_t known = go_back_for(left);
    text = std::move(left);
    session.emplace(driver->session(known));
    const std::span<const int32_t> all = std::span(text).first(text.size() - 1);
    while (session->position() < int64_t(all.size()) && !interrupts.pending()) {
        const auto rest = all.subspan(size_t(session->position()));
        const auto step =
            rest.first(std::min(rest.size(), size_t(driver->executor().most_tokens())));
        session->evaluate(step);
        accounts.prompt.tokens += int64_t(step.size());
    }
    text.resize(size_t(session->position()) + 1);
}

void Run::generate(const model::Tokenizer& tokenizer, model::Sampler& sampler,
                   std::span<const int32_t> prompt, int64_t known, std::string_view echo) {
    // Penalties look back at all of a conversation as it is now, once.
    auto first_new = std::ranges::mismatch(text, prompt).in2;
    if (first_new - prompt.begin() < int64_t(text.size())) {
        sampler.forget();
        first_new = prompt.begin();
    }
    for (auto token = first_new; token != prompt.end(); ++token) sampler.accept(*token);
    text.assign(prompt.begin(), prompt.end());
    if (shift->goes_on())
        shift->begin(int64_t(prompt.size()), conversation ? conversation->opening(prompt) : 0);
    const bool is_first = !session;
    session.emplace(driver->session(known));
    const int64_t lasting = limit == 0 ? known : evaluate_lasting(prompt, known);
    std::span<const int32_t> rest = prompt.subspan(size_t(lasting));
    // Some states cannot go back: they are kept as they are before the last token, which is
    // evaluated anew for its logits.
    if (cache->keeps() && is_first && !cache->covers(prompt)) {
        evaluate(rest.first(rest.size() - 1));
        cache->keep(*driver, prompt);
        rest = rest.last(1);
    }
    if (limit == 0) return;
    evaluate(rest);
    output.write(echo);
    conversation ? write_answer(tokenizer, sampler) : write(tokenizer, sampler);
    // An interrupt may come in the middle of a step, or behind the last.
    const bool as_kept = session->position() + 1 == int64_t(text.size());
    if (cache->keeps_all() && as_kept && !interrupts.pending()) cache->keep(*driver, text);
}

void Run::go_on(const model::Tokenizer& tokenizer, model::Sampler& sampler, int64_t context) {
    while (!full && !interrupts.pending()) {
        std::optional<std::vector<int32_t>> prompt = conversation->next(interrupts);
        if (!prompt) return;
        if (!session) require_room(*prompt, context);
        full = !make_room(*prompt, context);
        if (full) return;
        std::vector<std::string> notes;
        const int64_t known =
            session ? go_back_for(*prompt) : cache->restore(*driver, *prompt, notes);
        print_notes(notes);
        generate(tokenizer, sampler, *prompt, known, {});
        if (limit == 0) return;
    }
}

void Run::say(std::string_view piece) {
    if (conversation)
        output.write(conversation->hear(piece));
    else
        output.write(piece);
}

// Where there may be further messages, Ctrl-C ends the answer alone.
void Run::write_answer(const model::Tokenizer& tokenizer, model::Sampler& sampler) {
    if (conversation->goes_on()) driver->end_by_interrupts(false);
    interrupts.check();  // one that came before has ended all steps
    write(tokenizer, sampler);
    output.write(conversation->end());
    output.finish();
    if (!conversation->goes_on()) return;
    interrupts.forget();
    driver->end_by_interrupts(true);
}

void Run::begin_grammar() {
    if (conversation)
        bound->begin(conversation->marks(), conversation->voices());
    else
        bound->begin();
}

void Run::write(const model::Tokenizer& tokenizer, model::Sampler& sampler) {
    std::optional<Entry> entry(std::in_place, accounts.generation, driver->executor());
    stop_texts.begin();
    if (bound) begin_grammar();
    for (int64_t left = limit; left != 0 && !interrupts.pending(); --left) {
        std::optional<int32_t> dictated;
        if (conversation) dictated = conversation->dictated();
        const model::Bounds* bounds = bound ? &bound->bounds() : nullptr;
        int32_t token = dictated ? *dictated : sampler.sample(session->logits(), bounds);
        sampler.accept(token);
        if (conversation) conversation->take(token);
        if (bound) bound->accept(token);
        text.push_back(token);
        if (tokenizer.ends_generation(token)) return;
        // A control token may be named, too, though nothing is written of it.
        if (stop_texts.has(tokenizer.piece(token, true))) left = 1;
        const std::string_view piece =
            conversation ? conversation->piece(token) : tokenizer.piece(token, special);
        const std::optional<size_t> end = stop_texts.find_end(piece);
        say(piece.substr(0, end.value_or(piece.size())));
        ++accounts.generated;
        if (left == 1 || end || (bound && bound->must_end())) return;
        if (session->left() == 0) {
            full = !shift->goes_on();
            if (full) return;
            entry.reset();
            forget_half();
            if (interrupts.pending()) return;
            entry.emplace(accounts.generation, driver->executor());
        }
        session->evaluate({&token, 1});
        ++accounts.generation.tokens;
    }
}

// The text of a prompt, or the first message; none where it is to be asked for.
std::optional<std::string> first_text(const Run& run) {
    const Arguments& arguments = run.arguments;
    const bool given = arguments.has("prompt") || arguments.has("file") || arguments.on("stdin");
    if (run.conversation && run.conversation->goes_on() && !given) return {};
    return read_prompt(arguments, &run.interrupts);
}

// Its tokens.
std::vector<int32_t> first_prompt(Run& run, const model::Tokenizer& tokenizer,
                                  const std::string& text) {
    const auto kept = run.cache->text();
    if (!run.conversation && text.empty() && !kept.empty()) return {kept.begin(), kept.end()};
    const EndedByInterrupt ended(run.interrupts);
    if (!run.conversation) return encode(tokenizer, text);
    if (text.empty()) throw Error("there is no message to answer: -p gives one");
    return run.conversation->ask(text);
}

void act(Run& run) {
    const Arguments& arguments = run.arguments;
    gguf::File file = open_model(arguments);
    std::vector<std::string> notes;
    const int64_t context = context_size(arguments, file, notes);
    EngineOptions options = engine_options(arguments, file, context, notes);
    run.limit = arguments.integer("predict", -1, -2);
    const bool echo = arguments.on("display-prompt", true);
    const bool listed = arguments.on("verbose-prompt");
    run.special = arguments.on("special");
    run.stop_texts = read_stop_texts(arguments);
    model::Tokenizer tokenizer(file.metadata(), file.path());
    notes.insert(notes.end(), tokenizer.warnings().begin(), tokenizer.warnings().end());
    const model::SamplingOptions sampling =
        read_sampling(arguments, file, tokenizer, context, notes);
    model::Sampler sampler(sampling, &tokenizer);
    if (auto grammar = read_grammar(arguments, &run.interrupts))
        run.bound =
            std::make_unique<model::BoundAnswer>(std::move(*grammar), tokenizer, run.special);
    run.cache.emplace(arguments, file, run.interrupts);
    run.shift.emplace(arguments, tokenizer.adds_bos());
    run.conversation = Conversation::begin(arguments, file, tokenizer, notes);
    // Last, because it may have to be waited for.
    const std::optional<std::string> text = first_text(run);
    std::vector<int32_t> prompt;
    if (text) prompt = first_prompt(run, tokenizer, *text);
    require_room(prompt, context);
    run.driver = std::make_unique<Driver>(file, options, run.interrupts);
    const int64_t known = text ? run.cache->restore(*run.driver, prompt, notes) : 0;
    print_notes(notes);
    std::cerr << "sampler seed: " << sampler.seed() << "\nsampler params:\n"
              << to_string(sampling) << "sampler chain: " << sampler.describe() << "\n";
    if (listed) list_tokens(tokenizer, prompt);
    if (run.limit == 0 && !run.cache->keeps()) return;
    if (text)
        run.generate(tokenizer, sampler, prompt, known,
                     echo && !run.conversation ? *text : std::string_view());
    const bool answered_enough = text && run.limit == 0;
    if (run.conversation && run.conversation->goes_on() && !answered_enough)
        run.go_on(tokenizer, sampler, context);
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
    if (run.full)
        std::cerr << "the context is full: the text ends here; -c makes it longer"
                  << (arguments.on("context-shift") ? "" : ", and --context-shift lets it go on")
                  << "\n";
    if (run.interrupts.pending()) std::cerr << "interrupted\n";
    if (run.accounts.generated > 0 && run.bound && !run.bound->can_end())
        std::cerr << "the text ends before its grammar does\n";
    std::cerr << report(run.accounts, run.driver ? &run.driver->blueprint() : nullptr) << "\n";
    return run.interrupts.pending() ? run.interrupts.exit_code() : 0;
}

}  // namespace

const Subcommand run_command{"run", "continues a text", "-m FILE [-p TEXT] [options]", groups, run,
                             {},    glossaries};

}  // namespace tandem::cli
