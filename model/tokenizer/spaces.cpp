#include "model/tokenizer/spaces.h"

namespace tandem::model {
namespace {

std::string replace_all(std::string_view text, std::string_view old, std::string_view with) {
    std::string result;
    result.reserve(text.size());
    for (size_t at = text.find(old); at != std::string_view::npos; at = text.find(old)) {
        result += text.substr(0, at);
        result += with;
        text.remove_prefix(at + old.size());
    }
    return result += text;
}

}  // namespace

std::string escape_spaces(std::string_view text) { return replace_all(text, " ", escaped_space); }

std::string unescape_spaces(std::string_view text) { return replace_all(text, escaped_space, " "); }

}  // namespace tandem::model
