// `tandem tokenize`: a text as the tokens that a model reads.
#include <iostream>

#include "cli/model_keys.h"
#include "cli/model_options.h"
#include "cli/notes.h"
#include "cli/prompt.h"
#include "cli/subcommands.h"
#include "cli/token_line.h"
#include "model/tokenizer/tokenizer.h"

namespace tandem::cli {

namespace {

constexpr Option list[] = {
    {"--stdin", "", "read the text from standard input"},
    {"--ids", "", "write the ids alone: [1, 15043, 3186]"},
    {"--bos", "", "begin and end as the model wants it (default: on; off: --no-bos)"},
    {"--parse-special", "",
     "take texts of control tokens for those tokens (default: on; off: --no-parse-special)"},
    {"--show-count", "", "write how many there are, too"},
    {"--log-disable", "", "", Effect::Ignored},
};
constexpr OptionGroup tokenize_options{"tokens", list};
constexpr const OptionGroup* groups[] = {&file_options, &key_options, &prompt_options,
                                         &tokenize_options};

int run(const Arguments& arguments) {
    gguf::File file = open_model(arguments, gguf::Content::Directory);
    model::Tokenizer tokenizer(file.metadata(), file.path());
    const bool ids = arguments.on("ids"), counted = arguments.on("show-count");
    const model::EncodeOptions how{.add_special = arguments.on("bos", true),
                                   .parse_special = arguments.on("parse-special", true)};
    std::vector<int32_t> tokens = tokenizer.encode(read_prompt(arguments), how);
    std::string out;
    for (size_t i = 0; i < tokens.size(); ++i) {
        if (ids)
            out += (i > 0 ? ", " : "") + std::to_string(tokens[i]);
        else
            out += token_line(tokenizer, tokens[i]);
    }
    if (ids) out = "[" + out + "]\n";
    if (counted) out += "Total number of tokens: " + std::to_string(tokens.size()) + "\n";
    std::cout << out << std::flush;
    print_notes(tokenizer.warnings());
    return 0;
}

}  // namespace

const Subcommand tokenize_command{
    "tokenize", "shows a text as tokens", "-m FILE -p TEXT", groups, run, "model"};

}  // namespace tandem::cli
