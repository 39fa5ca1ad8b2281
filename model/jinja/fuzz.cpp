// libFuzzer target of chat templates: any source either is a template or throws Error, and so does
// any rendering. The input is a line of JSON, the variables, and the source behind it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gguf/error.h"
#include "model/jinja/template.h"

using namespace tandem;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const size_t line = std::min(all.find('\n'), size);
    auto variables = nlohmann::ordered_json::parse(all.substr(0, line), nullptr, false);
    if (!variables.is_object()) variables = nlohmann::ordered_json::object();
    try {
        const model::jinja::Template source(all.substr(std::min(line + 1, size)));
        const model::jinja::Text text = source.render(variables, std::tm{.tm_mday = 1});
        size_t at = 0;
        for (const auto& [begin, end] : text.given()) {
            if (begin < at || end <= begin || end > text.size()) __builtin_trap();
            at = end + 1;
        }
    } catch (const Error&) {
    }
    return 0;
}
