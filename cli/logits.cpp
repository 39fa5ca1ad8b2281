// `tandem logits`: the numbers behind the text, for comparing engines and mappings.
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accounts.h"
#include "cli/driver.h"
#include "cli/evaluate_prompt.h"
#include "cli/model_keys.h"
#include "cli/model_options.h"
#include "cli/notes.h"
#include "cli/output_file.h"
#include "cli/overrides.h"
#include "cli/subcommands.h"
#include "gguf/error.h"
#include "model/sampler/sampler.h"

namespace tandem::cli {

namespace {

constexpr Option list[] = {
    {"--tokens", "IDS", "the tokens to evaluate: 1,17,42"},
    {"--greedy", "N", "then generate N tokens, each time the most likely one (default: 0)"},
    {"-c, --ctx-size", "N",
     "tokens that there may be in all; 0: as many as the model was trained for (default: those of "
     "--tokens and --greedy)"},
    {"-o, --output", "FILE",
     "where the logits go: little-endian float32, one row for each token, then one for each "
     "generated token, the row that it was chosen by"},
};
constexpr OptionGroup logits_options{"logits", list};
constexpr const OptionGroup* groups[] = {&file_options,   &key_options,    &logits_options,
                                         &cache_options,  &device_options, &override_options,
                                         &foreign_options};
constexpr const Glossary* glossaries[] = {&device_names, &device_environment};

// "1,17,42", which may stand in brackets.
std::vector<int32_t> to_tokens(std::string_view text) {
    text = trimmed(text);
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    std::vector<int32_t> tokens;
    for (const std::string& token : split(text))
        tokens.push_back(int32_t(to_integer(trimmed(token), "a token of --tokens", 0,
                                            std::numeric_limits<int32_t>::max())));
    return tokens;
}

void write(OutputFile& out, std::span<const float> logits) {
    std::span<const std::byte> bytes = std::as_bytes(logits);
    out.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

struct Run {
    Interrupts interrupts;
    std::unique_ptr<Driver> driver;
    Accounts accounts;
    std::vector<int32_t> greedy;
};

void evaluate(Run& run, std::span<const int32_t> tokens, int64_t steps, OutputFile& out) {
    model::Session session = run.driver->session();
    std::vector<float> last;  // row
    auto keep = [&](int64_t, std::span<const float> rows) {
        last.assign(rows.end() - run.driver->executor().vocab(), rows.end());
    };
    auto take = [&](int64_t first, std::span<const float> rows) {
        write(out, rows);
        keep(first, rows);
    };
    evaluate_prompt(*run.driver, int64_t(tokens.size()), run.accounts.prompt,
                    [&] { session.evaluate(tokens, take); });
    Entry entry(run.accounts.generation, run.driver->executor());
    for (int64_t step = 0; step < steps; ++step) {
        write(out, last);
        model::require_numbers(last);
        int32_t best = int32_t(std::max_element(last.begin(), last.end()) - last.begin());
        run.greedy.push_back(best);
        ++run.accounts.generated;
        if (step + 1 == steps) break;
        session.evaluate(std::span(&best, 1), keep);
        ++run.accounts.generation.tokens;
    }
    run.accounts.hash = hash_of(last);
}

void print_tokens(const Run& run) {
    std::cout << nlohmann::json{{"greedy", run.greedy}}.dump() << "\n" << std::flush;
}

void act(Run& run, const Arguments& arguments) {
    gguf::File file = open_model(arguments);
    if (!arguments.has("tokens")) throw Error("no tokens given: list them with --tokens 1,17,42");
    std::vector<int32_t> tokens = to_tokens(arguments.text("tokens"));
    const int64_t steps = arguments.integer("greedy", 0, 0);
    if (!arguments.has("output")) throw Error("no file given for the logits: name one with -o");
    OutputFile out(arguments.text("output"), "the logits", &run.interrupts);
    const auto given = int64_t(tokens.size());
    std::vector<std::string> notes;
    const int64_t context = context_size(arguments, file, notes, given + steps);
    // Said before any is evaluated, as what is written stays. The last token is only named.
    if (steps > 1 && given <= context && given + steps - 1 > context)
        throw Error("the context of " + counted_tokens(context) + " has no room for " +
                    std::to_string(given) + " and " + std::to_string(steps) +
                    " that --greedy generates; a longer one (-c) would");
    const EngineOptions options = engine_options(arguments, file, context, notes);
    run.driver = std::make_unique<Driver>(file, options, run.interrupts);
    print_notes(notes);
    evaluate(run, tokens, steps, out);
    out.finish();
    print_tokens(run);
}

int run(const Arguments& arguments) {
    Run run;
    try {
        act(run, arguments);
    } catch (const Error&) {
        if (!run.interrupts.pending()) throw;
        if (!run.greedy.empty()) print_tokens(run);  // as their rows are in the file
        std::cerr << "interrupted\n";
    }
    std::cerr << report(run.accounts, run.driver ? &run.driver->blueprint() : nullptr) << "\n";
    return run.interrupts.pending() ? run.interrupts.exit_code() : 0;
}

}  // namespace

const Subcommand logits_command{"logits",
                                "writes the logits of given tokens",
                                "-m FILE --tokens IDS -o FILE [options]",
                                groups,
                                run,
                                {},
                                glossaries};

}  // namespace tandem::cli
