#include "model/tokenizer/vocabulary.h"

#include <bit>
#include <functional>

#include "gguf/error.h"
#include "model/tokenizer/collisions.h"

namespace tandem::model {
namespace {

TokenType type_of(int64_t stored) {
    const bool known = stored >= 0 && stored <= static_cast<int64_t>(TokenType::Byte);
    return known ? static_cast<TokenType>(stored) : TokenType::Undefined;
}

// Arrays beside `tokens` may be absent, or longer, but not shorter.
void check_length(const std::string& file, std::string_view key, size_t length, size_t tokens) {
    if (length == 0 || length >= tokens) return;
    throw Error(file + ": " + std::string(key) + " has " + std::to_string(length) +
                " entries for " + std::to_string(tokens) + " tokens");
}

}  // namespace

Vocabulary::Vocabulary(const gguf::Metadata& metadata, const std::string& file,
                       std::vector<std::string>& warnings) {
    static constexpr std::string_view texts_key = "tokenizer.ggml.tokens";
    static constexpr std::string_view types_key = "tokenizer.ggml.token_type";
    static constexpr std::string_view scores_key = "tokenizer.ggml.scores";
    const auto texts = metadata.texts(texts_key);
    const auto types = metadata.integers(types_key);
    const auto scores = metadata.reals(scores_key);
    if (texts.empty()) throw Error(file + ": " + std::string(texts_key) + " is missing or empty");
    check_length(file, types_key, types.size(), texts.size());
    check_length(file, scores_key, scores.size(), texts.size());

    tokens_.reserve(texts.size());
    slots_.assign(std::bit_ceil(texts.size() * 2), -1);
    Collisions collisions;
    size_t repeated = 0;
    std::string first_repeated;
    for (size_t id = 0; id < texts.size(); ++id) {
        Token& token = tokens_.emplace_back(Token{.text = texts[id]});
        if (token.text.empty()) token.text = "[EMPTY_" + std::to_string(id) + "]";
        if (!types.empty()) token.type = type_of(types[id]);
        if (!scores.empty()) token.score = static_cast<float>(scores[id]);
        const size_t first = home(token.text);
        const size_t at = slot(first, token.text);
        if (!collisions.add(first, at, slots_.size())) {
            throw Error(file + ": the texts of " + std::string(texts_key) +
                        " all collide in a table: the file is made to keep its reader busy");
        }
        int32_t& taken = slots_[at];
        if (taken < 0) {
            taken = static_cast<int32_t>(id);
        } else if (++repeated == 1) {
            first_repeated = "token " + std::to_string(id) + " that of " + std::to_string(taken);
        }
    }
    if (repeated > 0) {
        warnings.push_back(file + ": " + std::to_string(repeated) +
                           " tokens repeat the text of an earlier one and are never found (" +
                           first_repeated + ")");
    }
}

size_t Vocabulary::home(std::string_view text) const {
    return std::hash<std::string_view>{}(text) & (slots_.size() - 1);
}

size_t Vocabulary::slot(size_t at, std::string_view text) const {
    const size_t mask = slots_.size() - 1;
    while (slots_[at] >= 0 && (*this)[slots_[at]].text != text) at = (at + 1) & mask;
    return at;
}

std::optional<int32_t> Vocabulary::find(std::string_view text) const {
    if (slots_.empty()) return std::nullopt;
    const int32_t id = slots_[slot(home(text), text)];
    return id < 0 ? std::nullopt : std::optional(id);
}

std::optional<int32_t> Vocabulary::find_byte(uint8_t byte) const {
    static constexpr char digits[] = "0123456789ABCDEF";
    const char text[] = {'<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>'};
    return find({text, sizeof text});
}

}  // namespace tandem::model
