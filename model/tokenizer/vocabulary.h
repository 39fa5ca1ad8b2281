// The tokens of a vocabulary: their texts, types and scores, as the file's `tokenizer.ggml.tokens`,
// `token_type` and `scores` say. Ids are indices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/metadata.h"

namespace tandem::model {

// The values are those stored in files.
enum class TokenType : uint8_t { Undefined, Normal, Unknown, Control, UserDefined, Unused, Byte };

// Tokens that stand for text, which encoding may find; the others are put there on purpose.
constexpr bool is_text(TokenType type) {
    return type == TokenType::Normal || type == TokenType::UserDefined;
}

struct Token {
    std::string text;
    TokenType type = TokenType::Normal;
    float score = 0;  // of SentencePiece vocabularies; merging goes from high to low
};

class Vocabulary {
  public:
    Vocabulary() = default;  // no tokens
    // Throws Error, in the name of `file`, where the arrays are missing or do not fit together;
    // oddities that leave the vocabulary usable are added to `warnings`.
    Vocabulary(const gguf::Metadata& metadata, const std::string& file,
               std::vector<std::string>& warnings);

    int32_t size() const { return static_cast<int32_t>(tokens_.size()); }
    bool has(int64_t id) const { return id >= 0 && id < size(); }
    const Token& operator[](int32_t id) const { return tokens_[static_cast<size_t>(id)]; }
    void set_type(int32_t id, TokenType type) { tokens_[static_cast<size_t>(id)].type = type; }

    // The token with exactly these bytes as its text; the lowest id where several have it.
    std::optional<int32_t> find(std::string_view text) const;
    // The token <0xHH> of a byte.
    std::optional<int32_t> find_byte(uint8_t byte) const;

  private:
    size_t home(std::string_view text) const;  // where in `slots_` the text is looked for first
    size_t slot(size_t home, std::string_view text) const;  // where it is, or would be

    std::vector<Token> tokens_;
    std::vector<int32_t> slots_;  // a hash table of ids, open addressing; -1 where free
};

}  // namespace tandem::model
