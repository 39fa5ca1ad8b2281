// Metadata of vocabularies that are small enough to be written in a test.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gguf/error.h"
#include "gguf/metadata.h"
#include "gguf/vectors.h"
#include "model/tokenizer/tokenizer.h"

namespace tandem::test {

using model::EncodeOptions;
using model::Tokenizer;
using model::TokenType;

struct SmallToken {
    std::string text;
    TokenType type = TokenType::Normal;
    double score = 0;
};

inline gguf::MetadataValue strings(std::vector<std::string> values) {
    return {.type = gguf::ValueType::String, .array = true, .elements = std::move(values)};
}

inline gguf::Metadata small_vocabulary(const std::string& kind,
                                       const std::vector<SmallToken>& tokens,
                                       std::vector<std::string> merges = {}) {
    gguf::Metadata metadata;
    std::vector<std::string> texts;
    std::vector<int64_t> types;
    std::vector<double> scores;
    for (const SmallToken& token : tokens) {
        texts.push_back(token.text);
        types.push_back(static_cast<int64_t>(token.type));
        scores.push_back(token.score);
    }
    metadata.set_string("tokenizer.ggml.model", kind);
    metadata.set("tokenizer.ggml.tokens", strings(std::move(texts)));
    metadata.set("tokenizer.ggml.token_type",
                 {.type = gguf::ValueType::I32, .array = true, .elements = std::move(types)});
    metadata.set("tokenizer.ggml.scores",
                 {.type = gguf::ValueType::F32, .array = true, .elements = std::move(scores)});
    if (!merges.empty()) metadata.set("tokenizer.ggml.merges", strings(std::move(merges)));
    return metadata;
}

inline std::string error_of(const gguf::Metadata& metadata) {
    return test::error_of([&] { const Tokenizer tokenizer(metadata, "small.gguf"); });
}

// <unk> <s> </s>, the 256 bytes from id 3 on, and then `more`.
inline std::vector<SmallToken> spm_tokens(const std::vector<SmallToken>& more) {
    std::vector<SmallToken> tokens = {
        {"<unk>", TokenType::Unknown}, {"<s>", TokenType::Control}, {"</s>", TokenType::Control}};
    for (int byte = 0; byte < 256; ++byte) {
        static constexpr char digits[] = "0123456789ABCDEF";
        tokens.push_back(
            {std::string("<0x") + digits[byte >> 4] + digits[byte & 15] + ">", TokenType::Byte});
    }
    tokens.insert(tokens.end(), more.begin(), more.end());
    return tokens;
}

using Ids = std::vector<int32_t>;
constexpr EncodeOptions plain = {.add_special = false, .parse_special = false};
constexpr EncodeOptions parsed = {.add_special = false, .parse_special = true};

// A piece of every token, as in "He|llo".
inline std::string pieces(const Tokenizer& tokenizer, const Ids& ids,
                          std::string_view between = "|") {
    std::string line;
    for (size_t i = 0; i < ids.size(); ++i) {
        line.append(i == 0 ? "" : between).append(tokenizer.piece(ids[i], true));
    }
    return line;
}

}  // namespace tandem::test
