#include "cli/options.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cxxopts.hpp>
#include <iterator>
#include <optional>

#include "cli/nearest.h"
#include "gguf/error.h"
#include "gguf/fault.h"

namespace tandem::cli {

namespace {

std::vector<std::string> names_of(const Option& option) {
    std::vector<std::string> names;
    for (const std::string& name : split(option.names, ", "))
        if (!name.empty()) names.push_back(name);
    return names;
}

// What the program asks by: the first long name, without dashes.
std::string key_of(const Option& option) {
    for (const std::string& name : names_of(option))
        if (name.starts_with("--")) return name.substr(2);
    check(false, "every option has a long name");
    return {};
}

bool optional_value(const Option& option) { return option.value.starts_with('['); }

bool among(std::string_view words, std::string_view word) {
    std::vector<std::string> all = split(words, "|[]");
    return !word.empty() && std::find(all.begin(), all.end(), word) != all.end();
}

std::optional<double> number_in(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return {};
    return value;
}

bool among_values(std::string_view values, std::string_view value) {
    const std::optional<double> number = number_in(value);
    for (const std::string& one : split(values, "|"))
        if (number && number_in(one) == number) return true;
    return among(values, value);
}

// A word of the command line, taken apart and looked up.
struct Word {
    const Option* option = nullptr;
    std::string name;                  // as the user wrote it
    std::optional<std::string> value;  // behind "="; "false" for the opposite of a switch
};

// Without an option where the command knows none of that name.
Word find(const Subcommand& command, const std::string& word) {
    Word found{.name = word.substr(0, word.find('='))};
    if (found.name.size() < word.size()) found.value = word.substr(found.name.size() + 1);
    std::string name = found.name;
    if (name.starts_with("--")) std::replace(name.begin(), name.end(), '_', '-');
    for (const OptionGroup* group : command.groups)
        for (const Option& option : group->options)
            for (const std::string& known : names_of(option)) {
                if (known == name) found.option = &option;
                const size_t dashes = known.find_first_not_of('-');
                if (option.value.empty() &&
                    name == known.substr(0, dashes) + "no-" + known.substr(dashes)) {
                    if (found.value) throw Error("option " + found.name + " takes no value");
                    found.option = &option;
                    found.value = "false";
                }
                if (found.option) return found;
            }
    return found;
}

Error unknown(const Subcommand& command, const std::string& name) {
    std::vector<std::string> known;
    for (const OptionGroup* group : command.groups)
        for (const Option& option : group->options)
            for (std::string& one : names_of(option)) known.push_back(std::move(one));
    const std::string meant = nearest(name, known);
    return Error("unknown option " + name + " for " + std::string(command.name) + "; " +
                 (meant.empty() ? "" : "did you mean " + meant + "? ") + "tandem " +
                 std::string(command.name) + " --help lists them");
}

Word look_up(const Subcommand& command, const std::string& word) {
    Word found = find(command, word);
    if (!found.option) throw unknown(command, found.name);
    return found;
}

// Whether the next word is the option's value.
bool takes_next(const Word& word, std::span<const std::string> behind) {
    const Option& option = *word.option;
    if (word.value || option.value.empty() || behind.empty()) return false;
    return !optional_value(option) || among(option.value, behind[0]);
}

// The next word is no value if it names an option: a value was left out, more likely than meant.
void require_value(const Subcommand& command, const Word& word) {
    const std::string& next = *word.value;
    if (next.find('=') == std::string::npos && find(command, next).option)
        throw Error("option " + word.name + " of " + std::string(command.name) +
                    " needs a value: " + word.name + " " + std::string(word.option->value) +
                    ", but is followed by the option " + next + "; if that is the value, write " +
                    word.name + "=" + next);
}

// What an option without effect asks for, with its value; the opposite of a switch asks for what
// happens anyway.
bool asks_for_something(const Option& option, const std::string& value) {
    const bool opposite = option.value.empty() && value == "false";
    return !opposite && !among_values(option.harmless, value);
}

void refuse(const Word& word) {
    const Option& option = *word.option;
    if (option.effect == Effect::Refused && asks_for_something(option, *word.value))
        throw Error("option " + word.name + " is not supported: " + std::string(option.sentence));
}

// Empty where there is nothing to say.
std::string note_on(const Word& word) {
    const Option& option = *word.option;
    if (option.effect != Effect::Ignored || option.sentence.empty() ||
        !asks_for_something(option, *word.value))
        return {};
    return word.name + (option.value.empty() ? "" : " " + *word.value) +
           " has no effect: " + std::string(option.sentence);
}

struct Rewritten {
    std::vector<std::string> words, notes;
};

// "-c 5", "--ctx_size=5" to "--ctx-size", "5": what the parser is given is all long, all with
// values, and without the options that have no effect.
Rewritten rewrite(const Subcommand& command, std::span<const std::string> words) {
    Rewritten rewritten;
    std::string_view bare = command.bare;
    std::string alone, named;  // the word without an option, and its option, as written
    for (size_t i = 0; i < words.size(); ++i) {
        if (!words[i].starts_with('-') || words[i] == "-") {
            if (bare.empty())
                throw Error("unexpected word \"" + words[i] + "\" for " +
                            std::string(command.name) + "; tandem " + std::string(command.name) +
                            " --help shows its options");
            rewritten.words.insert(rewritten.words.end(), {"--" + std::string(bare), words[i]});
            alone = words[i];
            bare = {};  // one is all that is expected
            continue;
        }
        Word word = look_up(command, words[i]);
        const Option& option = *word.option;
        if (takes_next(word, words.subspan(i + 1))) {
            word.value = words[++i];
            require_value(command, word);
        }
        if (!word.value && option.value.empty()) word.value = "true";
        if (!word.value && optional_value(option)) word.value = "";
        if (!word.value)
            throw Error("option " + word.name + " of " + std::string(command.name) +
                        " needs a value: " + word.name + " " + std::string(option.value));
        refuse(word);
        if (std::string note = note_on(word); !note.empty())
            rewritten.notes.push_back(std::move(note));
        if (key_of(option) == command.bare) named = word.name;
        if (option.effect == Effect::Works)
            rewritten.words.insert(rewritten.words.end(), {"--" + key_of(option), *word.value});
    }
    if (!alone.empty() && !named.empty())
        throw Error("\"" + alone + "\" and " + named + " say the same for " +
                    std::string(command.name) + ": give one of them");
    return rewritten;
}

// " from 0 to 1"; without those limits that no one would think of.
std::string limits(double least, double most, bool too_large) {
    auto number = [](double value) {
        char digits[32];
        return std::string(digits, std::to_chars(digits, std::end(digits), value).ptr);
    };
    bool from = least > std::numeric_limits<int32_t>::min();
    bool to = too_large || most < std::numeric_limits<int32_t>::max();
    if (from && to) return " from " + number(least) + " to " + number(most);
    if (from) return ", " + number(least) + " or more";
    if (to) return ", " + number(most) + " or less";
    return "";
}

template <typename Number>
Number to_number(std::string_view text, const std::string& what, Number least, Number most) {
    constexpr bool whole = std::is_integral_v<Number>;
    Number value{};
    std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if constexpr (!whole)
        if (error == std::errc::result_out_of_range) {  // as near as numbers come: 0 or infinite
            value = std::strtod(std::string(digits).c_str(), nullptr);
            error = {};
        }
    bool good = error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
    bool too_large = error == std::errc::result_out_of_range || (good && value > most);
    if (!good || !(value >= least && value <= most))
        throw Error(what + " takes a " + (whole ? "whole number" : "number") +
                    limits(double(least), double(most), too_large) + ", not " +
                    gguf::in_quotes(text));
    return value;
}

}  // namespace

int64_t to_integer(std::string_view text, const std::string& what, int64_t least, int64_t most) {
    return to_number(text, what, least, most);
}

double to_real(std::string_view text, const std::string& what, double least, double most) {
    return to_number(text, what, least, most);
}

std::vector<std::string> split(std::string_view text, std::string_view separators) {
    std::vector<std::string> pieces(1);
    for (char c : text) {
        if (separators.find(c) == std::string_view::npos)
            pieces.back() += c;
        else
            pieces.emplace_back();
    }
    return pieces;
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

bool Arguments::on(std::string_view name, bool fallback) const {
    if (!has(name)) return fallback;
    std::string value = text(name);
    if (among("true|on|enabled|1", value)) return true;
    if (among("false|off|disabled|0", value)) return false;
    throw Error("--" + std::string(name) + " takes on or off, not \"" + value + "\"");
}

std::string Arguments::text(std::string_view name, std::string_view fallback) const {
    auto entry = values_.find(name);
    return entry == values_.end() ? std::string(fallback) : entry->second.back();
}

std::vector<std::string> Arguments::texts(std::string_view name) const {
    auto entry = values_.find(name);
    return entry == values_.end() ? std::vector<std::string>() : entry->second;
}

int64_t Arguments::integer(std::string_view name, int64_t fallback, int64_t least,
                           int64_t most) const {
    return has(name) ? to_integer(text(name), "--" + std::string(name), least, most) : fallback;
}

double Arguments::real(std::string_view name, double fallback, double least, double most) const {
    return has(name) ? to_real(text(name), "--" + std::string(name), least, most) : fallback;
}

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::filesystem::path cache_folder() {
    const std::filesystem::path cache = environment("XDG_CACHE_HOME"), home = environment("HOME");
    if (cache.is_absolute()) return cache / "tandem";
    if (home.is_absolute()) return home / ".cache" / "tandem";
    return {};
}

bool is_help(std::string_view word) {
    return word == "--help" || word == "-h" || word == "--usage";
}

bool asks_for_help(const Subcommand& command, std::span<const std::string> words) {
    for (size_t i = 0; i < words.size(); ++i) {
        if (is_help(words[i])) return true;
        const Word word = find(command, words[i]);
        if (word.option && takes_next(word, words.subspan(i + 1))) ++i;
    }
    return false;
}

Arguments parse(const Subcommand& command, std::span<const std::string> words) {
    cxxopts::Options parser{std::string(command.name)};
    for (const OptionGroup* group : command.groups)
        for (const Option& option : group->options)
            if (option.effect == Effect::Works)
                parser.add_options()(key_of(option), "", cxxopts::value<std::string>());
    Rewritten rewritten = rewrite(command, words);
    std::vector<const char*> pointers{command.name.data()};
    for (const std::string& word : rewritten.words) pointers.push_back(word.c_str());
    std::map<std::string, std::vector<std::string>, std::less<>> values;
    try {
        cxxopts::ParseResult result = parser.parse(int(pointers.size()), pointers.data());
        for (const cxxopts::KeyValue& said : result.arguments())
            values[said.key()].push_back(said.value());
    } catch (const cxxopts::exceptions::exception& error) {
        throw Error("options of " + std::string(command.name) + ": " + error.what());
    }
    return Arguments(std::move(values), std::move(rewritten.notes));
}

}  // namespace tandem::cli
