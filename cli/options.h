// The words of a command line: options with any number of short names ("-sm") and long ones
// ("--split-mode"), said as "--name value" or "--name=value"; "_" stands for "-" in long names.
// Only behind "=" a value may be the name of an option of the same command. The last mention of an
// option counts, unless its command asks for all of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::cli {

enum class Effect {
    Works,
    Ignored,  // accepted because scripts for other programs pass it; a sentence, where there is
              // one, goes to the user, as it asks for what can be had otherwise
    Refused   // known from other programs, and not to be ignored; the sentence says why
};

struct Option {
    // All names: "-c, --ctx-size". The first long one is what the program asks by.
    std::string_view names;
    // What the help calls its value: "N". Empty: a switch, which "--no-..." turns off, and "-no-x"
    // that of a short name "-x". In brackets, "[on|off]": the value may be left out, and is only
    // taken if it is one of these.
    std::string_view value;
    std::string_view sentence;  // for the help, the note or the refusal
    Effect effect = Effect::Works;
    // Values with which an option that has no effect asks for nothing, and is ignored in silence:
    // "0|off", also where a number is written 0.0.
    std::string_view harmless = {};
};

// Values of an option that other programs have for on, off and neither.
inline constexpr std::string_view on_off_auto = "[on|off|auto|1|0|-1|true|false|enabled|disabled]";

struct OptionGroup {
    std::string_view title;
    std::span<const Option> options;
};

// What the help explains beside options: variables of the environment, columns of a table.
struct Term {
    std::string_view name, sentence;
};

struct Glossary {
    std::string_view title;  // those with one title that follow each other are shown as one
    std::span<const Term> terms;
};

// What the user said. Values are checked when they are asked for; Error names the option.
class Arguments {
  public:
    Arguments() = default;
    explicit Arguments(std::map<std::string, std::vector<std::string>, std::less<>> values,
                       std::vector<std::string> notes = {})
        : values_(std::move(values)), notes_(std::move(notes)) {}

    bool has(std::string_view name) const { return values_.contains(name); }
    bool on(std::string_view name, bool fallback = false) const;  // of a switch
    std::string text(std::string_view name, std::string_view fallback = {}) const;
    std::vector<std::string> texts(std::string_view name) const;  // of all its mentions
    int64_t integer(std::string_view name, int64_t fallback,
                    int64_t least = std::numeric_limits<int32_t>::min(),
                    int64_t most = std::numeric_limits<int32_t>::max()) const;
    double real(std::string_view name, double fallback,
                double least = std::numeric_limits<double>::lowest(),
                double most = std::numeric_limits<double>::max()) const;
    // What to tell the user of options that have no effect.
    std::span<const std::string> notes() const { return notes_; }

  private:
    std::map<std::string, std::vector<std::string>, std::less<>> values_;  // by name
    std::vector<std::string> notes_;
};

struct Subcommand {
    std::string_view name;
    std::string_view sentence;
    std::string_view usage;  // "-m FILE [-p TEXT]"
    std::span<const OptionGroup* const> groups;
    int (*run)(const Arguments& arguments);  // gives the exit code
    std::string_view bare = {};              // name of the option that a bare word is the value of
    std::span<const Glossary* const> glossaries = {};
};

bool is_help(std::string_view word);  // --help, -h or --usage
// Whether one of the words behind the command is such a word and not the value of an option. What
// the command does not know does not matter.
bool asks_for_help(const Subcommand& command, std::span<const std::string> words);
// The words behind the command. Throws Error for what the command does not know.
Arguments parse(const Subcommand& command, std::span<const std::string> words);
// All options of a command, and its glossaries, for `--help`.
std::string help(const Subcommand& command);

// Numbers in texts, checked: Error says that `what` takes a number of that range.
int64_t to_integer(std::string_view text, const std::string& what, int64_t least, int64_t most);
double to_real(std::string_view text, const std::string& what, double least, double most);
// "a,b" at any of the separators; an empty text has one empty piece.
std::vector<std::string> split(std::string_view text, std::string_view separators = ",");
std::string_view trimmed(std::string_view text);  // without spaces around it

// The value of an environment variable, which lies in the environment; empty where there is none.
std::string_view environment(const char* name);
// Where this user's programs keep what can be made again, in a folder of our own; empty where there
// is no such place.
std::filesystem::path cache_folder();

}  // namespace tandem::cli
