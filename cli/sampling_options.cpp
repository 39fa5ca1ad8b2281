#include "cli/sampling_options.h"

#include <cmath>
#include <limits>

#include "cli/format.h"
#include "cli/prompt.h"
#include "cli/sampling_notes.h"
#include "gguf/error.h"
#include "model/architecture.h"
#include "model/sampler/stage.h"

namespace tandem::cli {

namespace {

constexpr Option list[] = {
    {"-s, --seed", "N", "of the random numbers; -1: a random one, which is printed (default: -1)"},
    {"--samplers", "NAMES",
     "samplers in their order, separated by ; there are infill and adaptive_p, too (default: "
     "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature)"},
    {"--sampler-seq, --sampling-seq", "LETTERS",
     "the same by letters; infill is i, adaptive_p a (default: edskypmxt)"},
    {"--temp, --temperature", "T", "0: always the most likely token (default: 0.8)"},
    {"--dynatemp-range", "X", "the temperature varies so far up and down; 0: off (default: 0)"},
    {"--dynatemp-exp", "X", "exponent of the entropy that it varies with (default: 1)"},
    {"--top-k", "N", "the N most likely tokens; 0: off (default: 40)"},
    {"--top-p", "P", "the fewest tokens of that probability; 1: off (default: 0.95)"},
    {"--min-p", "P", "tokens at least P times as likely as the best; 0: off (default: 0.05)"},
    {"--typical, --typical-p", "P", "tokens of typical surprise; 1: off (default: 1)"},
    {"--top-nsigma, --top-n-sigma", "N",
     "logits within N standard deviations of the best; -1: off (default: -1)"},
    {"--xtc-probability", "P", "how often likely tokens are excluded; 0: off (default: 0)"},
    {"--xtc-threshold", "P", "which tokens are likely; above 0.5: off (default: 0.1)"},
    {"--repeat-last-n", "N",
     "tokens that penalties look back at; 0: off, -1: all of the context (default: 64)"},
    {"--repeat-penalty", "X", "of tokens that came already; 1: off (default: 1)"},
    {"--presence-penalty", "X", "subtracted once for such tokens; 0: off (default: 0)"},
    {"--frequency-penalty", "X", "subtracted each time; 0: off (default: 0)"},
    {"--dry-multiplier", "X",
     "subtracted for tokens that would repeat more of what is repeated; 0: off (default: 0)"},
    {"--dry-base", "X", "that grows by this factor with each token repeated (default: 1.75)"},
    {"--dry-allowed-length", "N", "tokens that may be repeated at no cost (default: 2)"},
    {"--dry-penalty-last-n", "N",
     "tokens that dry looks back at; 0: off, -1: all of the context (default: 64)"},
    {"--dry-sequence-breaker", "TEXT",
     "nothing is a repetition across this text, or none for no such text; several by several "
     "options, with the escapes of -p (default: \\n : \" *)"},
    {"--adaptive-target", "P",
     "mean probability of tokens that adaptive_p aims at; -1: off (default: -1)"},
    {"--adaptive-decay", "X",
     "what a token weighs in that mean when the next is chosen, up to 0.99 (default: 0.9)"},
    {"--mirostat", "N",
     "1 or 2: version of mirostat, in place of all samplers but the temperature; 0: off (default: "
     "0)"},
    {"--mirostat-ent", "X", "bits of surprise that mirostat aims at (default: 5)"},
    {"--mirostat-lr", "X", "how fast it corrects itself (default: 0.1)"},
    {"-l, --logit-bias", "LIST", "added to the logits of tokens: 15043+1,29889-inf"},
    {"--ignore-eos", "", "no token may end the text"},
    {"-bs, --backend-sampling", "", "", Effect::Ignored},
};

constexpr float largest = std::numeric_limits<float>::max();

void read_numbers(const Arguments& arguments, model::SamplingOptions& options) {
    auto real = [&](std::string_view name, float& value, float least = -largest,
                    double most = largest) {
        value = float(arguments.real(name, value, least, most));
    };
    real("temp", options.temperature);
    if (options.temperature < 0) options.temperature = 0;
    real("dynatemp-range", options.temperature_range);
    real("dynatemp-exp", options.temperature_exponent);
    options.top_k = arguments.integer("top-k", options.top_k);
    real("top-p", options.top_p);
    real("min-p", options.min_p);
    real("typical", options.typical_p);
    real("top-nsigma", options.top_n_sigma);
    real("xtc-probability", options.xtc_probability);
    real("xtc-threshold", options.xtc_threshold);
    real("repeat-penalty", options.repeat_penalty);
    real("presence-penalty", options.presence_penalty);
    real("frequency-penalty", options.frequency_penalty);
    real("dry-multiplier", options.dry_multiplier);
    real("dry-base", options.dry_base, 1);
    real("adaptive-target", options.adaptive_target, -largest, 1);
    real("adaptive-decay", options.adaptive_decay, 0, 0.99);
    options.mirostat = arguments.integer("mirostat", options.mirostat, 0, 2);
    real("mirostat-ent", options.mirostat_target, 0);
    real("mirostat-lr", options.mirostat_rate, 0);
    options.dry_allowed_length =
        arguments.integer("dry-allowed-length", options.dry_allowed_length, 0);
}

// The first one said takes the place of the usual ones, and "none" of all before it.
void read_breakers(const Arguments& arguments, std::vector<std::string>& breakers) {
    if (arguments.has("dry-sequence-breaker")) breakers.clear();
    for (const std::string& said : arguments.texts("dry-sequence-breaker")) {
        breakers.push_back(arguments.on("escape", true) ? unescape(said) : said);
        if (breakers.back().empty())
            throw Error(
                "--dry-sequence-breaker takes a text, not an empty one; none is for no such text");
        if (said == "none") breakers.clear();
    }
}

// "15043+1", "29889-inf"
std::pair<int32_t, float> to_bias(std::string_view text) {
    const std::string said = "-l " + std::string(text) + ": ";
    const size_t sign = text.find_first_of("+-");
    if (sign == 0 || sign == text.npos)
        throw Error(
            "-l takes tokens, each with what is added to its logit, such as "
            "15043+1,29889-inf, not \"" +
            std::string(text) + "\"");
    const std::string_view bias = text.substr(sign);
    const int64_t id =
        to_integer(text.substr(0, sign), said + "a token", 0, std::numeric_limits<int32_t>::max());
    if (bias == "-inf") return {int32_t(id), -INFINITY};
    return {int32_t(id), float(to_real(bias, said + "a bias", -1e30, 1e30))};
}

}  // namespace

const OptionGroup sampling_options{"sampling, where the model file recommends nothing else", list};

model::SamplingOptions read_sampling(const Arguments& arguments, const gguf::File& file,
                                     const model::Tokenizer& tokenizer, int64_t context,
                                     std::vector<std::string>& notes) {
    model::SamplingOptions options = model::recommended_sampling(file.metadata(), notes);
    options.seed = uint32_t(arguments.integer("seed", -1, -1, 0xffffffff));
    if (arguments.has("samplers"))
        options.order = model::stages_by_names(arguments.text("samplers"), notes);
    if (arguments.has("sampler-seq"))
        options.order = model::stages_by_letters(arguments.text("sampler-seq"), notes);
    read_numbers(arguments, options);
    options.penalty_last_n = arguments.integer("repeat-last-n", options.penalty_last_n, -1);
    if (options.penalty_last_n == -1) options.penalty_last_n = context;
    options.dry_last_n = arguments.integer("dry-penalty-last-n", options.dry_last_n, -1);
    if (options.dry_last_n == -1) options.dry_last_n = context;
    read_breakers(arguments, options.dry_breakers);
    for (int32_t id : tokenizer.special_ids().suppressed)
        options.biases.emplace_back(id, -INFINITY);
    if (arguments.on("ignore-eos"))
        for (int32_t id : tokenizer.special_ids().generation_ends)
            options.biases.emplace_back(id, -INFINITY);
    // A tokenizer may have more tokens than its model, or fewer.
    const int64_t tokens = model::vocab_of(file).value_or(tokenizer.size());
    for (const std::string& mention : arguments.texts("logit-bias"))
        for (const std::string& text : split(mention)) {
            options.biases.push_back(to_bias(trimmed(text)));
            if (options.biases.back().first >= tokens)
                throw Error("-l " + text + ": the model has tokens 0 to " +
                            std::to_string(tokens - 1));
        }
    add_sampling_notes(arguments, options, notes);
    return options;
}

std::string to_string(const model::SamplingOptions& options) {
    return format(
               "\trepeat_last_n = %lld, repeat_penalty = %.3f, frequency_penalty = %.3f, "
               "presence_penalty = %.3f\n",
               static_cast<long long>(options.penalty_last_n), double(options.repeat_penalty),
               double(options.frequency_penalty), double(options.presence_penalty)) +
           format(
               "\tdry_multiplier = %.3f, dry_base = %.3f, dry_allowed_length = %lld, "
               "dry_penalty_last_n = %lld\n",
               double(options.dry_multiplier), double(options.dry_base),
               static_cast<long long>(options.dry_allowed_length),
               static_cast<long long>(options.dry_last_n)) +
           format(
               "\ttop_k = %lld, top_p = %.3f, min_p = %.3f, xtc_probability = %.3f, "
               "xtc_threshold = %.3f, typical_p = %.3f, top_n_sigma = %.3f, temp = %.3f\n",
               static_cast<long long>(options.top_k), double(options.top_p), double(options.min_p),
               double(options.xtc_probability), double(options.xtc_threshold),
               double(options.typical_p), double(options.top_n_sigma),
               double(options.temperature)) +
           format(
               "\tmirostat = %lld, mirostat_lr = %.3f, mirostat_ent = %.3f, "
               "adaptive_target = %.3f, adaptive_decay = %.3f\n",
               static_cast<long long>(options.mirostat), double(options.mirostat_rate),
               double(options.mirostat_target), double(options.adaptive_target),
               double(options.adaptive_decay));
}

}  // namespace tandem::cli
