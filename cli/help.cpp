// The texts of `--help`.
#include <set>

#include "cli/options.h"

namespace tandem::cli {

namespace {

constexpr size_t column = 40, width = 100;

// `text` in lines that begin at `indent`, the first of which has something in front already.
std::string wrapped(std::string_view text, size_t indent) {
    std::string lines;
    size_t used = indent;
    for (const std::string& word : split(text, " ")) {
        if (used > indent && used + 1 + word.size() > width) {
            lines += "\n" + std::string(indent, ' ');
            used = indent;
        } else if (used > indent) {
            lines += ' ';
            ++used;
        }
        lines += word;
        used += word.size();
    }
    return lines + "\n";
}

std::string entry(std::string names, std::string_view sentence) {
    names.insert(0, "  ");
    if (names.size() + 1 >= column)
        names += "\n" + std::string(column, ' ');
    else
        names.resize(column, ' ');
    return names + wrapped(sentence, column);
}

std::string entry(const Option& option) {
    std::string names(option.names);
    if (!option.value.empty()) names += " " + std::string(option.value);
    return entry(names, option.sentence);
}

std::string explain(std::span<const Glossary* const> glossaries) {
    std::string text;
    std::string_view title;
    for (const Glossary* glossary : glossaries) {
        if (glossary->title != title) text += "\n" + std::string(glossary->title) + ":\n";
        title = glossary->title;
        for (const Term& term : glossary->terms)
            text += entry(std::string(term.name), term.sentence);
    }
    return text;
}

std::string names_with(const Subcommand& command, Effect effect) {
    std::string names;
    std::set<std::string> known;  // an option of a command may stand before that of a group
    for (const OptionGroup* group : command.groups)
        for (const Option& option : group->options)
            for (const std::string& name : split(option.names, ", "))
                if (!name.empty() && known.insert(name).second && option.effect == effect)
                    names += (names.empty() ? "" : ", ") + name;
    return names;
}

}  // namespace

std::string help(const Subcommand& command) {
    std::string text = "tandem " + std::string(command.name) + ": " +
                       std::string(command.sentence) + "\n\nusage: tandem " +
                       std::string(command.name) + " " + std::string(command.usage) + "\n";
    for (const OptionGroup* group : command.groups) {
        std::string entries;
        for (const Option& option : group->options)
            if (option.effect == Effect::Works) entries += entry(option);
        if (!entries.empty()) text += "\n" + std::string(group->title) + ":\n" + entries;
    }
    text += explain(command.glossaries);
    std::string ignored = names_with(command, Effect::Ignored);
    if (!ignored.empty())
        text += "\naccepted for scripts that were written for llama.cpp, without effect:\n  " +
                wrapped(ignored, 2);
    std::string refused = names_with(command, Effect::Refused);
    if (!refused.empty())
        text +=
            "\nknown from llama.cpp and not supported; each says why:\n  " + wrapped(refused, 2);
    return text;
}

}  // namespace tandem::cli
