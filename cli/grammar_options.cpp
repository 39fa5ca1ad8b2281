#include "cli/grammar_options.h"

#include <string>
#include <vector>

#include "cli/prompt.h"
#include "gguf/error.h"
#include "model/grammar/json_schema.h"

namespace tandem::cli {

namespace {

constexpr Option list[] = {
    {"--grammar", "TEXT",
     "the text that is generated is one of this grammar in GBNF, by its rule \"root\", and ends "
     "where nothing can follow. In a conversation that is each answer, once the model has ended "
     "its thoughts, which are free (with --reasoning-format none: from the beginning)"},
    {"--grammar-file", "FILE", "a file with such a grammar"},
    {"-j, --json-schema", "JSON",
     "the same with JSON by this schema; {} stands for any object. Properties come in the order of "
     "the schema, and others only where additionalProperties allows them"},
    {"-jf, --json-schema-file", "FILE", "a file with such a schema"},
};

constexpr size_t most_bytes = 16 << 20;

}  // namespace

const OptionGroup grammar_options{"grammar", list};

std::optional<model::grammar::Grammar> read_grammar(const Arguments& arguments,
                                                    const Interrupts* interrupts) {
    std::vector<std::string> given;
    for (const char* name : {"grammar", "grammar-file", "json-schema", "json-schema-file"})
        if (arguments.has(name)) given.emplace_back(name);
    if (given.empty()) return {};
    if (given.size() > 1)
        throw Error(
            "more than one grammar given: choose one of --grammar, --grammar-file, -j and "
            "-jf");
    const std::string& name = given[0];
    const bool is_file = name.ends_with("-file"), is_schema = name.starts_with("json");
    std::string text = arguments.text(name), source = "--" + name;
    if (is_file) {
        source = text;
        text =
            read_text(text, is_schema ? "the JSON schema" : "the grammar", interrupts, most_bytes);
    }
    if (is_schema) text = model::grammar::grammar_of_schema(text, source);
    return model::grammar::Grammar(text, source);
}

}  // namespace tandem::cli
