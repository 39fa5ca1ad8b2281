// libFuzzer target of grammars: any text either is one, or a JSON schema of one, or throws Error,
// and so does following any other text. The input is the grammar, a schema where it begins with an
// S, and behind the first byte 0 the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gguf/error.h"
#include "model/grammar/json_schema.h"
#include "model/grammar/matcher.h"

using namespace tandem;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const size_t end = std::min(all.find('\0'), size);
    std::string source(all.substr(0, end));
    const std::string_view text = all.substr(std::min(end + 1, size));
    try {
        if (source.starts_with('S')) source = model::grammar::grammar_of_schema(source.substr(1));
        model::grammar::Matcher matcher{model::grammar::Grammar(source)};
        auto position = matcher.start();
        for (const char byte : text) {
            if (!matcher.push(position, uint8_t(byte))) break;
            if (matcher.must_end(position) && !matcher.can_end(position)) __builtin_trap();
            matcher.goes_on(position);
            matcher.tidy({&position, 1});
        }
    } catch (const Error&) {
    }
    return 0;
}
