#include "cli/perplexity/data.h"

#include "cli/prompt.h"
#include "gguf/error.h"

namespace tandem::cli {

std::string data_path(const Arguments& arguments, const std::string& what) {
    const std::string file = arguments.text("file"), binary = arguments.text("binary-file");
    if (!file.empty() && !binary.empty())
        throw Error("two files given, -f " + file + " and -bf " + binary + ": name one");
    if (file.empty() && binary.empty()) throw Error("no " + what + " given: name a file with -f");
    return file.empty() ? binary : file;
}

std::string read_data(const Arguments& arguments, const Interrupts& interrupts) {
    const std::string path = data_path(arguments, "text");
    return arguments.has("file") ? read_text(path, "the text", &interrupts)
                                 : read_bytes(path, "the text", &interrupts);
}

}  // namespace tandem::cli
