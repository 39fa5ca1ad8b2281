// libFuzzer target of the tokenizers: any vocabulary either is one or throws Error, and any text
// becomes tokens of it. The input is lines: the kind of vocabulary, the pre-tokenizer, tokens (a
// digit for the type, then the text), an empty line, merges, an empty line, the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/error.h"
#include "model/tokenizer/tokenizer.h"

namespace {

using namespace tandem;

std::string next_line(std::string_view& rest) {
    const std::string line(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    return line;
}

std::vector<std::string> next_lines(std::string_view& rest) {
    std::vector<std::string> lines;
    while (!rest.empty()) {
        lines.push_back(next_line(rest));
        if (!lines.back().empty()) continue;
        lines.pop_back();
        break;
    }
    return lines;
}

gguf::Metadata read_vocabulary(std::string_view& rest) {
    gguf::Metadata metadata;
    metadata.set_string("tokenizer.ggml.model", next_line(rest));
    metadata.set_string("tokenizer.ggml.pre", next_line(rest));
    std::vector<std::string> texts;
    std::vector<int64_t> types;
    std::vector<double> scores;
    for (const std::string& line : next_lines(rest)) {
        types.push_back(line[0] - '0');
        texts.push_back(line.substr(1));
        scores.push_back(-static_cast<double>(texts.size() % 7));
    }
    const auto set = [&](const char* name, gguf::ValueType type, auto values) {
        metadata.set(std::string("tokenizer.ggml.") + name,
                     {.type = type, .array = true, .elements = std::move(values)});
    };
    set("tokens", gguf::ValueType::String, std::move(texts));
    set("token_type", gguf::ValueType::I32, std::move(types));
    set("scores", gguf::ValueType::F32, std::move(scores));
    set("merges", gguf::ValueType::String, next_lines(rest));
    return metadata;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    try {
        const model::Tokenizer tokenizer(read_vocabulary(rest), "fuzz");
        for (const bool parsed : {false, true}) {
            for (const int32_t id : tokenizer.encode(rest, {.parse_special = parsed})) {
                if (id < 0 || id >= tokenizer.size()) __builtin_trap();
                (void)tokenizer.piece(id, parsed);
            }
        }
    } catch (const Error&) {
    }
    return 0;
}
